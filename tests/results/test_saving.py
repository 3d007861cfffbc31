"""Files are the old one or the new one, whole, whatever fails while they are written, and whenever the process dies."""

from __future__ import annotations

import errno
import io
import os
import random
import resource
import signal
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowdim
from harness import Tally, many
from lowdim.errors import BadInput, CannotWrite
from lowdim.models.autoencoder import checkpoint as network_checkpoint
from lowdim.models.base.saving import pack
from lowdim.models.probabilistic_pca import checkpoint as latent_checkpoint
from lowdim.results.container import from_bytes, to_bytes, write_document
from lowdim.runtime import files

FILES = Path(__file__).parents[1] / "golden" / "files"
"""Checkpoints of fits, to be written again."""

Write = Callable[[Path, int], None]
"""Writes the first or the second of two files of a kind."""


def models() -> Write:
    foods = lowdim.datasets.uk_foods()
    kept = [lowdim.PCA(k).fit(foods.values) for k in (1, 2)]
    return lambda path, which: kept[which].save(path)


def latent() -> Write:
    kept = [
        latent_checkpoint.read_checkpoint(str(FILES / f"ProbabilisticPCA checkpoint-{name}.lowdim"))
        for name in ("begun", "relevance")
    ]
    return lambda path, which: latent_checkpoint.write_checkpoint(str(path), kept[which])


def network() -> Write:
    kept = [
        network_checkpoint._read(str(FILES / f"Autoencoder checkpoint-{name}.lowdim")) for name in ("adam", "lbfgs")
    ]

    def write(path: Path, which: int) -> None:
        facts, arrays = network_checkpoint.pack(kept[which])
        write_document(path, network_checkpoint.Document(network_checkpoint.KIND, facts, arrays))

    return write


KINDS = {"model": models, "checkpoint of EM": latent, "checkpoint of a network": network}


@pytest.fixture(params=KINDS)
def write(request: pytest.FixtureRequest) -> Write:
    return KINDS[request.param]()


@dataclass
class Calls:
    """Calls of the system that a write makes; the one of this number fails."""

    fails: int
    code: int
    made: list[str]


@contextmanager
def failing(fails: int, code: int = errno.EIO) -> Iterator[Calls]:
    """Every open, write, fsync, rename and close is counted, and one of them fails."""
    calls = Calls(fails, code, [])

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            folder = name == "fsync" and os.path.isdir(f"/proc/self/fd/{args[0]}")
            calls.made.append(f"{name} of the folder" if folder else name)
            if len(calls.made) - 1 == calls.fails:
                if name == "close":
                    real(*args)
                raise OSError(calls.code, os.strerror(calls.code))
            return real(*args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "fsync", "replace"):
            patch.setattr(os, name, counted(name, getattr(os, name)))

        class Failing(io.FileIO):
            """The system's file below the one that is written."""

            def write(self, data: Any) -> int:
                return int(counted("write", super().write)(data))

            def close(self) -> None:
                if self.closed:
                    return
                counted("close", super().close)()

        try:
            files._PartFile.__bases__ = (Failing,)
            yield calls
        finally:
            files._PartFile.__bases__ = (io.FileIO,)


def test_the_file_is_on_disk_before_it_is_renamed_and_the_folder_after(tmp_path: Path, write: Write) -> None:
    with failing(-1) as calls:
        write(tmp_path / "a.lowdim", 0)
    told = [name for name in calls.made if name != "open"]
    assert told[-4:] == ["fsync", "close", "replace", "fsync of the folder"]
    assert set(told[:-4]) == {"write"}


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EDQUOT], ids=errno.errorcode.get)
def test_a_fault_at_any_step_leaves_the_old_file(tmp_path: Path, write: Write, code: int, tally: Tally) -> None:
    path = tmp_path / "a.lowdim"
    write(path, 1)
    new = path.read_bytes()
    write(path, 0)
    old = path.read_bytes()
    with failing(-1) as calls:
        write(path, 0)
    for number, name in enumerate(calls.made):
        with failing(number, code):
            if number > calls.made.index("replace"):  # of the folder: the new file is there all the same
                write(path, 1)
            else:
                with pytest.raises(CannotWrite, match=r"a\.lowdim"):
                    write(path, 1)
        assert path.read_bytes() == (new if number > calls.made.index("replace") else old), name
        assert [one.name for one in tmp_path.iterdir()] == ["a.lowdim"]
        write(path, 0)
    tally(7, len(calls.made), "faults in a save")


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_that_fills_up_at_any_byte_leaves_the_old_file(tmp_path: Path, write: Write, tally: Tally) -> None:
    path = tmp_path / "a.lowdim"
    write(path, 1)
    size = path.stat().st_size
    write(path, 0)
    old = path.read_bytes()
    limits = [0, 1, 7, 8, 9, *np.linspace(10, size - 1, 20, dtype=int).tolist()]
    for limit in limits:
        with file_size_limit(limit), pytest.raises(CannotWrite, match=r"a\.lowdim"):
            write(path, 1)
        assert path.read_bytes() == old
        assert len(list(tmp_path.iterdir())) == 1
    tally(7, len(limits), "disks that fill up in a save")


def test_a_full_disk(tmp_path: Path, write: Write) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode:
        pytest.skip("a small disk may not be mounted here")
    try:
        path = disk / "a.lowdim"
        write(path, 0)
        old = path.read_bytes()
        (disk / "filler").write_bytes(b"x" * (os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize))
        with pytest.raises(CannotWrite, match="No space left"):
            write(path, 1)
        assert path.read_bytes() == old
        assert {one.name for one in disk.iterdir()} == {"a.lowdim", "filler"}
    finally:
        subprocess.run(["umount", disk], check=True)


def kill_saves(write: Write, folder: Path, kills: int) -> None:
    """Kill a process that saves and saves: the file is one of the two, always."""
    path = folder / "a.lowdim"
    whole = set()
    for which in (1, 0):
        write(path, which)
        whole.add(path.read_bytes())
    chance = random.Random(0)
    for _ in range(kills):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that BLAS has threads, which a child of fork has not
            child = os.fork()
        if child == 0:
            while True:
                write(path, 1)
                write(path, 0)
        time.sleep(chance.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        data = path.read_bytes()
        assert data in whole
        from_bytes(data)
    left = [one for one in folder.iterdir() if one != path]
    for one in left:
        assert one.name.endswith(files.PART_ENDING)
        os.utime(one, (0, 0))
    write(path, 1)
    assert [one.name for one in folder.iterdir()] == ["a.lowdim"]  # what the dead left is swept


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kills_while_saving(tmp_path: Path, write: Write, tally: Tally) -> None:
    tally(6, 10, "kills while saving")
    kill_saves(write, tmp_path, 10)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_many_kills_while_saving(tmp_path: Path, write: Write, tally: Tally) -> None:
    kills = many(slow=70, full=200)
    tally(6, kills, "kills while saving")
    kill_saves(write, tmp_path, kills)


def test_a_model_that_could_not_be_opened_again_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.lowdim"
    model = lowdim.PCA(2).fit(lowdim.datasets.uk_foods().values)
    model.save(path)
    before = path.read_bytes()
    model.mean_[0] = np.nan
    with pytest.raises(BadInput, match=r"could not be opened again.*'mean'.*not finite"):
        model.save(path)
    assert path.read_bytes() == before
    assert to_bytes(pack(lowdim.load(path))) == before
