"""Which reader opens which kind of file."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from pathlib import Path

from lowdim.errors import BadFile
from lowdim.sources.formats.table import TableReader
from lowdim.sources.kinds import contents_of, kind_of

ARRAYS = ("npy", "npz", "hdf5", "zarr")
"""Kinds of files whose columns have no names."""


WITH_TABLES = ("duckdb", "sqlite", "excel")
"""Kinds of files that hold several tables. In others that are tables, `table` names a column of texts."""


def table_reader(kind: str, paths: Sequence[Path], text: str, table: str | None) -> TableReader:
    """The reader of a table; `table` chooses among several in one file."""
    path = paths[0]
    if kind == "sqlite":
        from lowdim.sources.formats.sqlite import SqliteReader

        return SqliteReader(path, table)
    if kind == "duckdb":
        from lowdim.sources.formats.duckdb import database_table

        return database_table(path, table)
    if kind == "excel":
        from lowdim.sources.formats.excel import ExcelReader

        return ExcelReader(path, table)
    from lowdim.sources.formats import arrow, parquet

    makers: dict[str, Callable[[], TableReader]] = {
        "csv": lambda: arrow.CsvReader(path),
        "tsv": lambda: arrow.CsvReader(path, "\t"),
        "feather": lambda: arrow.FeatherReader(path),
        "jsonl": lambda: arrow.JsonLinesReader(path),
        "parquet": lambda: parquet.ParquetReader(paths, text),
    }
    return makers[kind]()


def matching(text: str) -> tuple[str, Sequence[Path]]:
    """The kind of data behind a path or pattern, and the files that hold them."""
    path = Path(text)
    if path.is_dir():
        return contents_of(path)
    if path.exists() or not glob.has_magic(text):
        return kind_of(path), [path]
    found = sorted(map(Path, glob.glob(text, recursive=True)))
    if not found:
        raise BadFile(f"{text}: no file matches this pattern; check it.")
    return kind_of(found[0]), found
