"""A table in a file: some reader gives its columns batch by batch, a source makes rows of numbers of them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import final

import numpy as np

from lowdim.errors import BadFile
from lowdim.sources.columns import MAX_CATEGORIES, Column, Selection
from lowdim.sources.source import Block, ConvertibleSource, weigh_block
from lowdim.types import Array, Floats


class TableReader(ABC):
    """Columns of a file, in batches of rows."""

    name: str
    """As the user knows it, for messages."""
    columns: tuple[Column, ...]
    n_rows: int | None
    """None: not known before all is read."""
    repeatable: bool = True
    size: int | None = None
    """Bytes of the file, where the number of rows is not known; a number in text takes about as many as in memory."""

    @abstractmethod
    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Give these columns, about so many rows at a time.

        Numbers and flags come as real arrays in which missing values are NaN, other columns as arrays of objects.
        """

    def reading_bytes(self, names: list[str]) -> int:
        """Bytes that reading these columns takes beside the batches that it gives."""
        return 0


@final
class TableSource(ConvertibleSource):
    """The columns of a table that hold numbers, as rows. A label is kept aside, a weight counts the rows."""

    columns: tuple[str, ...]

    def __init__(self, reader: TableReader, selection: Selection):
        self._reader = reader
        self.title = reader.name
        refuse_repeats(tuple(column.name for column in reader.columns), reader.name)
        self.chosen = selection.of(reader.columns, reader.name, self._categories)
        self.label = selection.label
        self._weight = selection.weight
        self.weighted = selection.weight is not None
        self.columns = tuple(feature.name for feature in self.chosen.features)
        self.n_columns = len(self.columns)
        self.n_rows = reader.n_rows
        self.repeatable = reader.repeatable
        single = all(feature.column.single for feature in self.chosen.features)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.reading_bytes = reader.reading_bytes(self._names)
        refuse_repeats(self.columns, reader.name)
        if self.n_rows == 0:
            raise _no_rows(reader.name)

    @property
    def left_out(self) -> Mapping[str, str]:
        """Columns that hold no numbers: name → what they hold."""
        return self.chosen.left_out

    @property
    def likely_bytes(self) -> int | None:
        """Bytes of all rows, or the size of a text file whose rows were not counted."""
        known = super().likely_bytes
        return self._reader.size if known is None else known

    def unweighted(self) -> TableSource:
        """The same rows, each counted once."""
        twin = copy.copy(self)
        twin._weight, twin.weighted = None, False
        return twin

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give rows of numbers, column by column in memory, as a file of columns is read."""
        start = 0
        for batch in self._reader.batches(self._names, self.rows_per_block(least_rows)):
            block = Block(start, self.rows_of(batch))
            start += len(block.rows)
            weighted: Block | None = block
            if self._weight is not None and len(block.rows):
                weighted = weigh_block(block, self._weights(batch, block))
            del batch  # or its columns would stay in memory while the next ones are read
            if weighted is not None and len(weighted.rows):
                yield weighted
        if not start:
            raise _no_rows(self._reader.name)

    def labelled(self, name: str) -> Iterator[tuple[Block, Array]]:
        """Give all rows in blocks, each with one more column as it stands in the file: the labels, say."""
        start = 0
        for batch in self._reader.batches(list(dict.fromkeys([*self._names, name])), self.rows_per_block()):
            rows = self.rows_of(batch)
            if len(rows):
                yield Block(start, rows), batch[name]
            start += len(rows)

    @property
    def every_column(self) -> list[str]:
        """Names of all columns of the table, also of those without numbers."""
        return [column.name for column in self._reader.columns]

    def batches(self) -> Iterator[Mapping[str, Array]]:
        """Give all columns of the table as they stand in the file, some rows at a time."""
        return self._reader.batches(self.every_column, self.rows_per_block())

    def aside(self, name: str) -> Array:
        """(n,) one column as it stands in the file: the labels, say."""
        return np.concatenate([batch[name] for batch in self._reader.batches([name], 2**16)])

    def describe(self) -> str:
        """Say its name and its shape."""
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows × "
        return f"{self.title} ({rows}{self.n_columns:,} columns)"

    @property
    def _names(self) -> list[str]:
        """Columns of the table that are read, each once."""
        used = [feature.column.name for feature in self.chosen.features]
        return list(dict.fromkeys([*used, *filter(None, [self._weight])]))

    def rows_of(self, batch: Mapping[str, Array]) -> Array:
        """(n, p) the numbers in a batch of columns of the table."""
        count = len(batch[self._names[0]])
        array = np.empty((count, self.n_columns), dtype=self.dtype, order="F")
        for j, feature in enumerate(self.chosen.features):
            values = batch[feature.column.name]
            array[:, j] = values if feature.value is None else _to_texts(values) == feature.value
        return array

    def _weights(self, batch: Mapping[str, Array], block: Block) -> Floats:
        weight = np.asarray(batch[self._weight or ""], dtype=float)
        if not (weight >= 0).all() or np.isinf(weight).any():
            row = block.start + int(np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))[0])
            raise BadFile(
                f"{self._reader.name}: the weight {self._weight!r} is {weight[row - block.start]} in row {row + 1:,}; "
                "weights must be finite and not negative."
            )
        return weight

    def _categories(self, column: Column) -> list[str] | int:
        """The different values of a text column, sorted; only how many are allowed, if there are more."""
        found: set[str] = set()
        for batch in self._reader.batches([column.name], 2**16):
            found.update(_to_texts(batch[column.name]).tolist())
            if len(found) > MAX_CATEGORIES:
                return MAX_CATEGORIES
        return sorted(found)


def _to_texts(values: Array) -> Array:
    """Texts as they are; a missing one is the empty text, a value like any other."""
    return np.array(["" if value is None or value != value else str(value) for value in values], dtype=object)


def _no_rows(where: str) -> BadFile:
    return BadFile(f"{where}: has columns but no rows; at least one row is needed.")


def refuse_repeats(names: tuple[str, ...], where: str) -> None:
    """Raise an error if a name stands twice."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise BadFile(f"{where}: the column name {repeated!r} stands more than once; give every column its own name.")
