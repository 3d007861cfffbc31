"""What systems do not have in common: how much memory there is, giving up rights, and reading a file at a place.

Linux says it in /proc, and containers in /sys/fs/cgroup; macOS and Windows are asked through psutil where it is
installed, otherwise by their own calls. Other systems need psutil.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

from lowdim.errors import TooLarge

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

SYSTEM: str = sys.platform
"""As a plain text: a type checker would take what other systems need for unreachable."""

READ_ONLY = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""How files of numbers are opened: Windows would else take CR LF for LF, and byte 26 for the end."""

# -- memory -----------------------------------------------------------------------------------------------------------


def held_bytes() -> int | None:
    """Bytes that this process holds in memory now; None where the system does not say."""
    if SYSTEM == "linux":
        return _read_kilobytes(PROC / "self" / "status", "VmRSS")
    psutil = _psutil()
    if psutil is not None:
        return int(psutil.Process().memory_info().rss)
    if SYSTEM == "darwin":
        return _held_on_macos()
    return _held_on_windows() if SYSTEM == "win32" else None


def free_bytes() -> int | None:
    """Available memory in bytes, without swapping, of the machine and its container; None where it is not known."""
    if SYSTEM == "linux":
        known = [_read_kilobytes(PROC / "meminfo", "MemAvailable"), *map(_left_in_group, _limited_groups())]
        known += _left_of_limits()
        said = [left for left in known if left is not None]
        return min(said) if said else None
    psutil = _psutil()
    if psutil is not None:
        return int(psutil.virtual_memory().available)
    if SYSTEM == "darwin":
        return _free_on_macos()
    return _free_on_windows() if SYSTEM == "win32" else None


