"""A fit of any model that reads rows in passes goes on where it was stopped or killed, and ends in the same bits."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowdim
from harness import Tally, many
from lowdim.errors import CannotMerge, FormatError, Interrupted, LowdimError
from lowdim.models.base.passes import KeptFit, holds_passes
from lowdim.results.container import Document, read_document, write_document
from lowdim.results.passes import pack_passes, unpack_passes
from lowdim.runtime.passes import Pass
from lowdim.runtime.progress import watching
from lowdim.sources import source

FITS: dict[str, tuple[str, dict[str, Any], str]] = {
    "PCA": ("PCA", {"n_components": 3}, "rows"),
    "PCA by block Lanczos": ("PCA", {"n_components": 3, "svd_solver": "lanczos"}, "rows"),
    "TruncatedSVD": ("TruncatedSVD", {"n_components": 3}, "rows"),
    "ProbabilisticPCA": ("ProbabilisticPCA", {"n_components": 3}, "holes"),
    "NMF": ("NMF", {"n_components": 3, "max_iter": 6, "random_state": 0}, "rows"),
    "NMF, KL": ("NMF", {"n_components": 3, "max_iter": 3, "beta_loss": "kullback-leibler"}, "rows"),
    "LogisticPCA": ("LogisticPCA", {"n_components": 2, "max_iter": 4, "family": "gaussian"}, "rows"),
    "KernelPCA, landmarks": ("KernelPCA", {"n_components": 3, "n_landmarks": 60, "kernel": "rbf"}, "rows"),
    "VectorQuantizer": ("VectorQuantizer", {"n_components": 4, "random_state": 0}, "rows"),
}

STREAMED = """
import importlib
from lowdim.sources import source
import lowdim.matrices.convert as convert
source.BLOCK_BYTES = 2**16
convert._is_small = lambda source: False
for name in ("models.nmf.plan", "models.logistic_pca.model", "models.probabilistic_pca.model", "models.linear.fit",
             "models.pca.fit"):
    importlib.import_module(f"lowdim.{name}").fits_in_memory = lambda *given: False
