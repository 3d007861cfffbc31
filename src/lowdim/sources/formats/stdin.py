"""Standard input and other pipes: copied to a private file first, so that every solver can read them again.

The copy takes as much room in the folder for temporary files as came in; it is deleted when the program ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
import threading
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from lowdim.errors import BadFile
from lowdim.sources.formats.packed import open_bytes, unpacking_errors

STDIN = "-"

COMPRESSIONS = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"BZh": ".bz2", b"\xfd7zXZ": ".xz"}
"""First bytes of compressed texts → ending."""

ARCHIVES = {"xl/workbook.xml": ".xlsx", "xl/workbook.bin": ".xlsb", "mimetype": ".ods", "zarr.json": ".zarr.zip"}
"""A file in a zip archive that tells what it is → ending. An archive of arrays holds files called .npy."""


PIPE_NAMES: dict[str, str] = {}
"""Path of the copy of a pipe → the pipe as its user knows it."""


def is_pipe(text: str) -> bool:
    """Whether this is standard input, or a path that can be read only once, such as the shell's <(…)."""
    try:
        return text == STDIN or stat.S_ISFIFO(Path(text).stat().st_mode)
    except (OSError, ValueError):
        return False


def spool(text: str) -> Path:
    """A private copy of what comes through the pipe, with the ending of what it is."""
    folder = Path(tempfile.mkdtemp(prefix="lowdim-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "standard-input"
    try:
        if text == STDIN:
            _copy(getattr(sys.stdin, "buffer", None), copy)
        else:
            with open(_open_pipe(text), "rb") as pipe:
                _copy(pipe, copy)
    except OSError as error:
        raise BadFile(f"{name_pipe(text)}: cannot be copied to {folder} ({error}); check the room there.") from error
    if not copy.stat().st_size:
        raise BadFile(f"{name_pipe(text)}: empty; a table with at least one row is needed.")
    copy = copy.rename(copy.with_name(copy.name + _detect_ending(copy)))
    PIPE_NAMES[str(copy)] = name_pipe(text)
    return copy


WAITING = 30
"""Seconds in which something must have opened a pipe to write into it. What it writes then may take its time."""


def _open_pipe(text: str) -> int:
    """The descriptor of a pipe, whose opening waits until something writes into it."""
    opened: list[int] = []
    opening = threading.Thread(target=lambda: opened.append(os.open(text, os.O_RDONLY)), daemon=True)
    opening.start()
    opening.join(WAITING)
    if not opened:
        with suppress(OSError):  # by which the thread comes to its end
            os.close(os.open(text, os.O_WRONLY | os.O_NONBLOCK))
        opening.join(1)
        for descriptor in opened:
            os.close(descriptor)
        raise BadFile(
            f"{text}: a pipe into which nothing was written in {WAITING:g} seconds; start what writes into it first, "
            "or pass a file."
        )
    return opened[0]


def name_pipe(text: str) -> str:
    """A pipe as its user knows it."""
    return "standard input" if text == STDIN else text


def _copy(pipe: IO[bytes] | None, to: Path) -> None:
    if pipe is None or pipe.closed:
        raise BadFile("standard input: closed; pipe a table into it, or pass a path.")
    with open(to, "xb") as file:
        shutil.copyfileobj(pipe, file, 2**20)


def _detect_ending(path: Path) -> str:
    """The ending that distinguishes text files and archives; other kinds are recognised by their first bytes."""
    with open(path, "rb") as file:
        first = file.read(16)
    if first.startswith(b"PK\x03\x04"):
        return _ending_of_zip(path)
    packed = next((ending for magic, ending in COMPRESSIONS.items() if first.startswith(magic)), "")
    if not packed:
        return _ending_of_text(first)
    named = path.rename(path.with_name(path.name + packed))
    try:
        with unpacking_errors(named), open_bytes(named) as file:
            return _ending_of_text(file.read(16)) + packed
    finally:
        named.rename(path)


def _ending_of_text(first: bytes) -> str:
    return ".json" if first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")) else ".csv"


def _ending_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            inside = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        inside = []
    arrays = ".npz" if any(name.endswith(".npy") for name in inside) else ".zip"
    return next((ending for name, ending in ARCHIVES.items() if name in inside), arrays)
