"""What differs between systems, by taking away here what another system does not have."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from lowdim import PCA
from lowdim.errors import BadParameter
from lowdim.runtime import machine
from lowdim.runtime.memory import available_memory, budget_of, resident_bytes
from lowdim.sources.formats.long_reads import LongReads

BYTES = np.random.default_rng(0).integers(0, 256, 3 * 2**20 + 12_345, dtype=np.uint8)


@pytest.fixture(autouse=True)
def _groups_anew():
    machine._limited_groups.cache_clear()
    yield
    machine._limited_groups.cache_clear()


# -- memory on Linux --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_says_what_psutil_says():
    # other processes come and go between the two readings: a fifth is far more than they change in a millisecond
    assert machine.held_bytes() == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
    assert machine.free_bytes() <= 1.2 * psutil.virtual_memory().available


def linux(folder, monkeypatch, cgroup, files, available=8_000_000):
    """A machine with 8 GB free, whose process is in these control groups."""
    monkeypatch.setattr(machine, "SYSTEM", "linux")
    monkeypatch.setattr(machine, "PROC", folder / "proc")
    monkeypatch.setattr(machine, "CGROUPS", folder / "cgroup")
    files = {f"cgroup/{name}": text for name, text in files.items()}
    files |= {"proc/self/cgroup": cgroup, "proc/meminfo": f"MemFree: 1 kB\nMemAvailable: {available} kB\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


FREE = 8_000_000 * 1024

VERSION_2 = {
    "pod/memory.max": "1000000000\n",
    "pod/memory.current": "400000000\n",
    "pod/memory.stat": "anon 300000000\ninactive_file 50000000\n",
    "pod/box/memory.max": "max\n",
    "pod/box/memory.current": "1\n",
}

VERSION_1 = {
    "memory/docker/memory.limit_in_bytes": "1000000000\n",
    "memory/docker/memory.usage_in_bytes": "400000000\n",
    "memory/docker/memory.stat": "inactive_file 1\ntotal_inactive_file 50000000\n",
    "memory/memory.limit_in_bytes": "9223372036854771712\n",
    "memory/memory.usage_in_bytes": "400000000\n",
}


def test_a_container_of_version_2_counts_also_where_its_parent_has_the_limit(tmp_path, monkeypatch):
    linux(tmp_path, monkeypatch, "0::/pod/box\n", VERSION_2)
    assert machine.free_bytes() == available_memory() == 650_000_000


def test_a_container_that_sees_only_its_own_group_counts(tmp_path, monkeypatch):
    seen = {name.removeprefix("pod/"): text for name, text in VERSION_2.items() if "box" not in name}
    linux(tmp_path, monkeypatch, "0::/\n", seen)
    assert machine.free_bytes() == 650_000_000


def test_a_container_of_version_1_counts(tmp_path, monkeypatch):
    linux(tmp_path, monkeypatch, "7:pids:/docker\n4:cpu,memory:/docker\n0::/\n", VERSION_1)
    assert machine.free_bytes() == 650_000_000


def test_a_container_named_as_on_the_host_is_found_at_the_root(tmp_path, monkeypatch):
    seen = {name.replace("docker/", ""): text for name, text in VERSION_1.items() if "docker" in name}
    linux(tmp_path, monkeypatch, "4:memory:/docker/0123abc\n", seen)
    assert machine.free_bytes() == 650_000_000


@pytest.mark.parametrize("cgroup", ["0::/\n", "4:memory:/\n", ""])
def test_without_a_limit_the_machine_counts(tmp_path, monkeypatch, cgroup):
    linux(
        tmp_path,
        monkeypatch,
        cgroup,
        {"memory.max": "max\n", **{k: v for k, v in VERSION_1.items() if "dock" not in k}},
    )
    assert machine.free_bytes() == FREE


def test_the_smaller_of_machine_and_container_counts(tmp_path, monkeypatch):
    linux(tmp_path, monkeypatch, "0::/pod/box\n", VERSION_2, available=100_000)
    assert machine.free_bytes() == 100_000 * 1024


def test_a_container_beyond_its_limit_has_nothing_left(tmp_path, monkeypatch):
    linux(tmp_path, monkeypatch, "0::/pod\n", {**VERSION_2, "pod/memory.current": "2000000000\n"})
    assert machine.free_bytes() == 0


# -- memory elsewhere -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_psutil(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)


@pytest.mark.parametrize("platform", ["darwin", "win32", "freebsd15"])
def test_psutil_is_asked_where_it_is_there(monkeypatch, platform):
    monkeypatch.setattr(machine, "SYSTEM", platform)
    assert resident_bytes() == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
    assert 0 < available_memory() <= psutil.virtual_memory().total


def test_the_records_have_the_sizes_of_the_systems_own():
    # HOST_VM_INFO64_COUNT is 38 and MACH_TASK_BASIC_INFO_COUNT 12 numbers of 4 bytes; MEMORYSTATUSEX has 64 bytes and
    # PROCESS_MEMORY_COUNTERS 72 on 64-bit systems
    records = (machine.VmStatistics, machine.TaskInfo, machine.MemoryStatus, machine.ProcessMemory)
    assert [ctypes.sizeof(record) for record in records] == [4 * 38, 4 * 12, 64, 72]
    assert (machine.VmStatistics.inactive_count.offset, machine.ProcessMemory.held.offset) == (8, 16)


def test_windows_own_calls(monkeypatch, no_psutil):
    def status(info):
        record = info._obj
        assert record.length == 64
        record.available = 5_000
        return 1

    def counters(process, info, size):
        assert size == 72
        info._obj.held = 700
        return 1

    class Current:
        def __call__(self):
            return -1

    kernel = SimpleNamespace(GlobalMemoryStatusEx=status, K32GetProcessMemoryInfo=counters, GetCurrentProcess=Current())
    monkeypatch.setattr(machine, "SYSTEM", "win32")
    monkeypatch.setattr(machine, "_load_library", {"kernel32": kernel}.__getitem__)
    assert (available_memory(), resident_bytes()) == (5_000, 700)
    kernel.GlobalMemoryStatusEx = kernel.K32GetProcessMemoryInfo = lambda *_: 0  # refused
    assert (available_memory(), resident_bytes()) == (sys.maxsize, 0)


def test_the_calls_of_macos(monkeypatch, no_psutil):
    def task_info(task, what, info, count):
        assert (task.value, what.value, count._obj.value) == (7, 20, 12)
        info._obj.resident_size = 700
        return 0

    def host_statistics64(host, what, info, count):
        assert (host.value, what.value, count._obj.value) == (9, 4, 38)
        info._obj.free_count, info._obj.inactive_count = 3, 4
        return 0

    system = SimpleNamespace(task_info=task_info, host_statistics64=host_statistics64, mach_host_self=lambda: 9)
    monkeypatch.setattr(machine, "SYSTEM", "darwin")
    monkeypatch.setattr(machine, "_load_library", {"/usr/lib/libSystem.dylib": system}.__getitem__)
    named = SimpleNamespace(in_dll=lambda library, name: {"mach_task_self_": ctypes.c_uint32(7)}[name])
    plain = ctypes.c_uint32

    class Whole(plain):
        in_dll = named.in_dll

    monkeypatch.setattr(ctypes, "c_uint32", Whole)
    assert (available_memory(), resident_bytes()) == (7 * machine.mmap.PAGESIZE, 700)
    system.task_info = system.host_statistics64 = lambda *_: 5  # KERN_FAILURE
    assert (available_memory(), resident_bytes()) == (sys.maxsize, 0)


def test_a_system_that_says_nothing_keeps_no_limit_and_says_so(monkeypatch, no_psutil):
    monkeypatch.setattr(machine, "SYSTEM", "haiku1")
    assert available_memory() == sys.maxsize
    with pytest.raises(BadParameter, match=r"memory='1GB'.*haiku1.*pip install psutil"):
        PCA(2, memory="1GB").fit(np.eye(4))
    assert budget_of("PCA", None) is None


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["preadv", "pread", "neither"])
def reading(request, monkeypatch):
    """Linux, macOS, and Windows."""
    gone = {"preadv": [], "pread": ["preadv"], "neither": ["preadv", "pread"]}[request.param]
    for name in gone:
        monkeypatch.delattr(os, name)
    return request.param


def test_a_place_is_read_with_whatever_the_system_has(reading, tmp_path):
    BYTES.tofile(tmp_path / "bytes")
    with LongReads(tmp_path / "bytes") as file:
        for start, length in [(0, 10), (0, len(BYTES)), (4095, 2), (128, 2**20), (len(BYTES) - 1, 1)]:
            np.testing.assert_array_equal(file.read_at(start, length), BYTES[start : start + length])


def test_threads_that_read_one_file_do_not_disturb_each_other(reading, tmp_path, monkeypatch):
    BYTES.tofile(tmp_path / "bytes")
    plain = os.lseek

    def slow(file, offset, whence):
        place = plain(file, offset, whence)
        time.sleep(0.001)  # long enough for another thread to move the place, if it may
        return place

    monkeypatch.setattr(os, "lseek", slow)
    starts = np.random.default_rng(1).integers(0, len(BYTES) - 5000, 64)
    with LongReads(tmp_path / "bytes") as file, ThreadPoolExecutor(8) as pool:
        for start, found in zip(starts, pool.map(lambda at: file.read_at(int(at), 5000), starts), strict=True):
            np.testing.assert_array_equal(found, BYTES[start : start + 5000])


def test_files_are_opened_as_bytes_where_that_must_be_said(tmp_path, monkeypatch):
    from importlib import reload

    from lowdim.runtime import files as atomic

    monkeypatch.setattr(os, "O_BINARY", 2**15, raising=False)
    try:
        assert reload(machine).READ_ONLY & 2**15
        assert reload(atomic).CREATE_FLAGS & 2**15
    finally:
        monkeypatch.undo()
        reload(machine)
        reload(atomic)
