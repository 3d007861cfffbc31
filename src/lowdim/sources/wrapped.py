"""Sources made of another: some of its rows, prepared, or with unknown in place of zero; and weights of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from lowdim.errors import BadInput
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Block, ConvertibleSource, Source, WrappedSource, name_of
from lowdim.types import Array, Floats, Indices, Places


@final
class ChosenRows(WrappedSource):
    """Another source with some of its rows alone; the others are read and passed over, block by block."""

    def __init__(self, source: Source, places: Places):
        super().__init__(source)
        self._places = places
        """(m,) numbers of the rows, from 0, rising."""
        self.n_rows, self.remote = len(places), False  # its blocks are cut here
        self.beside = {name: column[places] for name, column in source.beside.items()}

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give those rows of each block that were chosen, if there are some."""
        done = 0
        for block in self.inner.blocks(least_rows):
            first, last = np.searchsorted(self._places, [block.start, block.start + block.rows.shape[0]])
            if first < last:
                chosen = self._places[first:last] - block.start
                yield Block(done, block.rows[chosen], None if block.weight is None else block.weight[chosen])
                done += int(last - first)

    def _of_rows(self, column: Array) -> Array:
        return column[self._places]

    def describe(self) -> str:
        """Say how many of which rows."""
        return f"{len(self._places):,} rows of {self.inner.describe()}"


def group_rows(source: Source, name: str) -> dict[str, Source]:
    """The rows of each value of a column that is kept aside, by the values in the order in which they come first."""
    values = [None if one is None or one != one else name_of(one) for one in source.aside(name).tolist()]
    places: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        if value is not None and value != "":
            places.setdefault(value, []).append(row)
    return {value: ChosenRows(source, np.array(rows, dtype=np.intp)) for value, rows in places.items()}


@final
class PreparedSource(WrappedSource, ConvertibleSource):
    """Another source as dense rows (x − shift) / scale, made as they are read: columns in other units count alike."""

    def __init__(self, source: Source, shift: Floats, scale: Floats):
        super().__init__(source)
        self.shift, self.scale = shift, scale
        self.dtype, self.sparse, self.density, self.remote = np.dtype(np.float64), False, 1.0, False

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows, as many at a time as a block may hold."""
        for block in self.inner.blocks(least_rows):
            for piece in block.pieces(self.rows_per_block(least_rows)):
                yield replace(piece, rows=self.prepared(piece.rows))

    def prepared(self, rows: Any) -> Floats:
        """Rows of the other source as this one gives them."""
        values = _dense(rows)
        values -= self.shift
        values /= self.scale
        return values


def take_rows(source: Source, places: Indices) -> Floats:
    """(m, p) rows in the order of their numbers (m,), which may repeat; one pass, unless they lie in memory."""
    if isinstance(source, PreparedSource):
        return source.prepared(take_rows(source.inner, places))
    if isinstance(source, ArraySource):
        return np.asarray(source.array[places], dtype=np.float64, order="C")
    if isinstance(source, SparseSource):
        return _dense(source.matrix[places])
    wanted, back = np.unique(places, return_inverse=True)
    found: Floats = source.reduce(partial(_take_from_block, wanted=wanted), stack_rows)
    return found[back]


def passes_to_take(source: Source) -> int:
    """How often all rows are gone through for that."""
    source = source.inner if isinstance(source, PreparedSource) else source
    return 0 if isinstance(source, (ArraySource, SparseSource)) else 1


def _take_from_block(block: Block, wanted: Indices) -> Floats:
    first, last = np.searchsorted(wanted, [block.start, block.start + block.rows.shape[0]])
    return _dense(block.rows[wanted[first:last] - block.start])


def stack_rows(one: Floats, other: Floats) -> Floats:
    """Rows of one block above those of the next: the merge of rows that are taken."""
    return np.concatenate([one, other])


def _dense(rows: Any) -> Floats:
    return np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64, order="C")


# Sparse rows in which entries that are not stored are missing values, not zeros: ratings, say.


@final
class UnstoredMissing(WrappedSource):
    """Another source, sparse, as dense rows with NaN where nothing is stored; stored zeros are zeros."""

    def __init__(self, source: Source):
        super().__init__(source)
        self.dtype, self.sparse, self.density, self.remote = np.dtype(np.float64), False, 1.0, False

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows, as many at a time as a block may hold."""
        for block in self.inner.blocks():
            for piece in block.pieces(self.rows_per_block(least_rows)):
                stored = piece.rows.tocoo()
                rows = np.full(stored.shape, np.nan)
                rows[stored.row, stored.col] = stored.data
                yield replace(piece, rows=rows)

    def describe(self) -> str:
        """Say what the rows are."""
        return f"{self.inner.describe()}, of which what is not stored is missing"


# Row weights.

MAX_WEIGHT = 1e150


def check_weights(sample_weight: ArrayLike | float, n_rows: int) -> Floats:
    """(n,) weights, finite, not negative, not all zero."""
    try:
        weight = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"sample_weight holds what is no number ({error}): give one number per row.") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise BadInput(f"sample_weight has shape {weight.shape}, but there are {n_rows:,} rows: give one per row.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        worst = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise BadInput(
            f"sample_weight holds {weight[worst]} at row {worst}: weights must be finite and not negative; use 0 to "
            "leave a row out."
        )
    if weight.max(initial=0.0) > MAX_WEIGHT:
        raise BadInput(
            f"sample_weight reaches {weight.max():.0e}, whose squares leave the range of float64: divide all weights "
            "by their largest one."
        )
    if not weight.any():
        raise BadInput(
            "Every sample_weight is 0: with all weights zero no row is left; give at least one row a positive weight."
        )
    return weight


def scale_to_counts(weight: Floats) -> Floats:
    """Weights (n,) that count rows: shares, which add up to less than the rows, are scaled up to them."""
    used, total = int((weight > 0).sum()), float(weight.sum())
    return weight * (used / total) if total < used else weight
