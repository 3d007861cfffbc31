"""A source gives rows block by block, and folds a statistic over them.

`reduce(per_block, merge)` is the one verb that everything large is written on. `per_block` turns a block of rows into a
small statistic, `merge` joins two of them and is associative; the fold runs in block order whatever the number of
threads, so the same blocks give the same bits.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Self, TypeVar, cast, final

import numpy as np

from lowdim.errors import BadInput, BadParameter, Interrupted, TableHint, TableNote
from lowdim.runtime.memory import block_limit
from lowdim.runtime.passes import kept_passes
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import in_order
from lowdim.runtime.warn import warn_user
from lowdim.sources.columns import suggest
from lowdim.types import Array, Floats

Statistic = TypeVar("Statistic")

BLOCK_BYTES = 32 * 2**20
"""Bytes of rows of one task: large enough that merging p × p statistics is cheap, small enough to keep threads busy."""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a source."""

    start: int
    rows: Any
    """(n, p) ndarray of any real dtype, or a SciPy CSR matrix; a view where that is possible. Never written to."""
    weight: Floats | None = None
    """(n,) weights of the rows; None means one each."""

    def rows_from(self, first: int, count: int | None = None) -> Block:
        """Some of the rows with their weights: views."""
        some = slice(first, None if count is None else first + count)
        return Block(self.start + first, self.rows[some], None if self.weight is None else self.weight[some])

    def pieces(self, count: int) -> Iterator[Block]:
        """The rows, at most so many at a time."""
        return (self.rows_from(first, count) for first in range(0, self.rows.shape[0], count))


