"""Tables of an SQLite database, through Python's own driver, opened for reading only."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import final
from urllib.parse import quote

import numpy as np

from lowdim.errors import BadFile
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
        with self._readable() as connection:
            self._table = self._chosen(connection, table)
            self.name = f"{path}, table {self._table}"
            quoted = _quote(self._table)
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted})")]
            with _limited_time(connection, self.name):
                self.n_rows = int(connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0])
                kinds: list[Kind] = [_detect_kind(connection, self._table, name) for name in names]
        self.columns = tuple(map(Column, names, kinds))

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Read the rows in the order of the table."""
        kinds = {column.name: column.kind for column in self.columns}
        listed = ", ".join(map(_quote, names))
        with self._readable() as connection:
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

    @contextmanager
    def _readable(self) -> Iterator[sqlite3.Connection]:
        """The database for reading: damage may show only where its rows are."""
        where = f"file:{quote(str(self._path.resolve()))}?mode=ro{'&immutable=1' if self._is_at_rest() else ''}"
        remedy = "check what wrote it, and close it there"
        unreadable = refuse_unreadable(self._path, "SQLite database", remedy, (sqlite3.Error,))
        with unreadable, closing(sqlite3.connect(where, uri=True)) as connection:  # its own block would not close it
            yield connection

    def _is_at_rest(self) -> bool:
        """Whether this is a database with a write-ahead log that nobody has open: it is then read as the file it is.

        SQLite would else write an index of the log beside it (https://sqlite.org/wal.html, read-only databases).
        """
        with open(self._path, "rb") as file:
            versions = file.read(20)[18:]
        return versions == b"\2\2" and not self._path.with_name(self._path.name + "-wal").exists()

    def _chosen(self, connection: sqlite3.Connection, table: str | None) -> str:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        names = [row[0] for row in found if not row[0].startswith("sqlite_")]
        return choose_table(str(self._path), table, dict.fromkeys(map(str, names), "table"), "tables")


COUNTING = 60
"""Seconds that SQLite may take to count the rows and look at the columns: a view may have no end."""

STEPS = 100_000
"""Instructions of SQLite's between two looks at the clock."""


@contextmanager
def _limited_time(connection: sqlite3.Connection, name: str) -> Iterator[None]:
    """Have statements end that take too long, as those of a view that goes on for ever do."""
    end = time.monotonic() + COUNTING
    connection.set_progress_handler(lambda: int(time.monotonic() > end), STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if time.monotonic() <= end:
            raise
        raise BadFile(
            f"{name}: SQLite did not come to the end of its rows in {COUNTING:g} seconds; if it is a view that has an "
            "end, make a table of it: CREATE TABLE … AS SELECT * FROM …."
        ) from error


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
