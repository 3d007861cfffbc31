"""What kind of data a path leads to, by the first bytes, then the ending, and which reader opens a table."""

from __future__ import annotations

import errno
import glob
import os
import stat
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lowdim.errors import BadFile, BadParameter, Setting
from lowdim.sources.formats.packed import ENDINGS as PACKED
from lowdim.sources.formats.packed import PACKING_ERRORS, choose_member
from lowdim.sources.tables.layout import Lines

if TYPE_CHECKING:
    from lowdim.sources.isolated.process import Child, Isolated
    from lowdim.sources.tables.table import TableReader

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
        "csv": ".csv .txt .dat .data .asc .prn",
        "tsv": ".tsv .tab",
        "parquet": ".parquet .pq",
        "feather": ".feather .arrow .ipc",
        "json": ".json .jsonl .ndjson",
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

WHAT_IS_READ = (
    "text tables (.csv, .tsv, .txt, .dat), JSON (.json, .jsonl), both also packed (.gz, .xz, .bz2, .zst, .zip), "
    "Parquet, Feather, workbooks (.xlsx, .ods), databases (.sqlite, .duckdb), arrays (.npy, .npz, .h5, .zarr, .h5ad), "
    "genotypes (.bed) and pictures (.png, .jpg, .tif)"
)

ISOLATED = ("excel", "json", "feather", "sqlite", "hdf5", "h5ad", "zarr", "pictures")
"""Kinds of files whose parsers can be killed or exhausted by a file: unless it is said otherwise a child reads them."""

ARRAYS = ("npy", "npz", "hdf5", "zarr")
"""Kinds of files whose columns have no names."""

TEXT_TABLES = ("csv", "tsv")
"""Kinds of files that are lines of text."""

SEVERAL_TABLES = ("duckdb", "sqlite", "excel")
"""Kinds of files that hold several tables."""

TABLES = (*TEXT_TABLES, *SEVERAL_TABLES, "parquet", "feather", "json")
"""Kinds of files that are tables, of which several can be read as one."""

ZARR = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}
"""Files at the root of a zarr store."""

READ_FROM_FOLDERS = {".txt": "texts", **{end: kind for end, kind in ENDINGS.items() if kind in ("parquet", "pictures")}}
"""Endings of files that are read together from a folder. A single .txt is a table."""


@dataclass(frozen=True)
class Found:
    """What a path or a pattern leads to."""

    kind: str
    """Of all files, or "tables" where they are tables of several kinds."""
    paths: tuple[Path, ...]
    folder: bool = False
    """Whether they lie in a folder that was named as a whole."""

    @property
    def path(self) -> Path:
        """The first file."""
        return self.paths[0]


def find_files(given: str | Sequence[str]) -> Found:
    """The kind of data behind a path or pattern, or several of them, and the files that hold them."""
    if not isinstance(given, str):
        return _join_files([find_files(one) for one in given], ", ".join(given))
    path = Path(given)
    _refuse_long(path)
    if path.is_dir():
        kind, found = list_folder(path)
        return Found(kind, tuple(found), folder=kind != "zarr")
    if path.exists() or not glob.has_magic(given):
        return Found(kind_of(path), (path,))
    matches = sorted(map(Path, glob.glob(given, recursive=True)))
    if not matches:
        raise BadFile(f"{given}: no file matches this pattern; check it.")
    return _join_files([Found(kind_of(match), (match,)) for match in matches], given)


def _join_files(found: Sequence[Found], where: str) -> Found:
    """Several files as one, if they can be read together."""
    if len(found) == 1:
        return found[0]
    paths = tuple(path for one in found for path in one.paths)
    kinds = {one.kind for one in found}
    if kinds == {"parquet"} or kinds == {"pictures"}:
        return Found(kinds.pop(), paths)
    for one in found:
        if one.kind not in TABLES:
            raise BadFile(
                f"{where}: {one.path} is no table ({one.kind}), and only tables, or pictures, are read together; name "
                "it alone."
            )
    return Found("tables", paths)


def list_folder(folder: Path) -> tuple[str, list[Path]]:
    """What a folder holds: a zarr store, Parquet files, pictures or texts, in this order, and those files."""
    if any((folder / name).is_file() for name in ZARR):
        return "zarr", [folder]
    files = sorted(_walk(folder))
    for kind in ("parquet", "pictures", "texts"):
        found = [path for path in files if READ_FROM_FOLDERS.get(path.suffix.lower()) == kind]
        if found:
            return kind, found
    tables = next((path for path in files if ENDINGS.get(ending_of(path)) in TABLES), None)
    hint = f", or several tables by a pattern, as {folder}/*{tables.suffix}" if tables is not None else ""
    raise BadFile(
        f"{folder}: a folder without Parquet files, pictures or texts (.txt); pass one of those, a file{hint}."
    )


