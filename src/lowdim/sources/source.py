"""A source gives rows block by block, and folds a statistic over them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Self, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Interrupted
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

    def take_after(self, other: Source) -> None:
        """Say of itself what another source does, whose rows these are: whoever wraps a source changes what differs."""
        for name in Source.__annotations__:
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))

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


@final
class LaterRows(Source):
    """Another source without its first rows; they are read and passed over."""

    def __init__(self, source: Source, skip: int):
        self.take_after(source)
        self._source = source
        self._skip = skip
        self.n_rows = None if source.n_rows is None else source.n_rows - skip
        self.remote = False  # its blocks are cut here
        self.beside = {name: column[skip:] for name, column in source.beside.items()}
        if self.n_rows is not None and self.n_rows < 1:
            raise self._too_few(source.n_rows)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the later rows, counted from where they begin."""
        there = 0
        for block in self._source.blocks(least_rows):
            count = block.rows.shape[0]
            first = max(0, self._skip - there)
            there += count
            if first < count:
                weight = None if block.weight is None else block.weight[first:]
                yield Block(there - count + first - self._skip, block.rows[first:], weight)
        if there <= self._skip:
            raise self._too_few(there)

    def describe(self) -> str:
        """Say which rows they are."""
        return f"{self._source.describe()} after row {self._skip:,}"

    def _too_few(self, rows: int | None) -> BadInput:
        return BadInput(
            f"{self._source.describe()} has {rows:,} rows, and {self._skip:,} of them were read before: nothing is "
            "left to go on with."
        )


@final
class WeightedSource(Source):
    """Another source with one weight per row. Rows of weight zero are left out, whatever they hold."""

    def __init__(self, source: Source, weight: NDArray[np.float64]):
        self.take_after(source)
        self.inner = source
        self._weight = weight

    @property
    def n_used(self) -> int:
        """Rows that are not left out."""
        return int(np.count_nonzero(self._weight > 0))

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the blocks with their weights."""
        for block in self.inner.blocks(least_rows):
            weighted = with_weight(block, self._weight[block.start : block.start + block.rows.shape[0]])
            if weighted is not None:
                yield weighted

    def with_weights(self, weight: NDArray[np.float64]) -> Source:
        """The same rows; weights multiply."""
        return WeightedSource(self.inner, self._weight * weight)

    def limited(self, block_bytes: int) -> Self:
        """The same rows in blocks of at most so many bytes."""
        twin = super().limited(block_bytes)
        twin.inner = self.inner.limited(block_bytes)
        return twin

    def describe(self) -> str:
        """Say what the rows are."""
        return self.inner.describe()


def with_weight(block: Block, weight: NDArray[np.float64]) -> Block | None:
    """The rows of a block whose weight is not zero; None if there are none."""
    if block.weight is not None:
        weight = weight * block.weight
    used = weight > 0
    if used.all():
        return Block(block.start, block.rows, weight)
    return Block(block.start, block.rows[used], weight[used]) if used.any() else None
