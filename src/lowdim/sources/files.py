"""What paths lead to, opened: a file, a folder, a pattern, several of them, or standard input."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.errors import BadFile, BadParameter, Piece, Setting
from lowdim.sources.columns import Selection
from lowdim.sources.formats.stdin import is_pipe, name_pipe, spool
from lowdim.sources.kinds import ISOLATED, TABLES, Found, find_files, kind_of, open_table
from lowdim.sources.source import Source
from lowdim.sources.tables.layout import Lines
from lowdim.sources.tables.table import TableReader, TableSource
from lowdim.sources.tables.text_columns import TextColumnsReader

if TYPE_CHECKING:
    from lowdim.sources.isolated.process import Isolated


@dataclass(frozen=True)
class Wish:
    """What the user said of data in files."""

    selection: Selection = field(default_factory=Selection)
    lines: Lines = field(default_factory=Lines)
    table: str | None = None
    """Which table, sheet, array or file of several in one."""
    text: str | None = None
    """A column of texts whose words are counted."""
    sql: str | None = None
    where: str | None = None
    sample: int | float | None = None
    seed: int = 0
    transpose: bool = False
    missing: tuple[str, ...] = ()
    """What stands for missing beside what is known to."""
    size: tuple[int, int] | None = None
    """Height and width to which pictures are brought."""
    isolated: Isolated = "auto"
    """Whether a child reads the files."""

    def of_tables(self) -> list[Piece]:
        """Settings that were given and are for tables alone."""
        names = ("text", "sql", "where", "sample", "transpose", "missing")
        found = [Setting(name) for name in names if getattr(self, name)]
        return [*found, *([Setting("skip")] if self.lines != Lines() else [])]


def open_paths(given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], wish: Wish) -> Source:
    """The source behind a path, such as ``part-*.parquet``, or ``-`` for standard input; or behind several."""
    if isinstance(given, (str, os.PathLike)):
        return _open_path(os.fspath(given), wish)
    texts = [os.fspath(one) for one in given]
    if not texts:
        raise BadFile("An empty list was given in place of paths: name a file at least.")
    for text in texts:
        _refuse_no_path(text)
        if is_pipe(text):
            raise BadFile(f"{name_pipe(text)} cannot be read together with files; name them alone.")
    return _open_found(find_files(texts), ", ".join(texts) if len(texts) < 4 else f"{len(texts)} files", wish)


def _open_path(text: str, wish: Wish) -> Source:
    _refuse_no_path(text)
    if is_pipe(text):
        copy = str(spool(text))
        source = _open_found(find_files(copy), copy, wish)
        source.title = name_pipe(text)
        return source
    return _open_found(find_files(text), text, wish)


def _refuse_no_path(text: str) -> None:
    if not text:
        raise BadFile("An empty text was given as a path: name a file, a folder or a pattern.")
    if "\0" in text:
        raise BadFile(f"{text!r}: holds a NUL, which the name of no file does; check the path.")
    if re.match(r"[a-z][a-z0-9+]+://", text, re.IGNORECASE):
        raise BadFile(f"{text}: addresses are not read; download the file first, and pass its path.")


def _open_found(found: Found, text: str, wish: Wish) -> Source:
    kind = found.kind
    if kind in (*TABLES, "tables", "zip"):
        if wish.size is not None:
            raise BadParameter(f"{text}: ", Setting("size"), " is for pictures, and this is a table; leave it out.")
        return _open_table(found, text, wish)
    stray = wish.of_tables()
    if stray:
        listed: list[Piece] = [piece for one in stray for piece in (one, ", ")][:-1]
        are = "is" if len(stray) == 1 else "are"
        raise BadParameter(
            f"{text}: ", *listed, f" {are} for tables with names of columns, and here is none; leave that out."
        )
    if wish.size is not None and kind != "pictures":
        raise BadParameter(f"{text}: ", Setting("size"), " is for pictures, and here are none; leave it out.")
    if wish.table is not None and kind in ("npy", "pictures", "plink", "texts"):
        raise BadParameter(
            f"{text}: holds nothing to choose from by name; leave ", Setting("table", wish.table), " out."
        )
    if kind == "texts":
        from lowdim.sources.formats.texts import open_texts

        return open_texts(found.paths, text, wish.selection)
    if kind == "plink":
        from lowdim.sources.genotypes.plink import open_plink

        return open_plink(found.path, wish.selection)
    if kind not in ("h5ad", "pictures") and wish.selection != Selection():
        raise BadParameter(f"{text}: an array has no names of columns to choose by; slice it yourself.")
    asked: dict[str, Any] = {
        "kind": kind,
        "text": text,
        "selection": wish.selection,
        "name": wish.table,
        "size": wish.size,
    }
    if wish.isolated != "never" and kind in ISOLATED:
        from lowdim.sources.isolated.tables import isolated_array

        return isolated_array(found.paths, **asked)
    return open_array(found.paths, **asked)


def open_array(
    paths: Sequence[Path], kind: str, text: str, selection: Selection, name: str | None, size: tuple[int, int] | None
) -> Source:
    """An array in a file, or that of many pictures, read by this process."""
    path = paths[0]
    if kind == "pictures":
        from lowdim.sources.formats.pictures import open_pictures

        return open_pictures(paths, text, selection, size)
    if kind == "h5ad":
        from lowdim.sources.formats.h5ad import open_h5ad

        return open_h5ad(path, selection, name)
    if kind == "hdf5":
        from lowdim.sources.formats.hdf5 import open_hdf5

        return open_hdf5(path, name)
    if kind == "zarr":
        from lowdim.sources.formats.zarr import open_zarr

        return open_zarr(path, name)
    from lowdim.sources.formats.numpy import open_npy, open_npz

    return open_npy(path) if kind == "npy" else open_npz(path, name)


# Tables.


def _open_table(found: Found, text: str, wish: Wish) -> Source:
    sql = _query_of(wish, text)
    if sql is None:
        return source_of(_joined(found, text, wish), wish)
    from lowdim.sources.formats.duckdb import query_database, query_parquet

    if found.kind == "duckdb":
        return source_of(TextColumnsReader(query_database(sql, found.path, wish.table), wish.missing), wish)
    several = found.kind == "parquet" and len(found.paths) > 1 and not found.folder
    reader = None if several else _joined(found, text, wish)
    if reader is None or (found.kind == "parquet" and not getattr(reader, "reads_texts", True)):
        return source_of(TextColumnsReader(query_parquet(sql, found.paths, text), wish.missing), wish)
    return source_of(_ask(reader, sql, wish), wish)


def open_reader(reader: TableReader, wish: Wish) -> Source:
    """The source of a table that is no file, after what was said of its rows and columns."""
    of_files = {
        "table": wish.table,
        "size": wish.size,
        "skip": wish.lines != Lines(),
        "isolated": wish.isolated != "auto",
    }
    for name, given in of_files.items():
        if given:
            raise BadParameter(f"{reader.name}: ", Setting(name), " is for files; leave it out.")
    read = TextColumnsReader(reader, wish.missing)
    sql = _query_of(wish, reader.name)
    return source_of(read if sql is None else _ask(read, sql, wish), wish)


def source_of(reader: TableReader, wish: Wish) -> Source:
    """The source of a table of which rows may be drawn, or which may be turned over; or of the words in a column."""
    if wish.sample is not None:
        from lowdim.sources.tables.changed import SampleReader

        reader = SampleReader(reader, wish.sample, wish.seed)
    selection = wish.selection
    if wish.transpose:
        from lowdim.sources.tables.changed import transpose

        reader, selection = transpose(reader, selection.names), replace(selection, names=None)
    if wish.text is not None:
        from lowdim.sources.formats.texts import open_text_column

        return open_text_column(reader, wish.text, selection)
    return TableSource(reader, selection)


def _query_of(wish: Wish, text: str) -> str | None:
    if wish.sql is not None and wish.where is not None:
        raise BadParameter(f"{text}: ", Setting("where"), " is part of ", Setting("sql"), "; give one of them.")
    return wish.sql if wish.where is None else f"SELECT * FROM data WHERE {wish.where}"


def _ask(reader: TableReader, sql: str, wish: Wish) -> TableReader:
    """What a query gives of a table."""
    from lowdim.sources.formats.duckdb import query_table

    asked = query_table(sql, reader)
    asked.marks = reader.marks
    return TextColumnsReader(asked, wish.missing)


def _joined(found: Found, text: str, wish: Wish) -> TableReader:
    """One table of all files."""
    if found.kind == "parquet" and found.folder:
        from lowdim.sources.formats.parquet import ParquetReader

        open_table("parquet", found.path, wish.table, wish.lines)  # refuses what is not for Parquet
        return TextColumnsReader(ParquetReader(found.paths, text), wish.missing, found.paths)
    if len(found.paths) == 1:
        table = open_table(found.kind, found.path, wish.table, wish.lines, wish.isolated)
        return TextColumnsReader(table, wish.missing, found.paths)
    from lowdim.sources.isolated.process import Child
    from lowdim.sources.tables.several import SeveralReader

    child = Child(found.paths)  # one for all that need it
    tables = [open_table(kind_of(path), path, wish.table, wish.lines, wish.isolated, child) for path in found.paths]
    return SeveralReader(
        text,
        found.paths,
        [TextColumnsReader(table, wish.missing, [path]) for table, path in zip(tables, found.paths, strict=True)],
    )
