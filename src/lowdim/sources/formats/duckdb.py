"""DuckDB: tables of its databases, and `sql=` over any table in a file. The only file that loads duckdb.

The SQL is the user's own code. It is still kept from doing harm by accident: one SELECT, no file but those that were
named, no extension, no setting, nothing is written. DuckDB's own switches limit where it may read *and* write, so a
COPY onto the input would pass them; that is why anything but a SELECT is refused before it runs.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from lowdim.errors import BadFile, BadParameter, LowdimError, NeedsExtra, TableNote, TotalRow
from lowdim.sources.columns import Column, suggest
from lowdim.sources.formats.arrow_columns import ArrowColumns, as_stream
from lowdim.sources.tables.choose import choose_table
from lowdim.sources.tables.table import TableReader, refuse_repeats
from lowdim.words import listed

try:
    import duckdb
except ImportError as error:
    raise NeedsExtra.package("duckdb", "Reading DuckDB databases, and sql,", "files") from error

MEMORY_BYTES = 256 * 2**20
"""Bytes that DuckDB may keep; what sorting and grouping need beyond them goes to a private folder."""

LOCKS = (
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""In this order; the paths that may be read are set before them. One thread gives rows in one order."""


FIRST_ROWS = 1024
"""Rows from which it is told how long lists are."""

DATA = '"main"."data"'
"""The table that is copied into a private database."""

RESULT = '"the result of sql"'
"""Name of the query while its columns are described and its rows counted."""


@dataclass(frozen=True)
class Origin:
    """Where `data` comes from: a database that is attached for reading only, or Parquet files."""

    database: Path | None = None
    parquet: tuple[Path, ...] = ()
    data: str | None = None
    """The table of the database that is called `data` as well, quoted for SQL."""