LIMITS = (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData"))
"""Limits of a process (setrlimit(2)), as `ulimit -v` and `ulimit -d` set them → what /proc says of it to count."""


LIBRARIES_TO_LOAD, EACH_THREAD = 800_000_000, 150_000_000
"""Addresses that NumPy, SciPy, Arrow and scikit-learn take once they are loaded, and those of each thread: its stack,
its heap, and buffers in two copies of OpenBLAS. Measured, and rounded up: below, OpenBLAS ends the process or waits for
ever, and what can be raised is an ImportError."""


def refuse_tight() -> None:
    """Raise an error before libraries are loaded that would not survive it, if limits leave too few addresses."""
    left = _left_of_limits()
    if not left or "scipy.linalg" in sys.modules:
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # its own allocator reserves what is left of addresses
    least, threads = LIBRARIES_TO_LOAD + EACH_THREAD, _threads_to_start()
    needed = LIBRARIES_TO_LOAD + threads * EACH_THREAD
    if min(left) < needed:
        fewer = f", or set OPENBLAS_NUM_THREADS=1, for which {least // 10**6:,} MB are enough" if threads > 1 else ""
        raise TooLarge(
            f"The limit of this process's addresses (ulimit -v or -d) leaves {min(left) // 10**6:,} MB, and lowdim "
            f"with NumPy and SciPy takes {needed // 10**6:,} MB on {threads} threads: raise it{fewer}."
        )


def _threads_to_start() -> int:
    """Threads that OpenBLAS will start when it is loaded."""
    asked = (os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return min(cores, next((int(number) for number in asked if number.isdecimal() and int(number)), cores))


def _left_of_limits() -> list[int]:
    """Bytes of addresses that limits of this process still leave, for each limit that is set."""
    if SYSTEM != "linux":
        return []
    import resource

    found = []
    for name, counted in LIMITS:
        most = resource.getrlimit(getattr(resource, name))[0]
        used = None if most == resource.RLIM_INFINITY else _read_kilobytes(PROC / "self" / "status", counted)
        if used is not None:
            found.append(max(0, most - used))
    return found


LACKING = ("can't start new thread", "failed to map segment", "Cannot allocate memory", "not enough memory")
"""What Python, the loader of libraries, the system and PyTorch say then, in errors of any class."""


def is_lack(error: BaseException) -> bool:
    """Whether an error says that memory, or the addresses for a thread, cannot be had."""
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    said = isinstance(error, (RuntimeError, ImportError, OSError)) and any(words in str(error) for words in LACKING)
    return isinstance(error, MemoryError) or said


def trim_heap() -> None:
    """Have the C library return freed memory to the system, where it keeps some: glibc's malloc_trim(3)."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if SYSTEM == "linux" else None


def _psutil() -> Any:
    try:
        import psutil
    except ImportError:
        return None
    return psutil


def _read_kilobytes(path: Path, name: str) -> int | None:
    """A line such as "VmRSS:  1234 kB", in bytes."""
    try:
        with open(path, "rb", buffering=0) as file:  # a decoder takes as long as the system does to write it
            _, found, rest = (b"\n" + file.read()).partition(f"\n{name}:".encode())
    except OSError:
        return None
    return int(rest.split(maxsplit=1)[0]) * 1024 if found else None


# A container is a control group: it and all that it lies in may have a limit. Version 2 has one tree of groups, version
# 1 one for memory alone, with other names (Linux, Documentation/admin-guide: cgroup-v2.rst, cgroup-v1/memory.rst).
CGROUP_FILES = {
    "memory.max": ("memory.current", "inactive_file"),
    "memory.limit_in_bytes": ("memory.usage_in_bytes", "total_inactive_file"),
}
"""File of the limit → file of what is used, and what of it is a cache of files that can be dropped."""


@cache
def _limited_groups() -> tuple[Path, ...]:
    """Files with a limit of memory that this process is under; they are looked for once."""
    try:
        lines = (PROC / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        _, kinds, place = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        root, file = (CGROUPS / "memory", "memory.limit_in_bytes") if kinds else (CGROUPS, "memory.max")
        group = Path(place.lstrip("/"))
        # inside a container the path may be that of the host, of which only the root is seen
        for folder in (root / group, *(root / parent for parent in group.parents), root):
            if _read_limit(folder / file) is not None and folder / file not in found:
                found.append(folder / file)
    return tuple(found)


def _left_in_group(limit: Path) -> int | None:
    """Bytes that a group may still take: its limit less what it holds, caches of files aside."""
    usage, cached = CGROUP_FILES[limit.name]
    most, used = _read_limit(limit), _read_number(limit.with_name(usage))
    if most is None or used is None:
        return None
    try:
        stat = dict(line.split(maxsplit=1) for line in limit.with_name("memory.stat").read_text().splitlines())
    except OSError:
        stat = {}
    return max(0, most - used + min(used, int(stat.get(cached, 0))))


def _read_limit(path: Path) -> int | None:
    """A limit in bytes; version 1 says by a huge number that there is none."""
    most = _read_number(path)
    return None if most is None or most >= 2**60 else most


def _read_number(path: Path) -> int | None:
    """What a file holds, if that is a number and not "max"."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


# -- macOS: <mach/task_info.h> and <mach/vm_statistics.h> --------------------------------------------------------------


class TaskInfo(ctypes.Structure):
    """mach_task_basic_info."""

    _fields_ = (
        ("virtual_size", ctypes.c_uint64),
        ("resident_size", ctypes.c_uint64),
        ("resident_size_max", ctypes.c_uint64),
        ("times", ctypes.c_int32 * 4),
        ("policy", ctypes.c_int32),
        ("suspend_count", ctypes.c_int32),
    )


class VmStatistics(ctypes.Structure):
    """vm_statistics64: pages."""

    _fields_ = (
        ("free_count", ctypes.c_uint32),
        ("active_count", ctypes.c_uint32),
        ("inactive_count", ctypes.c_uint32),
        ("wire_count", ctypes.c_uint32),
        ("events", ctypes.c_uint64 * 9),
        ("purgeable_count", ctypes.c_uint32),
        ("speculative_count", ctypes.c_uint32),
        ("swapping", ctypes.c_uint64 * 4),
        ("compressed", ctypes.c_uint32 * 4),
        ("uncompressed", ctypes.c_uint64),
    )


MACH_TASK_BASIC_INFO, HOST_VM_INFO64 = 20, 4


def _held_on_macos() -> int | None:
    system, info = _load_library("/usr/lib/libSystem.dylib"), TaskInfo()
    task = ctypes.c_uint32.in_dll(system, "mach_task_self_")
    return int(info.resident_size) if _fill_record(system.task_info, task, MACH_TASK_BASIC_INFO, info) else None


def _free_on_macos() -> int | None:
    system, info = _load_library("/usr/lib/libSystem.dylib"), VmStatistics()
    if not _fill_record(system.host_statistics64, ctypes.c_uint32(system.mach_host_self()), HOST_VM_INFO64, info):
        return None
    return int(info.free_count + info.inactive_count) * mmap.PAGESIZE


def _fill_record(call: Any, whom: Any, what: int, info: ctypes.Structure) -> bool:
    """Whether a call of Mach's has filled the record, whose size is counted in whole numbers of 4 bytes."""
    count = ctypes.c_uint32(ctypes.sizeof(info) // 4)
    return int(call(whom, ctypes.c_int(what), ctypes.byref(info), ctypes.byref(count))) == 0


# -- Windows: <sysinfoapi.h> and <psapi.h> -----------------------------------------------------------------------------


class MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 5),
    )


class ProcessMemory(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("most_held", ctypes.c_size_t),
        ("held", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 6),
    )


def _free_on_windows() -> int | None:
    info = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    return int(info.available) if _load_library("kernel32").GlobalMemoryStatusEx(ctypes.byref(info)) else None


def _held_on_windows() -> int | None:
    system, info = _load_library("kernel32"), ProcessMemory(length=ctypes.sizeof(ProcessMemory))
    system.GetCurrentProcess.restype = ctypes.c_void_p
    this = ctypes.c_void_p(system.GetCurrentProcess())
    return int(info.held) if system.K32GetProcessMemoryInfo(this, ctypes.byref(info), info.length) else None


def _load_library(name: str) -> Any:
    return getattr(ctypes, "WinDLL", ctypes.CDLL)(name)


# -- rights: <linux/sched.h>, <linux/prctl.h> --------------------------------------------------------------------------

CLONE_NEWUSER, CLONE_NEWNET, PR_SET_NO_NEW_PRIVS = 0x10000000, 0x40000000, 38


def leave_network() -> None:
    """Go where there is no network, and gain no rights any more: on Linux, as far as the system allows it.

    Namespaces of users are switched off in some systems and containers.
    """
    if SYSTEM == "linux":
        system = ctypes.CDLL(None)
        system.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        system.unshare(CLONE_NEWUSER | CLONE_NEWNET)


# -- files ------------------------------------------------------------------------------------------------------------

_SEEK_LOCK = threading.Lock()


def read_at(file: int, buffer: Any, start: int) -> int:
    """Fill an array of bytes from a place of an open file, as far as one read goes; gives how many bytes came.

    Threads may read the same file: only where a system has neither preadv nor pread (Windows) do they take turns.
    """
    if hasattr(os, "preadv"):
        return os.preadv(file, [buffer.data], start)
    if hasattr(os, "pread"):  # macOS
        found = os.pread(file, len(buffer), start)
    else:
        with _SEEK_LOCK:
            os.lseek(file, start, os.SEEK_SET)
            found = os.read(file, len(buffer))
    buffer.data[: len(found)] = found
    return len(found)
