"""Paths to sources: which reader takes which kind of file."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lowdim.errors import BadFile, BadParameter
from lowdim.sources.kinds import contents_of, kind_of
from lowdim.sources.selection import Selection
from lowdim.sources.source import Source
from lowdim.sources.stdin import called, is_pipe, spooled
from lowdim.sources.table import TableReader, TableSource

ARRAYS = ("npy", "npz", "hdf5", "zarr")
"""Kinds of files whose columns have no names."""

WITH_TABLES = ("duckdb", "sqlite", "excel")
"""Kinds of files that hold several tables. In others that are tables, `table` names a column of texts."""

TOGETHER = ("parquet", "pictures", "texts")
"""Kinds of which many files are read as one."""


def open_path(
    given: str | os.PathLike[str], selection: Selection, table: str | None = None, sql: str | None = None
) -> Source:
    """The source behind a path: a file, a folder, a pattern such as ``part-*.parquet``, or ``-`` for standard input."""
    text = os.fspath(given)
    if not text:
        raise BadFile("An empty text was given as a path: name a file, a folder or a pattern.")
    if re.match(r"[a-z][a-z0-9+]+://", text, re.IGNORECASE):
        raise BadFile(f"{text}: addresses are not read; download the file first, and pass its path.")
    if is_pipe(text):
        source = _open_file(str(spooled(text)), selection, table, sql)
        source.title = called(text)
        return source
    return _open_file(text, selection, table, sql)


def _open_file(text: str, selection: Selection, table: str | None, sql: str | None) -> Source:
    kind, paths = matching(text)
    if len(paths) > 1 and kind not in TOGETHER:
        raise BadFile(
            f"{text}: {len(paths)} files match, but only Parquet files and pictures are read together; name one."
        )
    if sql is not None:
        return TableSource(_queried(sql, kind, paths, text, table), selection)
    if table is not None and kind in ("npy", "pictures", "plink", "texts"):
        raise BadParameter(f"{text}: holds nothing to choose from by name; leave table={table!r} out.")
    if kind == "texts":
        from lowdim.sources.texts import open_texts

        return open_texts(paths, text, selection)
    if kind == "pictures":
        from lowdim.sources.pictures import open_pictures

        return open_pictures(paths, text, selection)
    if kind == "h5ad":
        from lowdim.sources.anndata import open_h5ad

        return open_h5ad(paths[0], selection, table)
    if kind == "plink":
        from lowdim.sources.plink import open_plink

        return open_plink(paths[0], selection)
    if kind in ARRAYS:
        if selection != Selection():
            raise BadParameter(f"{text}: an array has no names of columns to choose by; slice it yourself.")
        return _array(kind, paths[0], table)
    reader = table_reader(kind, paths, text, table)
    if table is not None and kind not in WITH_TABLES:
        from lowdim.sources.texts import open_text_column

        return open_text_column(reader, table, selection)
    return TableSource(reader, selection)


def _array(kind: str, path: Path, name: str | None) -> Source:
    if kind == "hdf5":
        from lowdim.sources.hdf5 import open_hdf5

        return open_hdf5(path, name)
    if kind == "zarr":
        from lowdim.sources.zarr import open_zarr

        return open_zarr(path, name)
    from lowdim.sources.arrays import open_npy, open_npz

    return open_npy(path) if kind == "npy" else open_npz(path, name)


def _queried(sql: str, kind: str, paths: Sequence[Path], text: str, table: str | None) -> TableReader:
    """The rows that a query over the data gives."""
    from lowdim.sources.duckdb import query_database, query_parquet, query_table

    if kind in (*ARRAYS, "h5ad", "pictures", "plink", "texts"):
        raise BadParameter(f"{text}: sql asks a table with names of columns, and here are none.")
    if table is not None and kind not in WITH_TABLES:
        raise BadParameter(f"{text}: table names a table of a database or workbook; with sql, leave it out here.")
    if kind == "parquet":
        return query_parquet(sql, paths, text)
    if kind == "duckdb":
        return query_database(sql, paths[0], table)
    return query_table(sql, table_reader(kind, paths, text, table))


def table_reader(kind: str, paths: Sequence[Path], text: str, table: str | None) -> TableReader:
    """The reader of a table; `table` chooses among several in one file."""
    path = paths[0]
    if kind == "sqlite":
        from lowdim.sources.sqlite import SqliteReader

        return SqliteReader(path, table)
    if kind == "duckdb":
        from lowdim.sources.duckdb import database_table

        return database_table(path, table)
    if kind == "excel":
        from lowdim.sources.excel import ExcelReader

        return ExcelReader(path, table)
    from lowdim.sources import arrow, parquet

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
