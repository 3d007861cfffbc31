"""Tables of an SQLite database, through Python's own driver, opened for reading only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import final
from urllib.parse import quote

import numpy as np

from lowdim.sources.columns import Column, Kind
from lowdim.sources.formats.stored import refuse_unreadable
from lowdim.sources.tables.choose import choose_table
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

CELLS_PER_FETCH = 2**20
"""Cells fetched at a time: they come as Python objects, which take several times the memory of the numbers."""


@final
class SqliteReader(TableReader):
    """One table or view of a database; the only one if none is named."""

    def __init__(self, path: Path, table: str | None = None):
        self._path = path
        self.name = str(path)
        unreadable = refuse_unreadable(path, "SQLite database", "check what wrote it", (sqlite3.Error,))
        with unreadable, closing(self._connected()) as connection:  # its own block would not close a connection
            self._table = self._chosen(connection, table)
            self.name = f"{path}, table {self._table}"
            quoted = _quote(self._table)
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted})")]
            self.n_rows = int(connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0])
            kinds: list[Kind] = [_detect_kind(connection, self._table, name) for name in names]
        self.columns = tuple(map(Column, names, kinds))

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Read the rows in the order of the table."""
        kinds = {column.name: column.kind for column in self.columns}
        listed = ", ".join(map(_quote, names))
        with closing(self._connected()) as connection:
            cursor = connection.execute(f"SELECT {listed} FROM {_quote(self._table)}")
            while found := cursor.fetchmany(min(rows, max(1, CELLS_PER_FETCH // len(names)))):
                columns = zip(*found, strict=True)
                yield {
                    name: np.array(values, dtype=np.float64 if kinds[name] == "number" else object)
                    for name, values in zip(names, columns, strict=True)
                }

    def reading_bytes(self, names: list[str]) -> int:
        """The cells of a batch as Python's own numbers, with their tuples."""
        return 40 * CELLS_PER_FETCH

    def _connected(self) -> sqlite3.Connection:
        # mode=ro: the file is never written, not even a journal
        return sqlite3.connect(f"file:{quote(str(self._path.resolve()))}?mode=ro", uri=True)

    def _chosen(self, connection: sqlite3.Connection, table: str | None) -> str:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        names = [row[0] for row in found if not row[0].startswith("sqlite_")]
        return choose_table(str(self._path), table, dict.fromkeys(map(str, names), "table"), "tables")


def _detect_kind(connection: sqlite3.Connection, table: str, name: str) -> Kind:
    """Numbers if every entry is one or NULL: SQLite's types are those of the entries, not of the columns."""
    column = _quote(name)
    sql = f"SELECT DISTINCT typeof({column}) FROM {_quote(table)}"
    kinds = {row[0] for row in connection.execute(sql)} - {"null"}
    if not kinds:
        return "empty"
    return "number" if kinds <= {"integer", "real"} else "text"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
