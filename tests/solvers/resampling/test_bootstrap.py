"""The bootstrap of a PCA in the space of the rows: equal to the one that decomposes every resample."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.solvers.resampling import axes as bootstrap_axes
from lowdim.solvers.resampling.axes import align, axis_intervals, compute_overlaps, percentiles, score_intervals
from lowdim.solvers.resampling.bootstrap import Sample, draw_counts, memory_needed, resample_often

B, K, LEVEL = 40, 3, 0.9


def rows(n, p, seed=0, sizes=(9.0, 5.0, 3.0, 2.0)):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, len(sizes))) * sizes @ np.linalg.qr(rng.normal(size=(p, len(sizes))))[0].T
    Y = Y * np.sqrt(p) + rng.normal(size=(n, p))
    return Y - Y.mean(axis=0)


def naive(Y, count, seed, k, center, rescale, axes):
    """A full SVD of every resampled matrix."""
    n, p = Y.shape
    for b in range(count):
        R = np.repeat(Y, draw_counts(np.arange(n), n, seed, b).astype(int), axis=0)
        mean = R.mean(axis=0) if center else np.zeros(p)
        scale = np.sqrt(((R - mean) ** 2).sum(axis=0) / (n - 1)) if rescale else np.ones(p)
        _, s, Vt = np.linalg.svd((R - mean) / scale, full_matrices=False)
        V = Vt[:k] * np.sign(np.einsum("kp,kp->k", Vt[:k], axes))[:, None]
        yield s**2 / (n - 1), V, (Y - mean) / scale @ V.T


@pytest.mark.parametrize("shape", [(30, 200), (200, 12), (25, 25)])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("careful", [True, False])
def test_it_equals_the_decomposition_of_every_resample(shape, center, rescale, careful):
    Y = rows(*shape)
    if rescale:
        Y /= np.sqrt((Y**2).sum(axis=0) / (len(Y) - 1))
    axes = np.linalg.svd(Y, full_matrices=False)[2][:K]
    found = resample_often(Sample(Y, K, center=center, rescale=rescale, careful=careful), B, seed=5)
    truth = list(naive(Y, B, 5, K, center, rescale, axes))
    values = np.array([one[0][:K] for one in truth])
    # all of the figures are about one, but for variances, which are compared relative to themselves
    assert np.allclose(found.spectra[:, :K], values, rtol=1e-12)
    assert np.allclose(found.totals, [one[0].sum() for one in truth], rtol=1e-12)
    turns = align(compute_overlaps(found, axes), LEVEL, procrustes=False).turns
    ones = np.ones((B, K))
    entries = axis_intervals(found, turns, ones, axes, LEVEL)
    scores = score_intervals(found, turns, ones, (Y @ axes.T).T.copy(), LEVEL)
    for made, place, size in ((entries, 1, 1.0), (scores, 2, np.abs(Y @ axes.T).max())):
        draws = np.array([one[place] if place == 1 else one[place].T for one in truth])
        ends = np.quantile(draws, [0.05, 0.95], axis=0, method="weibull")
        assert np.abs(made.lower - ends[0]).max() < 1e-10 * size
        assert np.abs(made.upper - ends[1]).max() < 1e-10 * size
        assert np.abs(made.standard_error - draws.std(axis=0, ddof=1)).max() < 1e-10 * size
        assert np.abs(made.bias - (draws.mean(axis=0) - made.estimate)).max() < 1e-10 * size


def test_small_components_keep_their_digits_where_rows_are_decomposed():
    """σ₃ / σ₁ = 1e-6: a Gram matrix loses 12 of 16 digits of the variance, the rows themselves 6 of the axis."""
    rng = np.random.default_rng(1)
    U, V = (np.linalg.qr(rng.normal(size=(m, 3)))[0] for m in (20, 60))
    Y = (U - U.mean(axis=0)) * [1.0, 1e-2, 1e-6] @ V.T
    axes = np.linalg.svd(Y, full_matrices=False)[2][:3]
    truth = np.array([one[0][:3] for one in naive(Y, B, 0, 3, True, False, axes)])
    by_rows = resample_often(Sample(Y, 3, careful=True), B, 0).spectra[:, :3]
    by_gram = resample_often(Sample(Y, 3), B, 0).spectra[:, :3]
    assert np.allclose(by_rows, truth, rtol=1e-8, atol=0)
    assert not np.allclose(by_gram, truth, rtol=1e-8, atol=0)


@pytest.mark.parametrize("shape", [(15, 40), (60, 8)])
def test_weights_count_rows(shape):
    Y = rows(*shape)
    weight = np.random.default_rng(3).integers(0, 4, len(Y))
    Y = Y - weight @ Y / weight.sum()
    twice = resample_often(Sample(np.repeat(Y, weight, axis=0), 2), 10, 1)
    once = resample_often(Sample(Y, 2, weight=weight), 10, 1)
    m = min(twice.spectra.shape[1], once.spectra.shape[1])
    assert np.allclose(once.spectra[:, :m], twice.spectra[:, :m], rtol=1e-10, atol=1e-10)


def test_variances_do_not_depend_on_the_order_or_a_rotation_of_columns():
    Y = rows(20, 50)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 50)))[0]
    plain, turned, mixed = (resample_often(Sample(Z, K), 10, 0).spectra for Z in (Y, Y @ turn, Y[:, ::-1]))
    assert np.allclose(turned, plain, rtol=1e-10, atol=1e-10)
    assert np.allclose(mixed, plain, rtol=1e-10, atol=1e-10)


def test_the_seed_says_which_rows_and_the_threads_do_not(monkeypatch):
    Y = rows(20, 50)
    first = resample_often(Sample(Y, K), 20, 7)
    monkeypatch.setattr("lowdim.solvers.resampling.bootstrap.RESAMPLES_PER_TASK", 3)
    again, other = resample_often(Sample(Y, K), 20, 7), resample_often(Sample(Y, K), 20, 8)
    assert np.array_equal(first.axes, again.axes)
    assert not np.array_equal(first.spectra, other.spectra)
    longer = resample_often(Sample(Y, K), 30, 7)  # more resamples begin with the same ones
    assert np.array_equal(longer.spectra[:20], first.spectra)


def test_directions_that_a_resample_lacks_are_not_made_up():
    found = resample_often(Sample(rows(6, 30), 5), 30, 0)
    distinct = np.array([np.count_nonzero(draw_counts(np.arange(6), 6, 0, b)) for b in range(30)])
    for b in range(30):
        there = min(distinct[b] - 1, 5)
        assert np.isfinite(found.axes[:there, b]).all()
        assert np.isnan(found.axes[there:, b]).all()
        assert (found.spectra[b, there:] < 1e-12 * found.spectra[b, 0]).all()
    made = axis_intervals(found, np.tile(np.eye(5), (30, 1, 1)), np.ones((30, 5)), np.zeros((5, 30)), LEVEL)
    assert np.isnan(made.lower[4]).all()


def test_no_more_is_held_at_a_time_than_is_said(monkeypatch):
    """Draws of p columns are never made at once: each block has BLOCK_BYTES of them."""
    monkeypatch.setattr(bootstrap_axes, "BLOCK_BYTES", 8 * B * 16)
    Y, sizes = rows(10, 500), []
    found = resample_often(Sample(Y, 1), B, 0)
    made = type(found).components

    def components(self, which, columns):
        got = made(self, which, columns)
        sizes.append(got.shape)
        return got

    monkeypatch.setattr(type(found), "components", components)
    axis_intervals(found, np.ones((B, 1, 1)), np.ones((B, 1)), np.zeros((1, 500)), LEVEL)
    assert max(one[0] for one in sizes) == 16
    assert sum(one[0] for one in sizes) == 500
    assert found.axes.nbytes + found.scores.nbytes + Y.nbytes <= memory_needed(10, 500, 1, B)


def test_percentiles_are_those_of_numpy():
    draws = np.random.default_rng(0).normal(size=(5, 31)) + 4.0
    made = percentiles(draws.copy(), np.full(5, 4.0), 0.8)
    assert np.allclose([made.lower, made.upper], np.quantile(draws, [0.1, 0.9], axis=1, method="weibull"), rtol=1e-14)
    assert np.allclose(made.standard_error, draws.std(axis=1, ddof=1), rtol=1e-12)


def test_procrustes_brings_a_turned_plane_back():
    """Axes that were turned within their plane are those of all rows again; with signs alone they are not."""
    angles = np.linspace(0, 2 * np.pi, 9)
    overlaps = np.array([[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles])
    back = align(overlaps, LEVEL, procrustes=True)
    assert np.allclose(overlaps @ back.turns, np.eye(2), atol=1e-14)
    signed = align(overlaps, LEVEL, procrustes=False)
    assert (np.einsum("bii->bi", overlaps @ signed.turns) >= 0).all()
    assert np.allclose(signed.stability.plane_upper[1], 0, atol=1e-5)  # arccos of 1 − 1e-16 is 1e-6 degrees
    assert signed.stability.angle_upper[0] > 80
    assert 0.3 < signed.stability.kept[0] < 0.8
