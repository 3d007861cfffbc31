"""NMF of rows that lie elsewhere: frames, files, dask, streams. One answer from each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sklearn.base

from catalogue import ENGINES
from lowdim import NMF
from lowdim.errors import BadInput, BadParameter, NeedsAnotherPass, NotConverged, TooLarge
from lowdim.matrices import sample
from lowdim.models.nmf import fit_streamed
from lowdim.models.nmf.plan import plan_nmf
from lowdim.models.nmf.settings import task_of
from lowdim.runtime.memory import resident_bytes
from lowdim.sources.open import open_source

LOSSES = ["frobenius", "kullback-leibler"]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    W = rng.gamma(0.4, size=(240, 3))
    H = rng.gamma(0.4, size=(3, 12))
    return rng.poisson(5 * W @ H).astype(float)


def total_loss(model, X):
    """What the parts lose of all rows, with the best codes."""
    Y = np.maximum(model.inverse_transform(model.transform(X)), 1e-300)
    if model.fit_.beta == 2:
        return 0.5 * ((X - Y) ** 2).sum()
    there = X > 0
    return (X[there] * np.log(X[there] / Y[there])).sum() - X.sum() + Y.sum()


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if not engine.batches], ids=str)
@pytest.mark.parametrize("beta_loss", LOSSES)
def test_the_same_parts_from_every_engine(counts, engine, beta_loss, tmp_path):
    model = NMF(3, beta_loss=beta_loss).fit(engine.give(counts, tmp_path))
    same = NMF(3, beta_loss=beta_loss).fit(counts)
    # searches end at a KKT residual of 1e-4, and sparse or streamed rows take other steps on the way to it
    np.testing.assert_allclose(model.components_, same.components_, atol=5e-3)
    np.testing.assert_allclose(model.fit_.loss, same.fit_.loss, rtol=1e-4)
    np.testing.assert_allclose(model.fit_.null_loss, same.fit_.null_loss, rtol=1e-9)


@pytest.mark.parametrize("beta_loss", LOSSES)
def test_passes_over_rows_that_are_not_in_memory(counts, beta_loss, monkeypatch):
    import dask.array

    monkeypatch.setattr(sample, "MAX_SAMPLE_ROWS", 40)  # of 240: the start is far from the end
    monkeypatch.setattr(sample, "MAX_SAMPLE_ENTRIES", 40)
    model = NMF(3, beta_loss=beta_loss).fit(dask.array.from_array(counts, chunks=(50, 12)))
    same = NMF(3, beta_loss=beta_loss).fit(counts)
    assert model.n_iter_ > 1
    assert model.fit_.descent.converged
    assert (np.diff(model.loss_path_) <= 1e-6 * model.loss_path_[:-1]).all()  # codes are solved to tol only
    # a local solution from another start, so that losses are compared, not parts
    np.testing.assert_allclose(model.fit_.loss, same.fit_.loss, rtol=0.02)
    np.testing.assert_allclose(model.fit_.loss, total_loss(model, counts), rtol=1e-3)


def test_missing_entries_in_blocks(counts):
    import dask.array

    X = np.where(np.random.default_rng(1).random(counts.shape) < 0.2, np.nan, counts)
    for beta_loss in LOSSES:
        model = NMF(2, beta_loss=beta_loss).fit(dask.array.from_array(X, chunks=(60, 12)))
        same = NMF(2, beta_loss=beta_loss).fit(X)
        assert model.fit_.missing == same.fit_.missing == np.isnan(X).sum()
        np.testing.assert_allclose(model.fit_.loss, same.fit_.loss, rtol=1e-3)


def test_weights_of_rows_in_blocks(counts):
    import dask.array

    weight = np.random.default_rng(2).integers(0, 3, len(counts))
    for beta_loss in LOSSES:
        settings = {"n_components": 1, "beta_loss": beta_loss, "tol": 1e-7, "max_iter": 3000}
        model = NMF(**settings).fit(dask.array.from_array(counts, chunks=(60, 12)), sample_weight=weight)
        same = NMF(**settings).fit(np.repeat(counts, weight, axis=0))
        np.testing.assert_allclose(model.components_, same.components_, atol=1e-4)
        np.testing.assert_allclose(model.fit_.null_loss, same.fit_.null_loss, rtol=1e-9)


@pytest.mark.parametrize("beta_loss", LOSSES)
def test_batches_of_any_size_come_near_to_all_rows_at_once(counts, beta_loss):
    stream = NMF(3, beta_loss=beta_loss)
    edges = [0, 30, 37, 90, 91, 180, 240]
    for _ in range(4):
        for start, stop in pairwise(edges):
            stream.partial_fit(counts[start:stop])
    same = NMF(3, beta_loss=beta_loss).fit(counts)
    assert stream.fit_.n_rows == 4 * len(counts)
    # each batch is remembered with the codes of its time
    assert total_loss(stream, counts) <= 1.1 * total_loss(same, counts)
    np.testing.assert_allclose(stream.fit_.null_loss, 4 * same.fit_.null_loss, rtol=1e-9)


def test_a_fit_goes_on_with_new_rows(counts):
    model = NMF(3).fit(counts[:120])
    before = total_loss(model, counts)
    model.partial_fit(counts[120:])
    assert total_loss(model, counts) < before
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(counts[:, :5])


def test_batches_go_on_with_the_same_settings_only(counts):
    model = NMF(3).partial_fit(counts[:60])
    for other in ({"beta_loss": "poisson"}, {"alpha_W": 0.1}, {"n_components": 2}):
        with pytest.raises(BadParameter, match="fit anew"):
            sklearn.base.clone(model).set_params().partial_fit(counts[:60]).set_params(**other).partial_fit(counts[60:])
    stream = NMF(3, beta_loss="poisson").partial_fit(counts[:120]).partial_fit(counts[120:])
    assert stream.kkt_residual_ > 1e-6  # of the second batch before it was learnt from, which the parts had not seen


def test_streams_that_can_be_read_once(counts):
    blocks = [counts[:100], counts[100:]]
    model = NMF(3).fit(iter(blocks))
    np.testing.assert_allclose(model.components_, NMF(3).fit(counts).components_, atol=1e-9)
    with pytest.raises(NeedsAnotherPass, match="twice"):
        NMF(3).fit_transform(iter(blocks))
    many = (np.ones((100_000, 12)) for _ in range(100))
    with pytest.raises(TooLarge, match="only once"):
        NMF(1, memory=resident_bytes() + 80_000_000).fit(many)


def test_other_losses_by_passes(counts):
    import dask.array

    X = counts + 0.5
    model = NMF(2, beta_loss=1.5, tol=1e-3).fit(dask.array.from_array(X, chunks=(60, 12)))
    same = NMF(2, beta_loss=1.5, tol=1e-3).fit(X)
    np.testing.assert_allclose(model.fit_.loss, same.fit_.loss, rtol=0.01)


def test_stability_of_starts_by_passes(counts):
    import dask.array

    model = NMF(3, n_init=3, beta_loss="poisson").fit(dask.array.from_array(counts, chunks=(60, 12)))
    assert model.stability_.shape == (3,)
    assert model.consensus_ is not None


def test_batches_with_and_without_missing_entries(counts):
    holes = np.where(np.random.default_rng(1).random((120, 12)) < 0.1, np.nan, counts[120:])
    model = NMF(3).partial_fit(counts[:120]).partial_fit(holes)
    same = NMF(3).fit(counts)
    assert model.fit_.missing == np.isnan(holes).sum()
    assert total_loss(model, counts) <= 1.2 * total_loss(same, counts)


def test_where_the_rows_will_lie(counts, tmp_path):
    np.save(tmp_path / "rows.npy", counts)
    task = task_of(NMF(3), 12)
    assert plan_nmf(open_source(counts), task, 3, None).in_memory
    import dask.array

    assert not plan_nmf(open_source(dask.array.from_array(counts, chunks=(60, 12))), task, 3, None).in_memory
    with pytest.raises(BadInput, match="entry_weight"):
        NMF(3).fit(dask.array.from_array(counts, chunks=(60, 12)), entry_weight=np.ones_like(counts))


def test_passes_that_were_stopped_say_so(counts, monkeypatch):
    import dask.array

    monkeypatch.setattr(sample, "MAX_SAMPLE_ROWS", 20)
    monkeypatch.setattr(sample, "MAX_SAMPLE_ENTRIES", 20)
    with pytest.warns(NotConverged, match="raise max_iter=2"):
        NMF(3, max_iter=2).fit(dask.array.from_array(counts, chunks=(60, 12)))


def test_given_parts_are_where_passes_begin(counts):
    import dask.array

    H = NMF(3).fit(counts).components_[::-1]
    model = NMF(3, init="custom", max_iter=50).fit(dask.array.from_array(counts, chunks=(60, 12)), H=H)
    np.testing.assert_allclose(model.components_, H, atol=1e-2)
    assert fit_streamed.PASSES_NAME in model.explain()