@final
class DuckReader(TableReader):
    """The rows that one SELECT gives, in the order in which DuckDB gives them."""

    def __init__(
        self,
        origin: Origin,
        sql: str,
        name: str,
        *,
        private: Path | None = None,
        count: bool = False,
        notes: Sequence[TableNote] = (),
    ):
        self.name = name
        self._origin = origin
        self._sql = sql
        self._private = private or Path(tempfile.mkdtemp(prefix="lowdim-"))
        weakref.finalize(self, shutil.rmtree, self._private, ignore_errors=True)
        self.n_rows: int | None = None
        with (
            _duckdb_errors(self.name),
            _connect(self._origin, self._private) as connection,
            _teaching(connection, self.name),
        ):
            _refuse_all_but_select(connection, sql)
            refuse_repeats(tuple(connection.sql(sql).columns), name)
            connection.execute(f"CREATE TEMP VIEW {RESULT} AS {sql}")
            schema = connection.sql(f"SELECT * FROM {RESULT} LIMIT 0").to_arrow_table().schema
            self._found = ArrowColumns(schema, partial(_first_chunks, connection))
            self.columns = self._found.columns
            self._notes = tuple(note for note in notes if not _is_gone(connection, note, self.columns))
            if count:  # cheap where it is a table
                self.n_rows = int(connection.sql(f"SELECT count(*) FROM {RESULT}").fetchall()[0][0])

    @property
    def notes(self) -> Sequence[TableNote]:
        """What was said of the table that is asked, and which lists were left out."""
        return (*self._notes, *self._found.notes)

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The same as Arrow has them."""
        return self.batches(names, rows, stored=True)

    def batches(self, names: list[str], rows: int, stored: bool = False) -> Iterator[Mapping[str, Any]]:
        """Run the query anew and give its rows as they come."""
        with _duckdb_errors(self.name), _connect(self._origin, self._private) as connection:
            stream = connection.sql(self._sql).to_arrow_reader(min(rows, 2**16))
            try:
                chosen = (batch.select(self._found.tops(names)) for batch in stream)
                yield from self._found.gather(chosen, names, rows, self.name, stored)
            finally:
                stream.close()  # an open stream would keep the connection

    def reading_bytes(self, names: list[str]) -> int:
        """What DuckDB may keep."""
        return MEMORY_BYTES


def _is_gone(connection: Any, note: TableNote, columns: Sequence[Column]) -> bool:
    """Whether a note is about a row that the query leaves out."""
    if not isinstance(note, TotalRow) or note.name not in {column.name for column in columns}:
        return False
    test = f"SELECT count(*) FROM {RESULT} WHERE trim(CAST({_quote(note.name)} AS VARCHAR)) = $1"
    return bool(connection.execute(test, [note.text]).fetchone() == (0,))


def _first_chunks(connection: Any, name: str) -> Sequence[Any]:
    """The first rows of a column of the result."""
    first = connection.sql(f"SELECT {_quote(name)} FROM {RESULT} LIMIT {FIRST_ROWS}").to_arrow_table()
    chunks: Sequence[Any] = first.column(0).chunks
    return chunks


def database_table(path: Path, table: str | None = None) -> DuckReader:
    """One table or view of a database; the only one if none is named."""
    tables = _list_tables(path)
    table = _choose_table(path, tables, table)
    return DuckReader(Origin(path), f"SELECT * FROM {tables[table]}", f"{path}, table {table}", count=True)


def query_database(sql: str, path: Path, table: str | None = None) -> DuckReader:
    """A query over a database, in which its tables have their names and the chosen or only one is `data` as well."""
    tables = _list_tables(path)
    only = table is not None or len(tables) == 1
    return DuckReader(
        Origin(path, data=tables[_choose_table(path, tables, table)] if only else None), sql, f"sql over {path}"
    )


def query_parquet(sql: str, paths: Sequence[Path], name: str) -> DuckReader:
    """A query over Parquet files, read by DuckDB itself: columns and rows that it leaves out are not read."""
    return DuckReader(Origin(parquet=tuple(paths)), sql, f"sql over {name}")


def query_table(sql: str, reader: TableReader) -> DuckReader:
    """A query over any other table, which is first copied into a private database that is deleted afterwards."""
    private = Path(tempfile.mkdtemp(prefix="lowdim-"))
    try:
        with (
            _duckdb_errors(reader.name),
            duckdb.connect(str(private / "data.duckdb"), config=_settings(private)) as connection,
        ):
            connection.register("incoming", as_stream(reader))
            connection.execute("CREATE TABLE data AS SELECT * FROM incoming")
        origin, name = Origin(private / "data.duckdb"), f"sql over {reader.name}"
        return DuckReader(origin, sql, name, private=private, notes=reader.notes)
    except BaseException:
        shutil.rmtree(private, ignore_errors=True)
        raise


@contextmanager
def _connect(origin: Origin, private: Path | None) -> Iterator[Any]:
    """A locked connection that sees the data and nothing else."""
    with duckdb.connect(":memory:", config=_settings(private)) as connection:
        if origin.database is not None:
            connection.execute(f"ATTACH {_quote_path(origin.database)} AS origin (READ_ONLY)")
            connection.execute("USE origin")
        if origin.parquet:
            listed = ", ".join(_quote_path(path.resolve()) for path in origin.parquet)
            connection.execute(f"SET allowed_paths = [{listed}]")
        for lock in LOCKS:
            connection.execute(lock)
        if origin.parquet:
            connection.execute(f"CREATE TEMP VIEW data AS SELECT * FROM read_parquet([{listed}])")
        elif origin.data is not None and origin.data != DATA:
            connection.execute(f"CREATE TEMP VIEW data AS SELECT * FROM {origin.data}")
        yield connection


def _settings(private: Path | None) -> dict[str, Any]:
    return {"threads": 1, "memory_limit": f"{MEMORY_BYTES}B", "temp_directory": str(private or "")}


def _refuse_all_but_select(connection: Any, sql: str) -> None:
    kinds = [statement.type.name for statement in connection.extract_statements(sql)]
    if kinds != ["SELECT"]:
        raise BadParameter(f"sql must be one SELECT, but it is {' and '.join(kinds) or 'empty'}: {sql[:80]!r}.")


def _list_tables(path: Path) -> dict[str, str]:
    """Tables and views of a database, by name; the value is quoted for SQL. Other schemas stand before a point."""
    with _duckdb_errors(str(path)), _connect(Origin(path), None) as connection:
        found = connection.sql(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'origin' UNION ALL "
            "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'origin' AND NOT internal "
            "ORDER BY ALL"
        ).fetchall()
    return {
        name if schema == "main" else f"{schema}.{name}": f"{_quote(schema)}.{_quote(name)}" for schema, name in found
    }


def _choose_table(path: Path, tables: Mapping[str, str], table: str | None) -> str:
    return choose_table(str(path), table, dict.fromkeys(tables, "table"), "tables")


UNKNOWN_TABLE = re.compile(r"Catalog Error: Table with name (\S+) does not exist")


UNKNOWN_COLUMN = re.compile(r'Binder Error: Referenced column "(.+?)" not found')


@contextmanager
def _teaching(connection: Any, name: str) -> Iterator[None]:
    """Says how names and texts are written, and which tables there are; DuckDB guesses, also among its own."""
    try:
        yield
    except duckdb.BinderException as error:
        unknown = UNKNOWN_COLUMN.match(str(error))
        if unknown is None:
            raise
        known = _columns_of_data(connection)
        there = suggest(unknown[1], known) if known else "."
        text = "'" + unknown[1].replace("'", "''") + "'"
        said = f"{name}: there is no column {unknown[1]!r}; a text stands in single quotes, as {text}"
        raise BadParameter(f"{said}{there}") from error
    except duckdb.ParserException as error:
        odd = next((one for one in _columns_of_data(connection) if not one.isidentifier()), "a name")
        said = f"{name}: {_in_one_line(error)}; texts stand in single quotes, 'so', and names with blanks or signs in "
        raise BadParameter(f"{said}double quotes, {_quote(odd)}.") from error
    except duckdb.CatalogException as error:
        unknown = UNKNOWN_TABLE.match(str(error))
        if unknown is None:
            raise
        rows = connection.sql("SELECT DISTINCT table_name FROM information_schema.tables ORDER BY 1").fetchall()
        tables = [table for (table,) in rows]
        choice = "the table is called data" if "data" in tables else f"there are {listed(tables)}"
        raise BadParameter(f"{name}: there is no table {unknown[1]}; {choice}.") from error


@contextmanager
def _duckdb_errors(name: str) -> Iterator[None]:
    """Turns what DuckDB says into one sentence that names the data."""
    try:
        yield
    except LowdimError:
        raise
    except duckdb.Error as error:
        what = _in_one_line(error)
        kind = BadParameter if isinstance(error, duckdb.ProgrammingError) else BadFile
        raise kind(f"{name}: {what}") from error


def _in_one_line(error: Exception) -> str:
    return " ".join(re.split(r"LINE \d+:", str(error))[0].split())[:300]


def _columns_of_data(connection: Any) -> list[str]:
    """Names of the columns of the table that is asked; none where it is a database of several."""
    try:
        return [str(name) for name in connection.sql("SELECT * FROM data LIMIT 0").columns]
    except duckdb.Error:
        return []


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_path(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
