"""Bytes of files as they are, or unpacked: gzip, bzip2, xz, zstandard, and tables in zip archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

from lowdim.errors import BadFile, SeveralTables

COMPRESSIONS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".lzma": lzma.open,
}
"""Ending → what opens a file of it."""

ENDINGS = (*COMPRESSIONS, ".zst", ".zip")

MAX_LINE = 2**24
"""Bytes, or letters, of a line of text, at most."""

LIKELY_RATIO = 4
"""How many times larger text is than what it is packed to, about."""

PACKING_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, NotImplementedError)


@contextmanager
def unpacking_errors(path: Path) -> Iterator[None]:
    """Turn what is said about a damaged file into one sentence that names it."""
    try:
        yield
    except PACKING_ERRORS as error:
        if isinstance(error, BadFile):
            raise
        said = " ".join(str(error).split())[:200]
        raise BadFile(f"{path}: cannot be read ({said}); it is damaged, or was cut off.") from error


def open_bytes(path: Path, member: str | None = None) -> IO[bytes]:
    """The bytes of a file, unpacked as its ending says; of a zip archive those of one file in it."""
    ending = path.suffix.lower()
    if ending in COMPRESSIONS:
        return io.BufferedReader(COMPRESSIONS[ending](path, "rb"))
    if ending == ".zst":
        from lowdim.sources.formats.arrow_columns import open_zstandard

        return io.BufferedReader(open_zstandard(path))
    if member is not None:
        return io.BufferedReader(_Member(path, member))
    return open(path, "rb")


def lines_of(path: Path, text: TextIO) -> Iterator[str]:
    """The lines of a text; one that has no end is an error before it fills the memory."""
    while line := text.readline(MAX_LINE):
        if len(line) == MAX_LINE and line[-1] != "\n":
            raise BadFile(f"{path}: has a line of more than {MAX_LINE:,} letters, as no table has; check what it is.")
        yield line


def likely_bytes(path: Path) -> int:
    """About the bytes of a text file once it is unpacked."""
    return path.stat().st_size * (LIKELY_RATIO if path.suffix.lower() in ENDINGS else 1)


def choose_member(path: Path, name: str | None) -> str:
    """The file in a zip archive that was named, or the only one."""
    with unpacking_errors(path), zipfile.ZipFile(path) as archive:
        there = {entry.filename: entry for entry in archive.infolist() if not _is_hidden(entry)}
    if not there:
        raise BadFile(f"{path}: a zip archive without files; a table is needed.")
    if name is not None and name not in there:
        from lowdim.sources.columns import suggest

        raise BadFile(f"{path}: there is no file {name!r} in it{suggest(name, list(there))}")
    if name is None and len(there) > 1:
        sizes = {one: f"{entry.file_size:,} bytes" for one, entry in there.items()}
        raise SeveralTables.in_file(str(path), sizes, "files")
    chosen = name or next(iter(there))
    if there[chosen].flag_bits & 1:
        raise BadFile(f"{path}: {chosen} is encrypted; unpack it first.")
    return chosen


def _is_hidden(entry: zipfile.ZipInfo) -> bool:
    parts = entry.filename.split("/")
    return entry.is_dir() or "__MACOSX" in parts or parts[-1].startswith(".")


class _Member(io.RawIOBase):
    """A file in a zip archive, which is closed with it."""

    def __init__(self, path: Path, name: str):
        self._archive = zipfile.ZipFile(path)
        self._file = self._archive.open(name)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        self._archive.close()
        super().close()
