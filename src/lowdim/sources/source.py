"""A source gives rows block by block, and folds a statistic over them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, Interrupted
from lowdim.runtime.progress import new_pass
from lowdim.runtime.threads import in_order
from lowdim.sources.columns import near

# A source gives rows block by block, and folds a statistic over them.
#
# `reduce(per_block, merge)` is the one verb that everything large is written on. `per_block` turns a block of rows
# into a small statistic, `merge` joins two of them and is associative; the fold runs in block order whatever the
# number of threads, so the same blocks give the same bits.

Statistic = TypeVar("Statistic")

BLOCK_BYTES = 32 * 2**20
"""Rows handed to one task. Large enough that merging p × p statistics is cheap, small enough to stay in step."""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a source."""

    start: int
    rows: Any
    """(n, p) ndarray of any real dtype, or a SciPy CSR matrix; a view where that is possible. Never written to."""
    weight: NDArray[np.float64] | None = None
    """(n,) weights of the rows; None means one each."""


class Source(ABC):
    """Rows with column names, read in blocks."""

    n_rows: int | None
    n_columns: int
    columns: tuple[str, ...] | None
    numbered: bool = False
    """Whether the names of the columns are numbers, which scikit-learn takes for places and not for names."""
    dtype: np.dtype[Any]
    sparse: bool = False
    density: float = 1.0
    """Share of the entries that are stored."""
    header: Any = None
    """An empty frame with the names and types of the columns, where the data are a frame that lies elsewhere."""
    repeatable: bool
    """Whether the rows can be read more than once."""
    title: str | None = None
    """Its name, as the user knows it; None: it has none."""
    weighted: bool = False
    """Whether its blocks carry weights of their own."""
    remote: bool = False
    """Whether its blocks are worked on elsewhere, so that whatever work needs must travel."""
    reading_bytes: int = 0
    """Bytes that reading takes beside the blocks that it gives."""
    most_block_bytes: int | None = None
    """Limit of a block, from a memory budget; None: about BLOCK_BYTES, or more where a fold wishes it."""
    shape_of_rows: tuple[int, ...] | None = None
    """(height, width) or (height, width, 3) where each row is a picture; None where a row is a list of numbers."""
    beside: Mapping[str, NDArray[Any]] = MappingProxyType({})
    """Columns that are kept aside: labels, names of files."""

    @abstractmethod
    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give all rows once, in order; `least_rows` is a wish: fewer would make merging dearer than computing."""

    @abstractmethod
    def describe(self) -> str:
        """Name the data as the user knows them, for messages."""

    def aside(self, name: str) -> NDArray[Any]:
        """(n,) a column that is kept aside: the labels, say."""
        if name not in self.beside:
            raise BadParameter(f"{self.describe()}: no column {name!r} is kept aside{near(name, list(self.beside))}")
        return self.beside[name]

    def reduce(
        self,
        per_block: Callable[[Block], Statistic],
        merge: Callable[[Statistic, Statistic], Statistic],
        least_rows: int = 1,
    ) -> Statistic:
        """Fold `per_block` over all rows, in block order. `merge` may reuse its first argument.

        The source is read on the calling thread while others work on the blocks before, so reading and computing go
        on at the same time.
        """
        sizes: deque[int] = deque()
        tell, done = new_pass(self.n_rows), 0
        total: Any = None
        for statistic in in_order(per_block, _measured(self.blocks(least_rows), sizes)):
            total = merge(total, statistic) if done else statistic
            done += sizes.popleft()
            if tell(done):
                raise Interrupted(done, total)
        return cast(Statistic, total)  # blocks() gives at least one block

    def limited(self, block_bytes: int) -> Self:
        """The same rows in blocks of at most so many bytes."""
        twin = copy.copy(self)
        twin.most_block_bytes = block_bytes
        return twin

    def unweighted(self) -> Source:
        """The same rows, each counted once."""
        return self

    def after(self, rows: int) -> Source:
        """The source without its first rows."""
        from lowdim.sources.views_of_rows import LaterRows

        return LaterRows(self, rows)

    def rows_per_block(self, least_rows: int = 1) -> int:
        """Rows of one block: about BLOCK_BYTES of them and at least as many as wished, unless memory is limited."""
        a_row = max(1, self.n_columns * self.dtype.itemsize)
        if self.most_block_bytes is not None:
            return max(1, min(self.most_block_bytes, BLOCK_BYTES) // a_row)
        return max(1, least_rows, BLOCK_BYTES // a_row)

    def map_rows(self, function: Callable[[Block], NDArray[Any]], width: int, dtype: Any) -> Any:
        """(n, width) array of what the function makes of each block's rows; lazy where the rows are."""
        made = in_order(partial(_placed, function), self.blocks())
        if self.n_rows is None:
            return np.concatenate([rows for _, rows in made]).astype(dtype)
        result = np.empty((self.n_rows, width), dtype=dtype)
        for start, rows in made:
            result[start : start + len(rows)] = rows
        return result

    def with_weights(self, weight: NDArray[np.float64]) -> Source:
        """The same rows, one weight for each; rows of weight zero are left out."""
        from lowdim.sources.views_of_rows import WeightedSource

        return WeightedSource(self, weight)

    def count_rows(self) -> int | None:
        """Number of rows, counted if need be; None if that would use them up."""
        if self.n_rows is None and self.repeatable:
            self.n_rows = self.reduce(_length, int.__add__)
        return self.n_rows


class ConvertibleSource(Source):
    """A source whose rows do not lie in one array, but can be put into one."""

    def to_array(self) -> NDArray[Any]:
        """All rows as one (n, p) array: a copy."""
        if self.n_rows is None:
            return np.concatenate([block.rows for block in self.blocks()])
        array = np.empty((self.n_rows, self.n_columns), dtype=self.dtype)
        for block in self.blocks():
            array[block.start : block.start + len(block.rows)] = block.rows
        return array

    @property
    def likely_bytes(self) -> int | None:
        """Bytes of that array; None if nobody knows."""
        return None if self.n_rows is None else self.n_rows * self.n_columns * self.dtype.itemsize


def _measured(blocks: Iterator[Block], sizes: deque[int]) -> Iterator[Block]:
    """The same blocks; the number of rows of each is noted as it passes."""
    for block in blocks:
        sizes.append(block.rows.shape[0])
        yield block


def _placed(function: Callable[[Block], NDArray[Any]], block: Block) -> tuple[int, NDArray[Any]]:
    return block.start, function(block)


def _length(block: Block) -> int:
    return int(block.rows.shape[0])


# Sources whose columns can be read as well as their rows: a file that lies column by column.


class ColumnwiseSource(ConvertibleSource):
    """Rows in blocks, and columns in blocks too."""

    @abstractmethod
    def read_columns(self, start: int, stop: int) -> NDArray[Any]:
        """(n, stop − start) consecutive columns, as they are stored: missing entries have their code."""
