"""What kind of data a path leads to: told by the first bytes, then by the ending; of a folder, by what is in it."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

from lowdim.errors import BadFile

# Zip archives (.npz, .xlsx) whose sizes are summed before anything is unpacked.

MOST_RATIO = 200
"""An archive that unpacks to more than so many times its size is refused."""


def refuse_bomb(path: Path) -> None:
    """Raise an error if a zip archive would unpack to far more than it is; other files pass."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > MOST_RATIO * max(path.stat().st_size, 4096):
        raise BadFile(f"{path}: unpacks to {unpacked:,} bytes, more than {MOST_RATIO} times its size; refused.")


MAGIC = {
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
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".hdf": "hdf5",
    ".h5ad": "h5ad",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".bed": "plink",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp"), "pictures"),
}

COMPRESSED = {".gz", ".zst", ".bz2"}

ZARR = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}
"""Files at the root of a zarr store."""

FOLDERS = {".txt": "texts", **{end: kind for end, kind in ENDINGS.items() if kind in ("parquet", "pictures")}}
"""Endings of files that are read together from a folder. A single .txt is a table."""


def contents_of(folder: Path) -> tuple[str, list[Path]]:
    """What a folder holds: a zarr store, Parquet files, pictures or texts, in this order, and those files."""
    if any((folder / name).is_file() for name in ZARR):
        return "zarr", [folder]
    files = [path for path in sorted(folder.rglob("*")) if not path.name.startswith(".") and path.is_file()]
    for kind in ("parquet", "pictures", "texts"):
        found = [path for path in files if FOLDERS.get(path.suffix.lower()) == kind]
        if found:
            return kind, found
    raise BadFile(f"{folder}: a folder without Parquet files, pictures or texts (.txt); pass one of those, or a file.")


def kind_of(path: Path) -> str:
    """What kind of file this is; an error if it is none that is read."""
    if not stat.S_ISREG(_about(path).st_mode):
        raise BadFile(f"{path}: not a regular file; pass a table.")
    first = first_bytes(path)
    kind = ENDINGS.get(ending_of(path), "")
    if first[8:12] == b"DUCK":
        return "duckdb"
    for magic, found in MAGIC.items():
        if first.startswith(magic):
            return kind if (kind, found) == ("h5ad", "hdf5") else found
    if first.startswith(b"PK\x03\x04") and kind not in ("npz", "excel"):
        return _kind_of_zip(path)
    if kind in (*MAGIC.values(), "h5ad", "duckdb"):
        raise BadFile(f"{path}: does not start as a {kind} file does; it is damaged, or its ending is wrong.")
    if not kind:
        raise BadFile(f"{path}: files ending in {ending_of(path) or 'nothing'} are not read; {_known()} are.")
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
    while suffixes and suffixes[-1] in COMPRESSED:
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


def _about(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise BadFile(f"{path}: {what}; check the path.") from error


def _known() -> str:
    return ", ".join(sorted(ENDINGS))
