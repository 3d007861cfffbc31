"""Long reads give the bytes of the file, whichever way they take."""

from __future__ import annotations

import os

import numpy as np
import pytest

from lowdim.errors import BadFile
from lowdim.sources.formats import long_reads
from lowdim.sources.formats.long_reads import LongReads

BYTES = np.random.default_rng(0).integers(0, 256, 3 * 2**20 + 12_345, dtype=np.uint8)


@pytest.fixture(params=["cached", "direct", "judged slow"])
def path(request, tmp_path, monkeypatch):
    """A file that is taken for small, or for larger than memory, on a fast or a slow disk."""
    monkeypatch.setattr(long_reads, "left_memory", lambda: 2**60 if request.param == "cached" else 1)
    monkeypatch.setattr(long_reads, "TRIAL_BYTES", 2**16)
    monkeypatch.setattr(long_reads, "MIN_DIRECT_SPEED", 1e30 if request.param == "judged slow" else 0.0)
    BYTES.tofile(tmp_path / "bytes")
    return tmp_path / "bytes"


@pytest.mark.parametrize(
    ("start", "length"), [(0, 10), (0, len(BYTES)), (128, 2**20), (4095, 2), (4096, 4096), (len(BYTES) - 1, 1), (7, 0)]
)
def test_any_stretch_is_read(path, start, length):
    with LongReads(path) as file:
        for _ in range(2):
            np.testing.assert_array_equal(file.read_at(start, length), BYTES[start : start + length])


def test_a_stretch_beyond_the_end_is_an_error_that_names_the_file(path):
    with LongReads(path) as file, pytest.raises(BadFile, match=r"bytes: ended 5 bytes early"):
        file.read_at(len(BYTES) - 10, 15)


def test_it_reads_like_a_file(path):
    with LongReads(path) as file:
        assert file.seek(-10, os.SEEK_END) == len(BYTES) - 10
        assert bytes(file.read()) == BYTES[-10:].tobytes()
        assert bytes(file.read(5)) == b""
        file.seek(100)
        file.seek(20, os.SEEK_CUR)
        assert bytes(file.read(30)) == BYTES[120:150].tobytes()
        assert file.tell() == 150


def test_a_disk_that_refuses_direct_reads_is_read_plainly(tmp_path, monkeypatch):
    BYTES.tofile(tmp_path / "bytes")
    monkeypatch.setattr(long_reads, "left_memory", lambda: 1)
    plain = long_reads.read_at

    def refusing(file, buffer, start):
        if file == reads._direct:
            raise OSError(22, "Invalid argument")
        return plain(file, buffer, start)

    monkeypatch.setattr(long_reads, "read_at", refusing)
    with LongReads(tmp_path / "bytes") as reads:
        np.testing.assert_array_equal(reads.read_at(100, 10_000), BYTES[100:10_100])
        assert reads._direct is None


def test_a_disk_that_fails_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    BYTES.tofile(tmp_path / "bytes")

    def failing(file, buffer, start):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(long_reads, "read_at", failing)
    with LongReads(tmp_path / "bytes") as reads, pytest.raises(BadFile, match=r"bytes: cannot be read \(Input/output"):
        reads.read_at(0, 10)


def test_a_file_that_is_gone_is_named(tmp_path):
    with pytest.raises(BadFile, match=r"gone.npy: cannot be read"), LongReads(tmp_path / "gone.npy"):
        pass


def test_files_are_closed_again(path):
    before = set(os.listdir("/proc/self/fd"))
    with LongReads(path) as file:
        file.read_at(0, 2**20)
    assert set(os.listdir("/proc/self/fd")) <= before
