"""A source gives rows block by block, and folds a statistic over them.

`reduce(per_block, merge)` is the one verb that everything large is written on. `per_block` turns a block of rows
into a small statistic, `merge` joins two of them and is associative; the fold runs in block order whatever the number
of threads, so the same blocks give the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lowdim.sources.workers import in_order

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
    dtype: np.dtype[Any]
    sparse: bool = False
    density: float = 1.0
    """Share of the entries that are stored."""
    header: Any = None
    """An empty frame with the names and types of the columns, where the data are a frame that lies elsewhere."""
    repeatable: bool
    """Whether the rows can be read more than once."""

    @abstractmethod
    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give all rows once, in order; `least_rows` is a wish: fewer would make merging dearer than computing."""

    @abstractmethod
    def describe(self) -> str:
        """Name the data as the user knows them, for messages."""

    def reduce(
        self,
        per_block: Callable[[Block], Statistic],
        merge: Callable[[Statistic, Statistic], Statistic],
        least_rows: int = 1,
    ) -> Statistic:
        """Fold `per_block` over all rows, in block order. `merge` may reuse its first argument."""
        statistics = in_order(per_block, self.blocks(least_rows))
        total = next(statistics)
        for statistic in statistics:
            total = merge(total, statistic)
        return total

    def map_rows(self, function: Callable[[Block], NDArray[Any]], width: int, dtype: Any) -> Any:
        """(n, width) array of what the function makes of each block's rows; lazy where the rows are."""
        made = in_order(partial(_placed, function), self.blocks())
        if self.n_rows is None:
            return np.concatenate([rows for _, rows in made]).astype(dtype)
        result = np.empty((self.n_rows, width), dtype=dtype)
        for start, rows in made:
            result[start : start + len(rows)] = rows
        return result

    def weighted(self, weight: NDArray[np.float64]) -> Source:
        """The same rows, one weight for each; rows of weight zero are left out."""
        from lowdim.sources.weighted import WeightedSource

        return WeightedSource(self, weight)

    def count_rows(self) -> int | None:
        """Number of rows, counted if need be; None if that would use them up."""
        if self.n_rows is None and self.repeatable:
            return self.reduce(_length, int.__add__)
        return self.n_rows


class ConvertibleSource(Source):
    """A source in memory whose rows do not lie in one array, but can be put into one."""

    @abstractmethod
    def to_array(self) -> NDArray[Any]:
        """All rows as one (n, p) array: a copy."""


def weighted_block(block: Block, weight: NDArray[np.float64]) -> Block | None:
    """The block with its weights, without the rows of weight zero; None if no row is left."""
    used = weight > 0
    if used.all():
        return Block(block.start, block.rows, weight)
    return Block(block.start, block.rows[used], weight[used]) if used.any() else None


def rows_per_block(n_columns: int, itemsize: int) -> int:
    """Rows whose bytes make one block of about BLOCK_BYTES."""
    return max(1, BLOCK_BYTES // max(1, n_columns * itemsize))


def _placed(function: Callable[[Block], NDArray[Any]], block: Block) -> tuple[int, NDArray[Any]]:
    return block.start, function(block)


def _length(block: Block) -> int:
    return int(block.rows.shape[0])