"""
"""Rows stay in their file, in small blocks."""

CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
import os
import lowdim
from lowdim.models.base.passes import KeptFit
make, settings, path, kept, saved = sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:]
fit = KeptFit(getattr(lowdim, make)(**settings), lowdim.open(path), kept, every=0.0)
fit.fit(kept if os.path.exists(kept) else None).save(saved)
"""


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("nmf.plan", "logistic_pca.model", "probabilistic_pca.model", "linear.fit", "pca.fit"):
        monkeypatch.setattr(f"lowdim.models.{name}.fits_in_memory", lambda *given: False)
    monkeypatch.setattr("lowdim.matrices.convert._is_small", lambda source: False)
    monkeypatch.setattr(source, "BLOCK_BYTES", 2**16)
    return


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((6000, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((6000, 12)))
    np.save("rows.npy", X)
    np.save("holes.npy", np.where(rng.random(X.shape) < 0.2, np.nan, X))
    return tmp_path


def learnt(model: Any) -> list[np.ndarray]:
    names = ("components_", "explained_variance_", "eigenvalues_", "mean_", "codebook_", "cluster_centers_")
    return [np.asarray(getattr(model, name)) for name in names if hasattr(model, name)]


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", FITS)
def test_a_stopped_fit_ends_in_the_same_bits(name: str, files: Path, streamed: None):
    make, settings, rows = FITS[name]

    def fresh(path: str | None = None) -> KeptFit:
        return KeptFit(getattr(lowdim, make)(**settings), lowdim.open(f"{rows}.npy"), path)

    turns: list[int] = []
    with watching(lambda now: turns.append(now.passes)):
        whole = fresh().fit()
    for last in (len(turns) // 3, len(turns) - 2):
        heard: list[int] = []
        begun = fresh()
        with pytest.raises(Interrupted), watching(lambda now: heard.append(0) or len(heard) >= last):  # noqa: B023
            begun.fit()
        assert "over the rows" in begun.write("m.part.lowdim")
        assert holds_passes("m.part.lowdim")
        rest: list[int] = []
        with watching(lambda now: rest.append(now.passes)):  # noqa: B023
            again = fresh().fit("m.part.lowdim")
        assert learnt(whole)
        for one, other in zip(learnt(again), learnt(whole), strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(rest) < len(turns) or turns[-1] <= 1  # passes that were kept are not made again


def test_a_fit_of_other_rows_or_settings_is_not_carried_on(files: Path, streamed: None):
    begun = KeptFit(lowdim.PCA(3), lowdim.open("rows.npy"))
    begun.fit()
    begun.write("m.part.lowdim")
    for model, rows in ((lowdim.PCA(2), "rows.npy"), (lowdim.PCA(3), "holes.npy")):
        with pytest.raises(CannotMerge, match="other data or settings"):
            KeptFit(model, lowdim.open(rows)).fit("m.part.lowdim")
    with pytest.raises(FormatError, match="not the passes of a fit of TruncatedSVD"):
        KeptFit(lowdim.TruncatedSVD(3), lowdim.open("rows.npy")).fit("m.part.lowdim")
    with pytest.raises(FormatError, match="no model: go on"):
        lowdim.load("m.part.lowdim")


def test_what_a_file_of_passes_says_is_made_of_numbers_alone(files: Path, streamed: None):
    statistic = {"a": (1, 2.5, None, float("inf")), 3: [np.float32([1, -0.0]), np.array([[True]]), np.int64(7)]}
    text, arrays = pack_passes([Pass("f", 5, statistic, True)])
    (one,) = unpack_passes(text, arrays)
    assert (one.name, one.rows, one.whole) == ("f", 5, True)
    assert one.statistic["a"] == statistic["a"]
    found = one.statistic[3]
    assert (found[0].dtype, found[1].dtype, found[2]) == (np.float32, bool, 7)
    assert np.signbit(found[0][1])
    for record in ("os:system", "lowdim.errors:BadInput", "lowdim.cli.main:main", "lowdim.nowhere:Nothing"):
        tree = json.dumps([["f", 1, {"record": [record, {}]}, True]]).encode()
        with pytest.raises(FormatError):
            unpack_passes(np.frombuffer(tree, np.uint8), {})
    for tree in (b"[[", b"7", b'[["f", 1, {"array": ["<f8", [9], "F64"]}, true]]', b'[["f", 1, {"x": 1}, true]]'):
        with pytest.raises(FormatError):
            unpack_passes(np.frombuffer(tree, np.uint8), {"F64": np.zeros(2)})
    # what cannot be said so ends what is kept
    text, arrays = pack_passes([Pass("f", 5, 1.0, True), Pass("g", 5, object(), True)])
    assert [one.name for one in unpack_passes(text, arrays)] == ["f"]


def test_changed_files_of_passes_are_refused(files: Path, streamed: None):
    begun = KeptFit(lowdim.PCA(3), lowdim.open("rows.npy"))
    begun.fit()
    begun.write("m.part.lowdim")
    kept = read_document("m.part.lowdim")
    chance = random.Random(0)
    for _ in range(200):
        text = bytearray(kept.arrays["passes"].tobytes())
        text[chance.randrange(len(text))] = chance.randrange(256)
        arrays = {**kept.arrays, "passes": np.frombuffer(bytes(text), np.uint8)}
        write_document("x.part.lowdim", Document(kept.kind, kept.facts, arrays))
        try:
            KeptFit(lowdim.PCA(3), lowdim.open("rows.npy")).fit("x.part.lowdim")
        except LowdimError:  # a number that was changed may also lead to other components: sums are no signature
            continue


KILLS = many(4, 60)
"""SIGKILLs of each fit."""


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", FITS)
def test_a_killed_fit_ends_in_the_same_bits(name: str, files: Path, tally: Tally):
    make, settings, rows = FITS[name]
    given = [make, json.dumps(settings), f"{rows}.npy"]

    def run(kept: str, saved: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", STREAMED + CHILD, *given, kept, saved])

    assert run("calm.part.lowdim", "calm.lowdim").wait() == 0
    chance, kills, begun = random.Random(0), 0, Path("m.part.lowdim")
    while kills < KILLS:
        before = begun.stat().st_mtime_ns if begun.exists() else 0
        process = run(str(begun), "m.lowdim")
        while process.poll() is None:
            if begun.exists() and begun.stat().st_mtime_ns != before:
                time.sleep(chance.uniform(0.0, 0.05))  # while a block is merged, or the file is being written
                process.kill()
                break
            time.sleep(0.0005)
        if process.wait() == 0:  # it was faster; from the start again
            begun.unlink()
        kills += 1
        if begun.exists():
            assert holds_passes(str(begun))
    assert run(str(begun), "m.lowdim").wait() == 0
    calm, again = lowdim.load("calm.lowdim"), lowdim.load("m.lowdim")
    for one, other in zip(learnt(again), learnt(calm), strict=True):
        np.testing.assert_array_equal(one, other)
    for left in files.glob(".*.lowdim-part"):  # the next start sweeps what is old
        os.utime(left, (0, 0))
    lowdim.PCA(1).fit("rows.npy").save("sweeps.lowdim")
    assert not list(files.glob(".*.lowdim-part"))
    tally(6, kills, f"SIGKILLs of {name}")
