"""Files that are replaced whole: what new and old ones may, on systems that have less."""

from __future__ import annotations

import os
import threading

import pytest

from lowdim.runtime.files import atomic_write


def write(path, data=b"a\nb\r\nc\x1a"):
    with atomic_write(path) as file:
        file.write(data)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_may_what_new_files_may(tmp_path, mask):
    before = os.umask(mask)
    try:
        write(tmp_path / "new")
        (tmp_path / "plain").write_bytes(b"")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_mask_of_the_process_is_never_changed(tmp_path, monkeypatch):
    def forbidden(mask):
        raise AssertionError("the umask is that of all threads")

    monkeypatch.setattr(os, "umask", forbidden)
    write(tmp_path / "new")
    write(tmp_path / "new")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "old").chmod(mode)
    write(tmp_path / "old")
    assert (tmp_path / "old").stat().st_mode & 0o777 == mode


def test_it_is_private_while_it_is_written_if_the_old_one_was(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "old").chmod(0o640)
    with atomic_write(tmp_path / "old") as file:
        file.write(b"new")
        (part,) = tmp_path.glob(".old.*")
        assert part.stat().st_mode & 0o777 == 0o600


def test_without_fchmod_as_on_windows(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "fchmod")
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "old").chmod(0o640)
    write(tmp_path / "old")
    write(tmp_path / "new")
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "old").read_bytes() == (tmp_path / "new").read_bytes() == b"a\nb\r\nc\x1a"


def test_a_folder_that_cannot_be_opened_as_on_windows_stops_nothing(tmp_path, monkeypatch):
    plain = os.open

    def refusing(path, *rest):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied")
        return plain(path, *rest)

    monkeypatch.setattr(os, "open", refusing)
    write(tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == b"a\nb\r\nc\x1a"


def test_many_threads_write_many_files(tmp_path):
    threads = [threading.Thread(target=write, args=(tmp_path / str(i),)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({path.stat().st_mode for path in tmp_path.iterdir()}) == 1
