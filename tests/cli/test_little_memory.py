"""Too little memory, too few threads: one sentence and exit code 6, never a corrupt file, never a hang."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lowdim
from harness import Tally
from lowdim.errors import TooLarge
from lowdim.runtime import machine, threads
from lowdim.runtime.threads import in_order

FITS = {
    "PCA of a table": ("wine.csv", "--scale", "--keep", "2"),
    "PCA of Parquet": ("wine.parquet", "--keep", "2"),
    "PPCA of Feather": ("wine.feather", "--model", "ppca", "--keep", "2"),
    "NMF of an array": ("wine.npy", "--model", "nmf", "--keep", "2"),
    "vector quantisation of JSON lines": ("wine.jsonl", "--model", "vq", "--keep", "2"),
}

STEPS = (48, 96, 144, 192, 240, 288, 336, 384, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 1200, 1600)
"""Megabytes of addresses."""


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    wine = pd.DataFrame(lowdim.datasets.wine().values).add_prefix("c")
    wine.to_csv("wine.csv", index=False)
    wine.to_parquet("wine.parquet")
    wine.to_feather("wine.feather")
    wine.to_json("wine.jsonl", orient="records", lines=True)
    np.save("wine.npy", wine.to_numpy())
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses")
@pytest.mark.parametrize("fit", FITS)
def test_a_limit_of_addresses_ends_in_a_model_or_in_a_sentence(fit: str, tables: Path, tally: Tally):
    import resource

    codes = []
    for megabytes in STEPS:
        most = megabytes * 2**20
        ended = subprocess.run(
            [sys.executable, "-m", "lowdim", "fit", *FITS[fit], "--save", "m.lowdim", "-q"],
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )
        assert ended.returncode in (0, 6), f"{megabytes} MB: {ended.returncode} {ended.stderr}"
        assert (ended.returncode == 0) == Path("m.lowdim").exists()
        if ended.returncode == 0:
            lowdim.load("m.lowdim")
            os.unlink("m.lowdim")
        else:
            assert ended.stderr.startswith("error: ")
            assert ended.stderr.count("\n") == 1, ended.stderr
        assert not list(tables.glob(".*"))
        codes.append(ended.returncode)
    assert codes[0] == 6
    assert codes[-1] == 0
    tally(10, len(STEPS), "fits under a limit of addresses")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses")
def test_a_tight_limit_is_told_before_anything_is_loaded(tables: Path):
    command = "ulimit -v 350000; exec {} -m lowdim fit wine.csv --keep 2"
    ended = subprocess.run(["sh", "-c", command.format(sys.executable)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 6
    assert "ulimit" in ended.stderr
    assert "OPENBLAS_NUM_THREADS=1" in ended.stderr
    # and in Python, where it is an error of our own
    program = "import lowdim\ntry:\n    lowdim.PCA\nexcept lowdim.errors.TooLarge as error:\n    print(error)"
    command = f'ulimit -v 350000; exec {sys.executable} -c "{program}"'
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert "takes" in ended.stdout, ended.stderr


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("can't start new thread"), OSError(12, "Cannot allocate memory")]
)
def test_what_others_raise_of_it_is_our_error(error: Exception, run, tables: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*given: object, **settings: object) -> None:
        raise error

    monkeypatch.setattr("lowdim.models.pca.model.plan_fit", fail)
    with pytest.raises(TooLarge, match="A fit of PCA needs more memory") as told:
        lowdim.PCA(2).fit("wine.csv")
    assert isinstance(told.value, MemoryError)
    ended = run("fit", "wine.csv", "--keep", "2")
    assert ended.code == 6
    assert ended.err.count("\n") == 1
    assert "--memory" in ended.err


def test_another_error_stays_what_it_is(monkeypatch: pytest.MonkeyPatch):
    def fail(*given: object, **settings: object) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr("lowdim.models.pca.model.plan_fit", fail)
    with pytest.raises(RuntimeError, match="something else"):
        lowdim.PCA(2).fit(np.eye(300, 201))


def test_without_threads_the_work_is_done_by_one(monkeypatch: pytest.MonkeyPatch):
    X = np.random.default_rng(0).standard_normal((200_000, 30))
    whole = lowdim.PCA(3).fit(iter(np.array_split(X, 5)))

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads._pool.cache_clear()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    try:
        assert list(in_order(lambda number: number**2, range(10))) == [number**2 for number in range(10)]
        alone = lowdim.PCA(3).fit(iter(np.array_split(X, 5)))
    finally:
        threads._pool.cache_clear()
    np.testing.assert_array_equal(alone.components_, whole.components_)


def test_limits_of_a_process_are_read(monkeypatch: pytest.MonkeyPatch):
    resource = pytest.importorskip("resource")
    limits = {resource.RLIMIT_AS: (2**50, 2**50), resource.RLIMIT_DATA: (resource.RLIM_INFINITY,) * 2}
    monkeypatch.setattr(resource, "getrlimit", limits.get)
    (left,) = machine._left_of_limits()
    assert 2**50 - 2**40 < left < 2**50
    limits[resource.RLIMIT_AS] = (2**27, 2**27)  # this process has taken more
    assert machine._left_of_limits() == [0]
    assert machine.free_bytes() == 0
