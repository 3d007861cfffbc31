"""Long reads of a file; of a large one on a fast disk past the page cache.

On Linux a cold read through the page cache costs a core about a second for each gigabyte, in which it cannot multiply;
reading directly into our own memory costs a fifth of that. A slow disk hides that cost, and there the cache is worth
having for those who read the file again.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadFile
from lowdim.runtime.machine import READ_ONLY, read_at
from lowdim.runtime.memory import left_memory

PAGE_BYTES = 4096
"""Direct reads begin and end at multiples of this, in the file and in memory."""

MIN_DIRECT_SPEED = 2.5e8
"""Bytes a second from which a disk is read directly."""

TRIAL_BYTES = 2**23
"""Bytes of the first reads, which tell how fast a disk is."""

MAX_CACHED_PART = 8
"""A file of at most one part in so many of the free memory goes through the page cache, where others find it again."""


class LongReads:
    """A file that is read in long stretches."""

    def __init__(self, path: Path):
        self._path = path
        self._direct: int | None = None
        self._place = 0
        self.closed = False
        self._bytes, self._seconds = 0, 0.0

    def __enter__(self) -> Self:
        try:
            self._plain = os.open(self._path, READ_ONLY)
        except OSError as error:
            raise BadFile(f"{self._path}: cannot be read ({error.strerror}); check the file.") from error
        self.written = when_written(os.fstat(self._plain))
        large = MAX_CACHED_PART * os.fstat(self._plain).st_size > left_memory()
        if large and hasattr(os, "O_DIRECT") and hasattr(os, "preadv"):
            with contextlib.suppress(OSError):  # file systems without direct reads say so here
                self._direct = os.open(self._path, READ_ONLY | os.O_DIRECT)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._plain)
        if self._direct is not None:
            os.close(self._direct)

    def read_at(self, start: int, length: int) -> NDArray[np.uint8]:
        """(length,) bytes of the file from `start` on."""
        first = start - start % PAGE_BYTES
        wanted = start - first + length
        buffer = _allocate(-(-wanted // PAGE_BYTES) * PAGE_BYTES)
        done = self._read_directly(buffer, first, wanted) if self._direct is not None else 0
        try:
            done += _fill(self._plain, buffer[done:wanted], first + done, wanted - done)
        except OSError as error:
            raise BadFile(f"{self._path}: cannot be read ({error.strerror}); check the disk.") from error
        if done < wanted:
            raise BadFile(f"{self._path}: ended {wanted - done:,} bytes early; it was cut while it was read.")
        return buffer[start - first : wanted]

    # -- what Arrow asks of a file --------------------------------------------------------------------------------

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place; gives its distance from the beginning."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: os.fstat(self._plain).st_size}[whence]
        self._place = base + offset
        return self._place

    def tell(self) -> int:
        """The place that will be read next."""
        return self._place

    def read(self, length: int = -1) -> memoryview:
        """Up to so many bytes from the place on."""
        left = max(0, os.fstat(self._plain).st_size - self._place)
        length = left if length < 0 else min(length, left)
        found = self.read_at(self._place, length).data
        self._place += length
        return found

    def close(self) -> None:
        """Leave it open: the block that opened it closes it."""

    # -- inside ---------------------------------------------------------------------------------------------------

    def _read_directly(self, buffer: NDArray[np.uint8], start: int, wanted: int) -> int:
        """Fill a buffer past the page cache; the first few megabytes show whether the disk is fast enough for that.

        Only those are timed: later reads wait for a core as well. What cannot be read so is left to the plain way.
        """
        assert self._direct is not None
        began = time.perf_counter()
        try:
            done = _fill(self._direct, buffer, start, wanted)
        except OSError:
            self._stop_direct_reads()
            return 0
        if self._bytes < TRIAL_BYTES:
            self._bytes += done
            self._seconds += time.perf_counter() - began
            if self._bytes >= TRIAL_BYTES and self._bytes < MIN_DIRECT_SPEED * self._seconds:
                self._stop_direct_reads()
        return done

    def _stop_direct_reads(self) -> None:
        assert self._direct is not None
        os.close(self._direct)
        self._direct = None


def when_written(about: os.stat_result) -> tuple[int, ...]:
    """Which file it is and when it was written: another file of the same name, or a changed one, has others."""
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _fill(file: int, buffer: NDArray[np.uint8], start: int, wanted: int) -> int:
    """Read into a buffer until so many bytes are there, or the file ends; gives their number."""
    done = 0
    while done < wanted:
        got = read_at(file, buffer[done:], start + done)
        if not got:
            break
        done += got
    return min(done, wanted)


def _allocate(length: int) -> NDArray[np.uint8]:
    """Memory that begins at a page."""
    memory = np.empty(length + PAGE_BYTES, dtype=np.uint8)
    shift = -memory.ctypes.data % PAGE_BYTES
    return memory[shift : shift + length]
