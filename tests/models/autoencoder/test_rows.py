"""Autoencoder: where rows come from, and what does not fit into memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_wine

import lowdim
from lowdim.errors import NeedsAnotherPass
from lowdim.models.autoencoder.model import Autoencoder
from lowdim.runtime.progress import watching
from models.autoencoder.trained import SMALL, UNIT, weights, without_room


def test_sources_of_the_same_rows_give_the_same_bits_and_their_own_frames(tmp_path):
    import pandas as pd

    np.save(tmp_path / "x.npy", UNIT)
    whole = Autoencoder(2, **SMALL).fit(UNIT)
    frame = pd.DataFrame(UNIT, columns=[f"c{j}" for j in range(64)])
    for other in (tmp_path / "x.npy", frame, iter(np.array_split(UNIT, 7)), scipy.sparse.csr_array(UNIT)):
        model = Autoencoder(2, **SMALL).fit(other)
        np.testing.assert_array_equal(weights(model), weights(whole))
    assert list(Autoencoder(2, **SMALL).set_output(transform="same").fit_transform(frame)) == [
        "autoencoder0",
        "autoencoder1",
    ]


def test_rows_without_room_are_read_in_every_epoch(monkeypatch, tmp_path):
    """Another order of batches is another path: the loss after it is the same to a few parts in a hundred."""
    np.save(tmp_path / "x.npy", UNIT)
    kept = Autoencoder(2, hidden=(16,), max_iter=20, random_state=0).fit(UNIT)
    without_room(monkeypatch)
    passing = Autoencoder(2, hidden=(16,), max_iter=20, random_state=0).fit(tmp_path / "x.npy")
    assert "read again" in passing.fit_.provenance.reason
    assert passing.fit_.training.n_validation == kept.fit_.training.n_validation
    assert passing.best_loss_ == pytest.approx(kept.best_loss_, rel=0.05)
    assert passing.fit_.provenance.passes == 3 + passing.n_iter_  # a look, rows set aside, epochs, codes
    with pytest.raises(NeedsAnotherPass, match="can be read only once"):
        Autoencoder(2, **SMALL).fit(iter([UNIT]))


def test_passing_rows_give_the_same_bits_however_they_are_cut(monkeypatch, tmp_path):
    np.save(tmp_path / "x.npy", UNIT)
    without_room(monkeypatch)
    one = Autoencoder(2, **SMALL).fit(tmp_path / "x.npy")
    other = Autoencoder(2, **SMALL).fit(lowdim.open(tmp_path / "x.npy").limited(13 * 64 * 8))
    assert "read again" in one.fit_.provenance.reason
    np.testing.assert_array_equal(weights(one), weights(other))


def test_rows_that_come_once_are_not_trained_on_in_vain():
    with pytest.raises(NeedsAnotherPass, match="fit_transform reads the rows again"):
        Autoencoder(2, **SMALL).fit_transform(iter([UNIT]))


def test_passes_of_gradients_over_all_rows_are_counted(monkeypatch, tmp_path):
    X = np.where(np.random.default_rng(0).random((60, 5)) < 0.1, np.nan, load_wine().data[:60, :5])
    np.save(tmp_path / "x.npy", X)
    without_room(monkeypatch)
    passes = []
    with watching(lambda progress: passes.append(progress.passes)):
        model = Autoencoder(2, hidden=(), loss="mse", scale=True).fit(tmp_path / "x.npy")
    # the watcher hears of the first look and of gradients, not of the start from sums and the codes at the end
    assert model.fit_.provenance.passes == passes[-1] + 2
    assert model.fit_.provenance.reason == "rows have no room in memory, and are read again for every gradient"


def test_dask_rows_are_read_here_and_coded_lazily():
    import dask.array as da

    lazy = da.from_array(UNIT, chunks=(150, 64))
    model = Autoencoder(2, **SMALL).fit(lazy)
    codes = model.transform(lazy)
    assert isinstance(codes, da.Array)
    np.testing.assert_allclose(codes.compute(), model.transform(UNIT), atol=1e-6)
    assert model.inverse_transform(codes).compute().shape == UNIT.shape


def test_a_memory_limit_is_kept_to_by_passing_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("lowdim.runtime.memory.resident_bytes", lambda: 10**8)  # whatever tests before have left
    X = np.random.default_rng(0).random((60_000, 200))
    np.save(tmp_path / "x.npy", X)
    limit = 10**8 + 150_000_000  # the rows as float32, twice, are 96 MB
    model = Autoencoder(1, hidden=(4,), max_iter=1, batch_size=4096, memory=limit).fit(tmp_path / "x.npy")
    assert "read again" in model.fit_.provenance.reason
