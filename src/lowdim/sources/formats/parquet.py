"""Parquet files, read row group by row group, each column by column."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, NeedsExtra, TableNote
from lowdim.runtime.threads import in_order
from lowdim.sources.formats.arrow_columns import ArrowColumns, read_errors
from lowdim.sources.formats.long_reads import LongReads
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

try:
    import pyarrow as pa
    import pyarrow.parquet
except ImportError as error:
    raise NeedsExtra.package("pyarrow", "Reading Parquet files", "files") from error

READ_BYTES = 2**16
"""Bytes of a Parquet column that are read at a time."""

PAGE_BYTES = 2**20
"""Bytes of a page of a Parquet column as writers cut them, and of its dictionary."""

COLUMNS_PER_TASK = 4
"""Columns that one thread decodes at a time."""

FIRST_ROWS = 1024
"""Rows from which it is told how long lists are."""

MAX_GROUP_BYTES = 2**28
"""A row group of more bytes, once decoded, is not held whole."""


@final
class ParquetReader(TableReader):
    """One or several Parquet files with the same columns, as one table."""

    def __init__(self, paths: Sequence[Path], name: str):
        self.name = name
        self._paths = list(paths)
        self._about: list[Any] = []
        schemas = []
        for path in self._paths:
            with read_errors(path):
                file = pa.parquet.ParquetFile(str(path), memory_map=False)
                schemas.append(file.schema_arrow)
                self._about.append(file.metadata)
        _refuse_other_columns(self._paths, schemas)
        self.n_rows = sum(about.num_rows for about in self._about)
        self._found = ArrowColumns(schemas[0], self._first_chunks)
        self.columns = self._found.columns

    @property
    def notes(self) -> Sequence[TableNote]:
        """Which lists were left out."""
        return self._found.notes

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The same as Arrow has them."""
        return self.batches(names, rows, stored=True)

    def batches(self, names: list[str], rows: int, stored: bool = False) -> Iterator[Mapping[str, Any]]:
        """Read row groups one after the other, each column by column; very large ones row by row."""
        for path, about in zip(self._paths, self._about, strict=True):
            with read_errors(path), _Columns(path, about, self._found) as file:
                for group, size in enumerate(self._group_sizes(about, names)):
                    if size <= MAX_GROUP_BYTES:
                        yield from _cut_batches(file.group(group, names, stored), about.row_group(group).num_rows, rows)
                    else:
                        batches = file.rows(group, self._found.tops(names), rows)
                        yield from self._found.gather(batches, names, rows, str(path), stored)

    def first_rows(self, names: list[str], rows: int) -> tuple[dict[str, Array], bool]:
        """These columns of the first rows of the first file: row groups are not read whole for them."""
        with read_errors(self._paths[0]), _Columns(self._paths[0], self._about[0], self._found) as file:
            some = list(islice(file.first_rows(self._found.tops(names), rows), 1))
            found = self._found.columns_of([one.slice(0, rows) for one in some], names) if some else {}
        count = len(next(iter(found.values()), ()))
        return found or {name: np.empty(0, dtype=object) for name in names}, count == self.n_rows

    def _first_chunks(self, name: str) -> Sequence[Any]:
        """The first rows of a column."""
        with read_errors(self._paths[0]), _Columns(self._paths[0], self._about[0], None) as file:
            return [one.column(name) for one in islice(file.first_rows([name], FIRST_ROWS), 1)]

    def reading_bytes(self, names: list[str]) -> int:
        """The largest row group; of very large ones a page, its values, its dictionary and a buffer for each column."""
        groups = [size for about in self._about for size in self._group_sizes(about, names)]
        whole = max((size for size in groups if size <= MAX_GROUP_BYTES), default=0)
        return max(whole, (3 * PAGE_BYTES + READ_BYTES) * len(names)) if max(groups, default=0) > whole else whole

    def _group_sizes(self, about: Any, names: list[str]) -> list[int]:
        """Bytes of each row group of a file, once decoded."""
        a_row = sum(4 if column.single else 8 for column in self.columns if column.name in set(names))
        return [int(about.row_group(group).num_rows) * a_row for group in range(about.num_row_groups)]


class _Columns:
    """An open Parquet file, once for every thread that reads it."""

    def __init__(self, path: Path, about: Any, found: ArrowColumns | None):
        self._path, self._about, self._found = path, about, found
        self._mine = threading.local()
        self._opened = ExitStack()

    def __enter__(self) -> _Columns:
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def group(self, group: int, names: list[str], stored: bool) -> dict[str, Any]:
        """A row group as NumPy columns, or as they are stored.

        They are decoded a few at a time, by all threads: a reader of all columns at once would hold a page and a
        dictionary of each, which takes several times the memory, and as much time again.
        """
        assert self._found is not None
        tops = self._found.tops(names)
        some = [tops[j : j + COLUMNS_PER_TASK] for j in range(0, len(tops), COLUMNS_PER_TASK)]
        parts = in_order(partial(self._columns, group, frozenset(names), stored), some)
        return {name: column for part in parts for name, column in part.items()}

    def first_rows(self, names: list[str], rows: int) -> Iterator[Any]:
        """The first rows, in batches."""
        batches: Iterator[Any] = self._new_file(READ_BYTES).iter_batches(rows, columns=names, use_threads=False)
        return batches

    def rows(self, group: int, names: list[str], rows: int) -> Iterator[Any]:
        """A row group in batches of rows."""
        file = self._new_file(READ_BYTES)
        batches: Iterator[Any] = file.iter_batches(rows, row_groups=[group], columns=names, use_threads=False)
        return batches

    def _columns(self, group: int, names: frozenset[str], stored: bool, tops: list[str]) -> dict[str, Any]:
        assert self._found is not None
        if not hasattr(self._mine, "file"):
            self._mine.file = self._new_file(0)
        table = self._mine.file.read_row_group(group, tops, use_threads=False)
        wanted = [name for name in self._found.of_tops(tops) if name in names]
        return self._found.columns_of([table], wanted, str(self._path), stored=stored)

    def _new_file(self, buffer: int) -> Any:
        """The file opened once more; without a buffer, a column of a row group is read at once."""
        source = pa.PythonFile(self._opened.enter_context(LongReads(self._path)), mode="r")
        return pa.parquet.ParquetFile(source, metadata=self._about, buffer_size=buffer, pre_buffer=False)


def _cut_batches(columns: dict[str, Any], n_rows: int, rows: int) -> Iterator[Mapping[str, Array]]:
    """Columns in batches of so many rows: views."""
    for start in range(0, n_rows, rows):
        yield {name: values[start : start + rows] for name, values in columns.items()}


def _refuse_other_columns(paths: Sequence[Path], schemas: Sequence[Any]) -> None:
    for path, schema in zip(paths, schemas, strict=True):
        if schema.names != schemas[0].names:
            raise BadFile(
                f"{path}: has columns {', '.join(schema.names[:5])} …, but {paths[0].name} has "
                f"{', '.join(schemas[0].names[:5])} …; files read together need the same columns."
            )
