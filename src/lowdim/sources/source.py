"""A source gives rows block by block, and folds a statistic over them.

`reduce(per_block, merge)` is the one verb that everything large is written on. `per_block` turns a block of rows
into a small statistic, `merge` joins two of them and is associative; the fold runs in block order whatever the number
of threads, so the same blocks give the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.sources.selection import near
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
    repeatable: bool
    """Whether the rows can be read more than once."""
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
        """Fold `per_block` over all rows, in block order. `merge` may reuse its first argument."""
        statistics = in_order(per_block, self.blocks(least_rows))
        total = next(statistics)
        for statistic in statistics:
            total = merge(total, statistic)
        return total


class ConvertibleSource(Source):
    """A source in memory whose rows do not lie in one array, but can be put into one."""

    @abstractmethod
    def to_array(self) -> NDArray[Any]:
        """All rows as one (n, p) array: a copy."""


def rows_per_block(n_columns: int, itemsize: int) -> int:
    """Rows whose bytes make one block of about BLOCK_BYTES."""
    return max(1, BLOCK_BYTES // max(1, n_columns * itemsize))
