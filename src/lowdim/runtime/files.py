"""Files that are either the old one or the new one, whole: written beside the target, then renamed over it."""

from __future__ import annotations

import io
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from lowdim.errors import CannotWrite

STALE_SECONDS = 3600.0
"""Seconds after which a temporary file of ours is what a killed process left behind."""

PART_ENDING = ".lowdim-part"

CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""How a file is made: it must not be there. Windows would else write CR LF for LF."""


_open_parts: set[Path] = set()
"""Temporary files that are being written."""


def remove_parts() -> None:
    """Remove the temporary files that are being written: for a process that ends at once."""
    for part in list(_open_parts):
        with suppress(OSError):
            part.unlink()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a file to write to, which takes the place of `path` when the block ends without an error.

    The bytes and the directory entry are forced to disk before and after the renaming, so that a crash at any moment
    leaves the old file or the new one. Permissions of a file that is replaced are kept. What the disk or the folder
    does not allow is raised as `CannotWrite`; other errors of the block pass as they are.
    """
    name = os.fspath(path)
    if "\0" in name:
        raise CannotWrite.file(repr(name), "the name of no file holds a NUL")
    target = Path(os.path.realpath(path))  # a link keeps pointing where it points
    with write_errors(name):
        mode = _find_permissions(target, name)
        remove_stale_parts(target.parent)
        temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}{PART_ENDING}")
        # a new file has the system's default permissions; a replacement is private until it has those of the old one
        handle = os.open(temporary, CREATE_FLAGS, 0o666 if mode is None else 0o600)
    _open_parts.add(temporary)
    try:
        with io.BufferedWriter(_PartFile(handle, name)) as file:
            yield file
            file.flush()
            with write_errors(name):
                if mode is not None:
                    _set_permissions(handle, temporary, mode)
                os.fsync(handle)
        with write_errors(name):
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        _open_parts.discard(temporary)
    _sync_directory(target.parent)


class _PartFile(io.FileIO):
    """A file being written that says by its final name what the disk did not allow."""

    def __init__(self, handle: int, name: str):
        super().__init__(handle, "wb")
        self._final = name

    def write(self, data: Any) -> int:
        with write_errors(self._final):
            return super().write(data)

    def close(self) -> None:
        with write_errors(self._final):  # some disks say only then that they are full
            super().close()


@contextmanager
def write_errors(name: str) -> Iterator[None]:
    """Turn what the system says into one sentence that names the file."""
    try:
        yield
    except CannotWrite:
        raise
    except OSError as error:
        raise CannotWrite.file(name, error.strerror or str(error)) from error


def _find_permissions(target: Path, name: str) -> int | None:
    """The permissions of the file that will be replaced; None if there is none."""
    try:
        about = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(about.st_mode):  # renaming over a device or a pipe would take its place
        raise CannotWrite.file(name, "it is there and no regular file")
    return about.st_mode & 0o777


def remove_stale_parts(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder more than an hour ago."""
    for left in folder.glob(f".*{PART_ENDING}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE_SECONDS:
                left.unlink()


def _sync_directory(folder: Path) -> None:
    with suppress(OSError):  # some file systems do not allow it; the renaming stands all the same
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _set_permissions(handle: int, path: Path, mode: int) -> None:
    """Set the permissions of an open file; Windows knows it by its path only."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)
    else:
        os.chmod(path, mode)