DEEPEST = 100
"""Folders within folders that are looked into; nobody keeps data so deep, and paths end at some length."""


def _walk(folder: Path) -> Iterator[Path]:
    """All files below a folder but hidden ones, in no order. Links to folders are not followed."""
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        if depth > DEEPEST:
            raise BadFile(
                f"{folder}: more than {DEEPEST} folders lie in each other; pass the one that holds the files."
            )
        try:
            entries = list(os.scandir(here))
        except OSError as error:
            raise BadFile(f"{here}: cannot be read ({error.strerror}); check its permissions.") from error
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append((here / entry.name, depth + 1))
            elif not entry.name.startswith(".") and entry.is_file():
                yield here / entry.name


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
        raise BadFile(f"{path}: files ending in {ending_of(path) or 'nothing'} are not read; read are {WHAT_IS_READ}.")
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


def ending_of(path: Path | str) -> str:
    """The ending that says what the file holds, in small letters; that of a compression is passed over."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _kind_of_zip(path: Path) -> str:
    """What a zip archive is, or what is in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = archive.namelist()
    except (*PACKING_ERRORS, ValueError) as error:
        raise BadFile(f"{path}: starts as a zip archive, but is none ({error}); it is damaged.") from error
    if set(inside) & ZARR:
        return "zarr"
    if "xl/workbook.xml" in inside or any(name.endswith(".npy") for name in inside):
        raise BadFile(f"{path}: a zip archive; name it .npz or .xlsx if it is one, or unpack it first.")
    kinds = {ENDINGS.get(ending_of(name), "") for name in inside if not name.endswith("/") and "__MACOSX" not in name}
    kinds &= {*TEXT_TABLES, "json"}
    if not kinds:
        raise BadFile(f"{path}: a zip archive without a text table or JSON in it; unpack it first.")
    return "zip"


def _refuse_long(path: Path) -> None:
    """Raise an error for a name longer than those of files, of which Python would ask the system in vain."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise BadFile(f"{str(path)[:60]}…: {error.strerror}; check the path.") from error


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise BadFile(f"{path}: {what}; check the path.") from error


def is_isolated(kind: str, isolated: Isolated) -> bool:
    """Whether files of this kind are read by a child."""
    return isolated == "always" or (isolated == "auto" and kind in ISOLATED)


def open_table(
    kind: str,
    path: Path,
    table: str | None,
    lines: Lines,
    isolated: Isolated = "auto",
    child: Child | None = None,
) -> TableReader:
    """The reader of a table in a file; `table` chooses among several in it, the child reads it if one is to."""
    member, asked = None, kind
    if kind == "zip":
        member = choose_member(path, table)
        kind = ENDINGS.get(ending_of(member), "")
    if is_isolated(kind, isolated):
        from lowdim.sources.isolated.tables import IsolatedReader

        return IsolatedReader(child, asked, path, table, lines)
    if member is None and table is not None and kind not in SEVERAL_TABLES:
        raise BadParameter(f"{path}: holds a single table; leave ", Setting("table", table), " out.")
    if lines != Lines() and kind not in (*TEXT_TABLES, "excel"):
        raise BadParameter(
            f"{path}: ", Setting("skip"), ", ", Setting("header"), ", ", Setting("comment"), " and ", Setting("range"),
            " are for text tables and workbooks, whose lines may be anything; leave them out."
        )  # fmt: skip
    if kind in TEXT_TABLES:
        from lowdim.sources.formats.text_tables import open_text_table

        return open_text_table(path, lines, "\t" if kind == "tsv" else "", member)
    if kind == "json":
        from lowdim.sources.formats.json_tables import open_json

        return open_json(path, member)
    if kind == "sqlite":
        from lowdim.sources.formats.sqlite import SqliteReader

        return SqliteReader(path, table)
    if kind == "duckdb":
        from lowdim.sources.formats.duckdb import database_table

        return database_table(path, table)
    if kind == "excel":
        from lowdim.sources.formats.excel import open_workbook

        return open_workbook(path, table, lines)
    if kind not in ("feather", "parquet"):
        raise BadFile(f"{path}: {member or 'it'} is no table that is read; read are {WHAT_IS_READ}.")
    if kind == "feather":
        from lowdim.sources.formats.arrow import FeatherReader

        return FeatherReader(path)
    from lowdim.sources.formats.parquet import ParquetReader

    return ParquetReader([path], str(path))
