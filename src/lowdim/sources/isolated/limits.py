"""What a child may take: memory, processor time, files; no network. Every line says what holds on which system.

A process that reads a file needs little: to read, to compute, to hand numbers on through memory that was given to it.
The limits are set by the child itself, before it opens the file, and but for those of memory and time, which are for
one file and one answer, cannot be raised again.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
from dataclasses import dataclass
from typing import Any

BASE_BYTES, BYTES_PER_BYTE = 2**28, 64
"""Memory for any file, beside the code that reads it, and for each of its bytes: sheets take about 20 times theirs."""

BASE_SECONDS, BYTES_PER_SECOND = 10, 10**6
"""Seconds of the processor for one answer (opening the file, a block of rows), and bytes of the file for one more."""

WAITS = 12
"""How many times as long an answer may take by the clock: a disk may be slow, and others may want the processor too."""

OPEN_FILES = 256


@dataclass(frozen=True)
class Limits:
    """What reading a file may take."""

    memory: int
    """Bytes of address space beside the code that is loaded."""
    seconds: int
    """Of the processor, for one answer."""

    @classmethod
    def of(cls, size: int, free: int) -> Limits:
        """For files of so many bytes in all, where so much memory is free."""
        memory = min(BASE_BYTES + BYTES_PER_BYTE * size, max(free, BASE_BYTES))
        return cls(memory, BASE_SECONDS + size // BYTES_PER_SECOND)

    @property
    def waiting(self) -> int:
        """Seconds by the clock after which no answer is waited for."""
        return WAITS * self.seconds


def end_with_parent(lifeline: int) -> None:
    """Have the system end this process once the other end of a pipe that nobody writes to is closed.

    Also in the middle of a loop in C that never comes back to Python: the signal ends it. Where there is no such signal
    (Windows), a child whose parent was killed ends when it next asks for work.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def limit_memory(limits: Limits | None) -> None:
    """Take no more memory than this beside what is there now, or as much as will be (Linux alone)."""
    resource = _resource()
    if resource is None or not hasattr(resource, "RLIMIT_AS"):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = hard if limits is None else _address_space() + limits.memory
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def limit_files() -> None:
    """Open few files, write none, and leave no image of the memory."""
    resource = _resource()
    if resource is None:
        return
    for name, most in (
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
    ):
        _lower(resource, name, most)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error of the system instead, as of a full disk


def allow_seconds(seconds: int) -> None:
    """So many more seconds of the processor, at the end of which the system ends the process."""
    resource = _resource()
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soon = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soon if hard == resource.RLIM_INFINITY else min(soon, hard), hard))


def _address_space() -> int:
    """Bytes of addresses that this process uses now; without a limit where that is not known (all but Linux)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 2**50


def _lower(resource: Any, name: str, most: int) -> None:
    kind = getattr(resource, name, None)
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some
        resource.setrlimit(kind, (most, most))


def _resource() -> Any:
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource
