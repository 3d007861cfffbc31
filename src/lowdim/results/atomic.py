"""Files that are either the old one or the new one, whole: written beside the target, then renamed over it."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

STALE = 3600.0
"""Seconds after which a temporary file of ours is what a killed process left behind."""

MARK = ".lowdim-part"


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a file to write to, which takes the place of `path` when the block ends without an error.

    The bytes and the directory entry are forced to disk before and after the renaming, so that a crash at any moment
    leaves the old file or the new one. Permissions of a file that is replaced are kept.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing where it points
    sweep(target.parent)
    temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}{MARK}")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(target.parent)


def sweep(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder more than an hour ago."""
    for left in folder.glob(f".*{MARK}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE:
                left.unlink()


def _sync_directory(folder: Path) -> None:
    with suppress(OSError):  # some file systems do not allow it; the renaming stands all the same
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
