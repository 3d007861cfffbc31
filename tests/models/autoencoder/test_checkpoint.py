"""Autoencoder: fits that were stopped or killed go on to the same bits, and only those of the same rows."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim.errors import CannotMerge, CannotWrite, FormatError, Interrupted
from lowdim.models.autoencoder import fit
from lowdim.models.autoencoder.model import Autoencoder
from lowdim.runtime.progress import watching
from models.autoencoder.trained import DIGITS, SMALL, UNIT, weights, without_room


def test_a_stopped_fit_goes_on_to_the_same_bits(tmp_path):
    path, passes = tmp_path / "state.lowdim", []

    def stop(progress):
        passes.append(progress.passes)
        return progress.passes == 4

    whole = Autoencoder(3, **SMALL).fit(UNIT)
    with pytest.raises(Interrupted) as told, watching(stop):
        Autoencoder(3, **SMALL, checkpoint=path).fit(UNIT)
    part = told.value.model
    assert part.n_iter_ == 2  # one pass looked at the columns, the last is unfinished
    assert part.transform(UNIT).shape == (len(UNIT), 3)
    again = Autoencoder(3, **SMALL, checkpoint=path).fit(UNIT)
    np.testing.assert_array_equal(weights(again), weights(whole))
    np.testing.assert_array_equal(again.learning_curve_, whole.learning_curve_)


@pytest.mark.parametrize("solver", ["lbfgs", "als"])
def test_a_linear_fit_goes_on_too(tmp_path, monkeypatch, solver):
    setting = {"hidden": (), "loss": "mse", "solver": solver, "checkpoint": tmp_path / "state.lowdim"}
    write = fit.write_checkpoint

    def killed(*state):
        write(*state)
        raise KeyboardInterrupt

    X = DIGITS[:, DIGITS.std(axis=0) > 0]
    whole = Autoencoder(6, scale=True, **setting | {"checkpoint": None}).fit(X)
    assert whole.n_iter_ > 1
    monkeypatch.setattr(fit, "write_checkpoint", killed)
    with pytest.raises(KeyboardInterrupt):
        Autoencoder(6, scale=True, **setting).fit(X)
    monkeypatch.setattr(fit, "write_checkpoint", write)
    again = Autoencoder(6, scale=True, **setting).fit(X)
    np.testing.assert_array_equal(weights(again), weights(whole))


def test_checkpoints_of_other_fits_are_refused(tmp_path):
    path = tmp_path / "state.lowdim"
    Autoencoder(3, **SMALL, checkpoint=path).fit(UNIT)
    with pytest.raises(CannotMerge, match="other settings"):
        Autoencoder(2, **SMALL, checkpoint=path).fit(UNIT)
    holes = np.where(np.arange(64) == 20, np.nan, UNIT)
    for other in (UNIT[:399], UNIT[::-1], UNIT * (1 + 1e-9), UNIT * 1e-9, holes, np.roll(UNIT, 1, axis=1)):
        with pytest.raises(CannotMerge, match="other values"):
            Autoencoder(3, **SMALL, checkpoint=path).fit(other)
    with pytest.raises(CannotMerge, match="other weights"):
        Autoencoder(3, **SMALL, checkpoint=path).fit(UNIT, sample_weight=np.linspace(1, 2, len(UNIT)))
    Autoencoder(3, **SMALL, checkpoint=path).fit(scipy.sparse.csr_array(UNIT))  # the same rows in another form
    with pytest.raises(FormatError, match=r"checkpoint of a fit .* Autoencoder\(checkpoint=path\)\.fit\(X\)"):
        lowdim.load(path)
    lowdim.PCA(2).fit(UNIT).save(path)
    with pytest.raises(FormatError, match=r"holds a finished model, PCA, .*: name another file"):
        Autoencoder(3, **SMALL, checkpoint=path).fit(UNIT)


def test_a_checkpoint_tells_how_rows_are_shuffled(tmp_path, monkeypatch):
    """From memory to a buffer is refused, from a buffer to memory it is followed, to the same bits."""
    path = tmp_path / "state.lowdim"
    np.save(tmp_path / "x.npy", UNIT)
    kept, passed = (Autoencoder(3, **SMALL, checkpoint=tmp_path / name) for name in ("kept.lowdim", "passed.lowdim"))
    with pytest.raises(Interrupted), watching(lambda progress: progress.passes == 3):
        kept.fit(UNIT)
    with monkeypatch.context() as crowded:
        without_room(crowded)
        with pytest.raises(CannotMerge, match="had all 400 rows in memory, for which there is no room now"):
            kept.fit(tmp_path / "x.npy")
        whole = Autoencoder(3, **SMALL, checkpoint=path).fit(tmp_path / "x.npy")
        with pytest.raises(Interrupted), watching(lambda progress: progress.passes == 3):
            passed.fit(tmp_path / "x.npy")
    again = passed.fit(UNIT)
    assert "within a buffer" in again.fit_.provenance.reason
    np.testing.assert_array_equal(weights(again), weights(whole))


def test_settings_that_a_solver_does_not_use_refuse_no_checkpoint(tmp_path):
    setting = {"hidden": (), "loss": "mse", "checkpoint": tmp_path / "state.lowdim"}
    first = Autoencoder(2, **setting).fit(DIGITS)
    again = Autoencoder(2, **setting, learning_rate=1.0, batch_size=3, activation="relu", max_iter=99).fit(DIGITS)
    np.testing.assert_array_equal(weights(first), weights(again))


def test_a_checkpoint_that_could_not_be_written_is_refused_first(tmp_path):
    def read(_):
        raise AssertionError("rows were read")

    for path in (tmp_path, tmp_path / "nowhere" / "state.lowdim"):
        with pytest.raises(CannotWrite, match=r"its folder is not there|it is a folder"), watching(read):
            Autoencoder(2, **SMALL, checkpoint=path).fit(UNIT)


FIT = """
import sys, numpy as np
from lowdim.models.autoencoder.model import Autoencoder
model = Autoencoder(2, hidden=(64, 32), max_iter=25, patience=25, random_state=0, checkpoint=sys.argv[2])
fit = model.fit(np.load(sys.argv[1])).fit_
np.savez(sys.argv[3], *[part for layer in (*fit.encoder, *fit.decoder) for part in (layer.weights, layer.bias)])
"""


@pytest.mark.slow
def test_kills_lose_nothing(tmp_path):
    np.save(tmp_path / "x.npy", DIGITS)
    names = [str(tmp_path / name) for name in ("x.npy", "state.lowdim", "w.npz")]
    state, kills = tmp_path / "state.lowdim", 0
    while True:
        before = state.stat().st_mtime_ns if state.exists() else 0
        process = subprocess.Popen([sys.executable, "-c", FIT, *names])
        while process.poll() is None:
            if kills < 3 and state.exists() and state.stat().st_mtime_ns != before:
                process.kill()
                break
            time.sleep(0.001)
        if process.wait() == 0:
            break
        kills += 1
    assert kills > 0
    whole = Autoencoder(2, hidden=(64, 32), max_iter=25, patience=25, random_state=0).fit(DIGITS)
    with np.load(names[2]) as file:
        np.testing.assert_array_equal(np.concatenate([file[name].ravel() for name in file]), weights(whole))
