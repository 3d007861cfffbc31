"""From a source to the matrix that a solver sees, and what a memory limit leaves for it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowdim.errors import BadInput, Piece, Setting, TooLarge, Words
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.matrices.scaling import Scaling
from lowdim.runtime.memory import LEAST_BLOCK_BYTES, Budget, held_blocks, left_memory, refuse_beyond, whole_power
from lowdim.runtime.threads import allowed_threads
from lowdim.sources.arrays import ArraySource, SparseSource, rows_of_source
from lowdim.sources.source import BLOCK_BYTES, ConvertibleSource, Source
from lowdim.sources.wrapped import check_weights
from lowdim.types import Floats


def choose_rung(source: Source, *, whole: bool = False, room: int | None = None) -> type[RowBlocks]:
    """The rung of the ladder that the source should stand on, without building it.

    What can become an array does where it is small, and with `whole`; else it stays in blocks. `room` is the bytes
    that it may take.
    """
    if isinstance(source, (ArraySource, SparseSource)):
        return InMemory
    if not isinstance(source, ConvertibleSource) or source.weighted:
        return RowBlocks
    wanted = whole or _is_small(source)
    return InMemory if wanted and fits_in_memory(source, room) else RowBlocks


def fits_in_memory(source: Source, room: int | None) -> bool:
    """Whether the rows as one array take at most half of the memory that is left beside what reading them takes."""
    if not isinstance(source, ConvertibleSource) or source.weighted or source.likely_bytes is None:
        return False
    free = left_memory()
    return 2 * source.likely_bytes + source.reading_bytes <= (free if room is None else min(room, free))


def refuse_held(source: Source, copies: int, sparse: bool = False) -> None:
    """An error, before rows are read, if so many copies of all rows as float64 would not fit into memory.

    `sparse` rows are held as such; of a text whose rows are not counted its size tells how many there may be.
    """
    n, a_row = source.n_rows, 8 * source.n_columns
    if sparse and source.sparse:
        a_row = int(12 * source.density * source.n_columns) + 1
    known = source.likely_bytes if n is None and isinstance(source, ConvertibleSource) else None
    refuse_beyond(
        copies * (known or (n or 0) * a_row),
        f"Holding all rows of {source.describe()}, {copies} times at most,",
        lambda left: _fewer_rows(left // (copies * a_row)),
    )


def _fewer_rows(most: int) -> tuple[Piece, ...]:
    if most < 2:
        return ("take fewer columns",)
    return (
        f"take at most {most:,} rows (",
        Words(f"lowdim.open(path, sample={most})", Setting("sample", most)),
        ")",
    )


def load_rows(source: Source) -> Source:
    """The rows as one array, where they do not lie in one yet."""
    if not isinstance(source, ConvertibleSource):
        return source
    return rows_of_source(source.to_array(), source)


def as_matrix(
    source: Source,
    scaling: Scaling,
    sample_weight: ArrayLike | float | None = None,
    rung: type[RowBlocks] | None = None,
) -> RowBlocks:
    """The matrix that a solver sees, on the rung that was planned; rows of weight zero are left out."""
    weight = None if sample_weight is None else read_weights(source, sample_weight)
    if (rung or choose_rung(source)) is InMemory:
        source = load_rows(source)
    if not isinstance(source, (ArraySource, SparseSource)):
        return RowBlocks(source if weight is None else source.with_weights(weight), scaling)
    if weight is not None and not weight.all():
        source, weight = _drop_rows(source, weight == 0), weight[weight > 0]
    return InMemory(source, scaling, weight)


def read_weights(source: Source, sample_weight: ArrayLike | float) -> Floats:
    """(n,) weights of the rows of a source that has none of its own."""
    if source.weighted:
        raise BadInput(
            f"{source.describe()} has a column of weights, and sample_weight was given too: use one of them."
        )
    n_rows = source.count_rows()
    if n_rows is None:
        raise BadInput(
            f"sample_weight was given for {source.describe()}, whose number of rows is not known: pass an array, "
            "or call partial_fit with each block and its weights."
        )
    return check_weights(sample_weight, n_rows)


def _is_small(source: ConvertibleSource) -> bool:
    few = source.n_rows is not None and source.n_rows < source.n_columns
    return few or (source.likely_bytes or sys.maxsize) <= BLOCK_BYTES


def _drop_rows(source: ArraySource | SparseSource, dropped: Any) -> ArraySource | SparseSource:
    if isinstance(source, SparseSource):
        return SparseSource(source.matrix[~dropped], source.columns)
    return ArraySource(source.array[~dropped], source.columns)


@cache
def spacing_of(dtype: np.dtype[Any]) -> float:
    """Spacing of the numbers that the data can hold, float64 at the finest; 0 for whole numbers that it holds all."""
    if dtype.kind != "f" and dtype.itemsize < 8:
        return 0.0
    return float(np.finfo(dtype if dtype.kind == "f" and dtype.itemsize < 8 else float).eps)


# What a memory budget leaves for a fit: the solver, its result, and blocks of rows beside them.


@dataclass(frozen=True)
class Room:
    """Bytes that a fit of this source may take."""

    budget: Budget
    source: Source
    streamed: bool
    """Whether blocks are read into memory, or are views of an array that is there already."""
    array: int = 0
    """Bytes of an array that the rows are yet to be loaded into."""

    @property
    def copies(self) -> int:
        """Blocks held at a time."""
        return held_blocks() + self.source.blocks_beside if self.streamed else allowed_threads()

    def beside(self, k: int, p: int) -> int:
        """Bytes for a solver, with blocks of the least size and a result of k components."""
        return self._left(k, p) - self.copies * self._least_block

    def block_bytes(self, solver: int, k: int, p: int) -> int:
        """Bytes of a block beside a solver that needs so many; an error if there is no room."""
        block = (self._left(k, p) - solver) // self.copies
        if block < self._least_block:
            raise self.refused(f"A fit of {self.source.describe()} takes", solver, "ask for fewer columns")
        return whole_power(min(block, BLOCK_BYTES))

    def refused(self, what: str, solver: int, advice: str) -> TooLarge:
        """The error that says what would help."""
        rows = self.array + self.source.reading_bytes + self.copies * self._least_block
        said = f"{what} {solver / 1e6:,.0f} MB for the solver and {rows / 1e6:,.0f} MB for reading rows, together"
        return self.budget.refusal(said, solver + rows, advice)

    @property
    def _least_block(self) -> int:
        return max(LEAST_BLOCK_BYTES, 16 * self.source.n_columns * self.source.dtype.itemsize)

    def _left(self, k: int, p: int) -> int:
        return self.budget.room - self.array - self.source.reading_bytes - 2 * 8 * k * p