class Source(ABC):
    """Rows with column names, read in blocks."""

    n_rows: int | None
    guessed_rows: int | None = None
    """About how many there are, where that is not known before all are read."""
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
    blocks_beside: int = 0
    """Further blocks that reading holds: one in a child process, and one on the way from it."""
    most_block_bytes: int | None = None
    """Limit of a block that a fit planned; None: about BLOCK_BYTES, or as a fold or the budget in force wishes it."""
    marks: tuple[str, str] | None = None
    """What separates the cells of the text that rows are read from, and its decimal mark; None: they are of no text."""
    shape_of_rows: tuple[int, ...] | None = None
    """(height, width) or (height, width, 3) where each row is a picture; None where a row is a list of numbers."""
    genotypes: bool = False
    """Whether rows are individuals and columns copies of an allele at their SNPs, as a PLINK file has them."""
    beside: Mapping[str, Array] = MappingProxyType({})
    """Columns that are kept aside: labels, names of files."""
    label: str | None = None
    """The column among those kept aside that holds classes of the rows …"""
    names: str | None = None
    """… and the one that names them."""
    levels: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Text column that is coded as numbers → its values; the first is where all of its columns are 0."""

    @abstractmethod
    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give all rows once, in order.

        Parameters
        ----------
        least_rows : int
            Rows of a block, at least, where memory allows: below, merging would cost more than computing.

        Returns
        -------
        iterator of Block
            At least one.
        """

    @abstractmethod
    def describe(self) -> str:
        """Name the data as the user knows them, for messages."""

    @property
    def every_column(self) -> list[str]:
        """Names of all columns of a table, also of those without numbers; empty where rows are of no table."""
        return []

    @property
    def left_out(self) -> Mapping[str, str]:
        """Columns of a table that hold no numbers: name → what they hold."""
        return {}

    @property
    def notes(self) -> Sequence[TableNote]:
        """What was guessed, passed over or left out as the data were read."""
        return ()

    def tell(self) -> None:
        """Warn of these notes."""
        for note in self.notes:
            if not isinstance(note, TableHint):
                warn_user(note)

    def row_names(self) -> list[str] | None:
        """(n,) what the rows are called; None where they have no names."""
        return None if self.names is None else list(map(name_of, self.aside(self.names).tolist()))

    def aside(self, name: str) -> Array:
        """A column that is kept aside: the labels, say.

        Parameters
        ----------
        name : str
            One of `beside`.

        Returns
        -------
        array
            (n,)
        """
        if name not in self.beside:
            raise BadParameter(f"{self.describe()}: no column {name!r} is kept aside{suggest(name, list(self.beside))}")
        return self.beside[name]

    def labelled(self, *names: str) -> Iterator[tuple[Block, Mapping[str, Array]]]:
        """Give all rows in blocks, each with its part of columns that are kept aside: labels, names.

        Parameters
        ----------
        names : str
            Some of `beside`.

        Returns
        -------
        iterator of pairs
            A Block, and the (m,) entries of its rows by the names of the columns.
        """
        beside = {name: self.aside(name) for name in names}
        for block in self.blocks():
            stop = block.start + block.rows.shape[0]
            yield block, {name: column[block.start : stop] for name, column in beside.items()}

    @kept_passes
    def reduce(
        self,
        per_block: Callable[[Block], Statistic],
        merge: Callable[[Statistic, Statistic], Statistic],
        least_rows: int = 1,
    ) -> Statistic:
        """Fold a statistic over all rows, in block order.

        The source is read on the calling thread while others work on the blocks before, so reading and computing go
        on at the same time.

        Parameters
        ----------
        per_block : function of a Block
            Makes a statistic of its rows; other threads call it.
        merge : function of two statistics
            Joins them; it is associative, and may reuse its first argument.
        least_rows : int
            Rows of a block, at least, where memory allows: below, merging would cost more than computing.

        Returns
        -------
        statistic
            Of all rows.
        """
        total, sizes, done = cast(Any, None), deque[int](), 0
        with stage(ROW, self.likely_rows) as tell:
            try:
                for statistic in in_order(per_block, _note_sizes(self.blocks(least_rows), sizes)):
                    total = merge(total, statistic) if done else statistic
                    done += sizes.popleft()
                    tell(done)
            except Interrupted as stop:
                raise Interrupted(done, total) from stop
        return cast(Statistic, total)  # blocks() gives at least one block

    @property
    def likely_rows(self) -> int | None:
        """About how many rows there are; None: nothing is known of it before all are read."""
        return self.guessed_rows if self.n_rows is None else self.n_rows

    def limited(self, block_bytes: int) -> Self:
        """The same rows in smaller blocks.

        Parameters
        ----------
        block_bytes : int
            Bytes of a block, at most; a row is never cut.

        Returns
        -------
        Source
        """
        twin = copy.copy(self)
        twin.most_block_bytes = block_bytes
        return twin

    def unweighted(self) -> Source:
        """The same rows, each counted once."""
        return self

    def after(self, rows: int) -> Source:
        """The source without its first rows.

        Parameters
        ----------
        rows : int
            How many are left out.

        Returns
        -------
        Source
        """
        return LaterRows(self, rows)

    def rows_per_block(self, least_rows: int = 1) -> int:
        """Rows of one block: about BLOCK_BYTES of them and at least as many as wished, unless memory is limited.

        Parameters
        ----------
        least_rows : int
            Rows of a block, at least, where memory allows: below, merging would cost more than computing.

        Returns
        -------
        int
            At least 1.
        """
        a_row = max(1, self.n_columns * self.dtype.itemsize)
        limit = self.most_block_bytes or block_limit(self.reading_bytes, self.blocks_beside)
        return max(1, BLOCK_BYTES // a_row, least_rows) if limit is None else max(1, min(limit, BLOCK_BYTES) // a_row)

    def map_rows(self, function: Callable[[Block], Array], width: int, dtype: Any) -> Any:
        """What a function makes of each row; lazy where the rows are.

        Parameters
        ----------
        function : function of a Block
            Makes an array (m, width) of its m rows.
        width : int
            Columns of what it makes.
        dtype : dtype
            Of the result.

        Returns
        -------
        array
            (n, width)
        """
        result = None if self.n_rows is None else np.empty((self.n_rows, width), dtype=dtype)
        several = []
        with stage(ROW, self.likely_rows) as tell:
            for start, rows in in_order(partial(_apply_to_block, function), self.blocks()):
                if result is None:
                    several.append(rows)
                else:
                    result[start : start + len(rows)] = rows
                tell(start + len(rows))
        return np.concatenate(several).astype(dtype) if result is None else result

    def with_weights(self, weight: Floats) -> Source:
        """The same rows, one weight for each; rows of weight zero are left out.

        Parameters
        ----------
        weight : array (n,)
            How often each row counts: 2 means twice.

        Returns
        -------
        Source
        """
        return WeightedSource(self, weight)

    def count_rows(self) -> int | None:
        """Number of rows, counted if need be; None if that would use them up."""
        if self.n_rows is None and self.repeatable:
            self.n_rows = self.reduce(_count_rows, int.__add__)
        return self.n_rows


class ConvertibleSource(Source):
    """A source whose rows do not lie in one array, but can be put into one."""

    def to_array(self) -> Array:
        """All rows as one (n, p) array: a copy."""
        if self.n_rows is None:
            return np.concatenate([block.rows for block in self.blocks()])
        array = np.empty((self.n_rows, self.n_columns), dtype=self.dtype)
        for block in self.blocks():
            array[block.start : block.start + len(block.rows)] = block.rows
        return array

    @property
    def likely_bytes(self) -> int | None:
        """Bytes of that array; None if not known."""
        return None if self.n_rows is None else self.n_rows * self.n_columns * self.dtype.itemsize


def name_of(value: Any) -> str:
    """A name as a text: tables hold 7 as 7.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _note_sizes(blocks: Iterator[Block], sizes: deque[int]) -> Iterator[Block]:
    """The same blocks; the number of rows of each is noted as it passes."""
    for block in blocks:
        sizes.append(block.rows.shape[0])
        yield block


def _apply_to_block(function: Callable[[Block], Array], block: Block) -> tuple[int, Array]:
    return block.start, function(block)


def _count_rows(block: Block) -> int:
    return int(block.rows.shape[0])


class ColumnwiseSource(ConvertibleSource):
    """Rows in blocks, and columns in blocks too."""

    @abstractmethod
    def read_columns(self, start: int, stop: int) -> Array:
        """Consecutive columns, as they are stored: missing entries have their code.

        Parameters
        ----------
        start, stop : int
            Places of the first column, and of the one after the last.

        Returns
        -------
        array
            (n, stop − start)
        """


class WrappedSource(Source):
    """The rows of another source, changed; what a subclass (`sources/wrapped.py`) does not change is as that has it."""

    def __init__(self, inner: Source):
        self.inner = inner
        for name in Source.__annotations__:
            if hasattr(inner, name):
                setattr(self, name, getattr(inner, name))

    def limited(self, block_bytes: int) -> Self:
        """The same rows in blocks of at most so many bytes."""
        twin = super().limited(block_bytes)
        twin.inner = self.inner.limited(block_bytes)
        return twin

    def unweighted(self) -> Source:
        """The same rows, each counted once."""
        if not self.weighted:
            return self
        twin = copy.copy(self)
        twin.inner, twin.weighted = self.inner.unweighted(), False
        return twin

    def aside(self, name: str) -> Array:
        """(n,) a column that is kept aside, of the rows that there are."""
        return self.beside[name] if name in self.beside else self._of_rows(self.inner.aside(name))

    def _of_rows(self, column: Array) -> Array:
        """The entries of a column of the other source that belong to the rows of this one."""
        return column

    @property
    def every_column(self) -> list[str]:
        """As the other source."""
        return self.inner.every_column

    @property
    def left_out(self) -> Mapping[str, str]:
        """As the other source."""
        return self.inner.left_out

    @property
    def notes(self) -> Sequence[TableNote]:
        """As the other source."""
        return self.inner.notes

    def describe(self) -> str:
        """Say what the rows are."""
        return self.inner.describe()


@final
class LaterRows(WrappedSource):
    """Another source without its first rows; they are read and passed over."""

    def __init__(self, source: Source, skip: int):
        super().__init__(source)
        self.n_rows = None if source.n_rows is None else source.n_rows - skip
        self._skip, self.remote = skip, False  # its blocks are cut here
        self.beside = {name: column[skip:] for name, column in source.beside.items()}
        if self.n_rows is not None and self.n_rows < 1:
            raise self._too_few(source.n_rows)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the later rows, counted from where they begin."""
        there = 0
        for block in self.inner.blocks(least_rows):
            first = max(0, self._skip - there)
            if first < block.rows.shape[0]:
                yield replace(block.rows_from(first), start=there + first - self._skip)
            there += block.rows.shape[0]
        if there <= self._skip:
            raise self._too_few(there)

    def _of_rows(self, column: Array) -> Array:
        return column[self._skip :]

    def describe(self) -> str:
        """Say which rows they are."""
        return f"{self.inner.describe()} after row {self._skip:,}"

    def _too_few(self, rows: int | None) -> BadInput:
        return BadInput(
            f"{self.inner.describe()} has {rows:,} rows, and {self._skip:,} of them were read before: nothing is "
            "left to go on with."
        )


@final
class WeightedSource(WrappedSource):
    """Another source with one weight per row. Rows of weight zero are left out, whatever they hold."""

    def __init__(self, source: Source, weight: Floats):
        super().__init__(source)
        self._weight = weight

    @property
    def n_used(self) -> int:
        """Rows that are not left out."""
        return int(np.count_nonzero(self._weight > 0))

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the blocks with their weights."""
        for block in self.inner.blocks(least_rows):
            weighted = weigh_block(block, self._weight[block.start : block.start + block.rows.shape[0]])
            if weighted is not None:
                yield weighted

    def with_weights(self, weight: Floats) -> Source:
        """The same rows; weights multiply."""
        return WeightedSource(self.inner, self._weight * weight)


def weigh_block(block: Block, weight: Floats) -> Block | None:
    """The rows of a block whose weight is not zero; None if there are none."""
    if block.weight is not None:
        weight = weight * block.weight
    used = weight > 0
    if used.all():
        return Block(block.start, block.rows, weight)
    return Block(block.start, block.rows[used], weight[used]) if used.any() else None
