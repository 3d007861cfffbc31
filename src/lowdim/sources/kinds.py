"""What kind of data a path leads to, by the first bytes, then the ending, and which reader opens it."""

from __future__ import annotations

import glob
import os
import stat
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lowdim.errors import BadFile
from lowdim.sources.formats.table import TableReader

FIRST_BYTES = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\xff\xff\xff\xff": "feather",
    b"\x93NUMPY": "npy",
    b"SQLite format 3\0": "sqlite",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"\x6c\x1b\x01": "plink",
}
"""First bytes → kind of file. They tell the truth where an ending may not."""

ENDINGS = {
    ending: kind
    for kind, endings in {
        "csv": ".csv .txt .dat",
        "tsv": ".tsv .tab",
        "parquet": ".parquet .pq",
        "feather": ".feather .arrow .ipc",
        "jsonl": ".jsonl .ndjson",
        "npy": ".npy",
        "npz": ".npz",
        "hdf5": ".h5 .hdf5 .hdf",
        "h5ad": ".h5ad",
        "excel": ".xlsx .xls .xlsb .ods",
        "sqlite": ".sqlite .sqlite3 .db",
        "plink": ".bed",
        "duckdb": ".duckdb .ddb",
        "pictures": ".png .jpg .jpeg .tif .tiff .bmp .gif .webp",
    }.items()
    for ending in endings.split()
}

COMPRESSIONS = {".gz", ".zst", ".bz2"}

ARRAYS = ("npy", "npz", "hdf5", "zarr")
"""Kinds of files whose columns have no names."""

SEVERAL_TABLES = ("duckdb", "sqlite", "excel")
"""Kinds of files that hold several tables. In others that are tables, `table` names a column of texts."""

ZARR = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}
"""Files at the root of a zarr store."""

READ_FROM_FOLDERS = {".txt": "texts", **{end: kind for end, kind in ENDINGS.items() if kind in ("parquet", "pictures")}}
"""Endings of files that are read together from a folder. A single .txt is a table."""


def find_files(text: str) -> tuple[str, Sequence[Path]]:
    """The kind of data behind a path or pattern, and the files that hold them."""
    path = Path(text)
    if path.is_dir():
        return list_folder(path)
    if path.exists() or not glob.has_magic(text):
        return kind_of(path), [path]
    found = sorted(map(Path, glob.glob(text, recursive=True)))
    if not found:
        raise BadFile(f"{text}: no file matches this pattern; check it.")
    return kind_of(found[0]), found


def list_folder(folder: Path) -> tuple[str, list[Path]]:
    """What a folder holds: a zarr store, Parquet files, pictures or texts, in this order, and those files."""
    if any((folder / name).is_file() for name in ZARR):
        return "zarr", [folder]
    files = [path for path in sorted(folder.rglob("*")) if not path.name.startswith(".") and path.is_file()]
    for kind in ("parquet", "pictures", "texts"):
        found = [path for path in files if READ_FROM_FOLDERS.get(path.suffix.lower()) == kind]
        if found:
            return kind, found
    raise BadFile(f"{folder}: a folder without Parquet files, pictures or texts (.txt); pass one of those, or a file.")


def kind_of(path: Path) -> str:
    """What kind of file this is; an error if it is none that is read."""
    if not stat.S_ISREG(_stat(path).st_mode):
        raise BadFile(f"{path}: not a regular file; pass a table.")
    first = first_bytes(path)
    kind = ENDINGS.get(ending_of(path), "")
    if first[8:12] == b"DUCK":
        return "duckdb"
    for magic, found in FIRST_BYTES.items():
        if first.startswith(magic):
            return kind if (kind, found) == ("h5ad", "hdf5") else found
    if first.startswith(b"PK\x03\x04") and kind not in ("npz", "excel"):
        return _kind_of_zip(path)
    if kind in (*FIRST_BYTES.values(), "h5ad", "duckdb"):
        raise BadFile(f"{path}: does not start as a {kind} file does; it is damaged, or its ending is wrong.")
    if not kind:
        raise BadFile(f"{path}: files ending in {ending_of(path) or 'nothing'} are not read; {_list_endings()} are.")
    return kind


def first_bytes(path: Path) -> bytes:
    """The first 16 bytes of a file, which must not be empty."""
    try:
        with open(path, "rb") as file:
            first = file.read(16)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    if not first:
        raise BadFile(f"{path}: empty; a table with at least one row is needed.")
    return first


def ending_of(path: Path) -> str:
    """The ending that says what the file holds, in small letters; that of a compression is passed over."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _kind_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            inside = set(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise BadFile(f"{path}: starts as a zip archive, but is none ({error}); it is damaged.") from error
    if inside & ZARR:
        return "zarr"
    raise BadFile(f"{path}: a zip archive; name it .npz or .xlsx if it is one, or unpack it first.")


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise BadFile(f"{path}: {what}; check the path.") from error


def _list_endings() -> str:
    return ", ".join(sorted(ENDINGS))


def open_table(kind: str, paths: Sequence[Path], text: str, table: str | None) -> TableReader:
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
