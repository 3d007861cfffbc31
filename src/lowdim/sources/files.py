"""Paths to sources: what kind of file it is (by its first bytes, then by its ending), and who reads it."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from lowdim.errors import BadFile
from lowdim.sources.selection import Selection
from lowdim.sources.source import Source
from lowdim.sources.table import TableReader, TableSource

MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\x93NUMPY": "npy",
    b"SQLite format 3\0": "sqlite",
    b"\x89HDF\r\n\x1a\n": "hdf5",
}
"""First bytes → kind of file. They tell the truth where an ending may not."""

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".dat": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}

COMPRESSED = {".gz", ".zst", ".bz2"}


def open_path(given: str | os.PathLike[str], selection: Selection, table: str | None = None) -> Source:
    """The source behind a path: a file, a folder of Parquet files, or a pattern such as ``part-*.parquet``."""
    text = os.fspath(given)
    if re.match(r"[a-z][a-z0-9+]+://", text, re.IGNORECASE):
        raise BadFile(f"{text}: addresses are not read; download the file first, and pass its path.")
    paths = _matching(text)
    kind = kind_of(paths[0])
    if kind == "npy" or kind == "npz":
        from lowdim.sources.arrays import open_npy, open_npz

        _only_one(paths, text)
        return open_npy(paths[0]) if kind == "npy" else open_npz(paths[0], table)
    return TableSource(_reader(kind, paths, text, table), selection)


def kind_of(path: Path) -> str:
    """What kind of file this is; an error if it is none that is read."""
    about = _about(path)
    if stat.S_ISDIR(about.st_mode):
        raise BadFile(f"{path}: a folder without .parquet files; pass a file, or a folder of Parquet files.")
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISFIFO(about.st_mode):
        raise BadFile(f"{path}: not a regular file; pass a table.")
    try:
        with open(path, "rb") as file:
            first = file.read(16)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    if not first:
        raise BadFile(f"{path}: empty; a table with at least one row is needed.")
    for magic, kind in MAGIC.items():
        if first.startswith(magic):
            return kind
    kind = ENDINGS.get(_ending(path), "")
    if first.startswith(b"PK\x03\x04") and kind not in ("npz", "excel"):
        raise BadFile(f"{path}: a zip archive; name it .npz or .xlsx if it is one, or unpack it first.")
    if kind in MAGIC.values():
        raise BadFile(f"{path}: does not start as a {kind} file does; it is damaged, or its ending is wrong.")
    if not kind:
        raise BadFile(f"{path}: files ending in {_ending(path) or 'nothing'} are not read; {_known()} are.")
    return kind


def _reader(kind: str, paths: Sequence[Path], text: str, table: str | None) -> TableReader:
    if kind == "parquet":
        from lowdim.sources.arrow import ParquetReader

        return ParquetReader(paths, text)
    _only_one(paths, text)
    return _single(kind)(paths[0], table)


def _single(kind: str) -> Callable[[Path, str | None], TableReader]:
    if kind == "sqlite":
        from lowdim.sources.sqlite import SqliteReader

        return SqliteReader
    if kind == "excel":
        from lowdim.sources.excel import ExcelReader

        return ExcelReader
    if kind in ("csv", "tsv", "feather", "jsonl"):
        from lowdim.sources import arrow

        makers: dict[str, Callable[[Path, str | None], TableReader]] = {
            "csv": lambda path, _: arrow.CsvReader(path),
            "tsv": lambda path, _: arrow.CsvReader(path, "\t"),
            "feather": lambda path, _: arrow.FeatherReader(path),
            "jsonl": lambda path, _: arrow.JsonLinesReader(path),
        }
        return makers[kind]
    raise BadFile(f"Files of kind {kind} are not read yet; {_known()} are.")


def _matching(text: str) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        inside = sorted(path.rglob("*.parquet"))
        return inside or [path]
    if path.exists() or not glob.has_magic(text):
        return [path]
    found = sorted(map(Path, glob.glob(text, recursive=True)))
    if not found:
        raise BadFile(f"{text}: no file matches this pattern; check it.")
    return found


def _about(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise BadFile(f"{path}: {what}; check the path.") from error


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _only_one(paths: Sequence[Path], text: str) -> None:
    if len(paths) > 1:
        raise BadFile(f"{text}: {len(paths)} files match, but only Parquet files are read together; name one of them.")


def _known() -> str:
    return ", ".join(sorted(ENDINGS))
