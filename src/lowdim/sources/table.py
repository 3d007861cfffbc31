"""A table in a file: some reader gives its columns batch by batch, a source makes rows of numbers of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadFile
from lowdim.sources.selection import Column, Selection
from lowdim.sources.source import Block, Source, rows_per_block


class TableReader(ABC):
    """Columns of a file, in batches of rows."""

    name: str
    """As the user knows it, for messages."""
    columns: tuple[Column, ...]
    n_rows: int | None
    """None: not known before all is read."""
    repeatable: bool = True

    @abstractmethod
    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Give these columns, about so many rows at a time.

        Numbers and flags come as real arrays in which missing values are NaN, other columns as arrays of objects.
        """


@final
class TableSource(Source):
    """The columns of a table that hold numbers, as rows. A label is kept aside."""

    columns: tuple[str, ...]

    def __init__(self, reader: TableReader, selection: Selection):
        self._reader = reader
        self.chosen = selection.of(reader.columns, reader.name)
        self.columns = tuple(column.name for column in self.chosen.numbers)
        self.n_columns = len(self.columns)
        self.n_rows = reader.n_rows
        self.repeatable = reader.repeatable
        single = all(column.single for column in self.chosen.numbers)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        _refuse_repeats(self.columns, reader.name)
        if self.n_rows == 0:
            raise _no_rows(reader.name)

    @property
    def left_out(self) -> dict[str, str]:
        """Columns that hold no numbers: name → what they hold."""
        return self.chosen.left_out

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give rows of numbers, column by column in memory, as a file of columns is read."""
        rows = max(least_rows, rows_per_block(self.n_columns, self.dtype.itemsize))
        start = 0
        for batch in self._reader.batches(list(self.columns), rows):
            array = self._rows(batch)
            if len(array):
                yield Block(start, array)
                start += len(array)
        if not start:
            raise _no_rows(self._reader.name)

    def aside(self, name: str) -> NDArray[Any]:
        """(n,) one column as it stands in the file: the labels, say."""
        return np.concatenate([batch[name] for batch in self._reader.batches([name], 2**16)])

    def describe(self) -> str:
        """Say its name and its shape."""
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows × "
        return f"{self._reader.name} ({rows}{self.n_columns:,} columns)"

    def _rows(self, batch: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        count = len(batch[self.columns[0]])
        array = np.empty((count, self.n_columns), dtype=self.dtype, order="F")
        for j, name in enumerate(self.columns):
            array[:, j] = batch[name]
        return array


def _no_rows(where: str) -> BadFile:
    return BadFile(f"{where}: has columns but no rows; at least one row is needed.")


def _refuse_repeats(names: tuple[str, ...], where: str) -> None:
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise BadFile(f"{where}: the column name {repeated!r} stands more than once; give every column its own name.")
