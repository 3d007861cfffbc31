"""Mixtures of PPCAs: closed form for one, rising objective, planted components found, expectations calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import PCA
from lowdim.models.ppca_mixture.solvers import (
    Mixture,
    Prior,
    Settings,
    fit_mixture,
    fit_one_component,
    predict_entries,
    responsibilities,
    split_by_label,
)

RNG = np.random.default_rng(0)
P, K = 8, 2
TRUTH = Mixture(
    weights=np.array([0.6, 0.4]),
    means=np.stack([np.zeros(P), np.full(P, 6.0)]),
    W=2.0 * RNG.standard_normal((2, P, K)),
    noise=np.array([0.2, 0.4]),
)


def drawn(n: int, hidden: float = 0.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the true mixture, whole and with holes, and the component of each."""
    rng = np.random.default_rng(seed)
    kinds = (rng.random(n) > TRUTH.weights[0]).astype(int)
    X = np.stack([rng.multivariate_normal(TRUTH.gaussians[c].mean, TRUTH.gaussians[c].cov) for c in kinds])
    return X, np.where(rng.random(X.shape) < hidden, np.nan, X), kinds


def test_one_component_without_holes_is_the_closed_form():
    X, _, _ = drawn(400)
    settings = Settings(K)
    model, path = fit_mixture(X, fit_one_component(X, settings), settings)
    closed = PCA(K, ddof=0).fit(X)
    np.testing.assert_allclose(model.gaussians[0].cov, closed.get_covariance(), rtol=1e-8, atol=1e-8)
    assert model.noise[0] == pytest.approx(closed.noise_variance_)
    assert len(path) == 2  # nothing is left to gain


@pytest.mark.parametrize("prior", [None, Prior(np.zeros(P), 4 * np.eye(P), 20.0)])
def test_the_objective_never_falls(prior):
    _, X, kinds = drawn(300, hidden=0.4)
    settings = Settings(K, prior=prior)
    one = fit_one_component(np.nan_to_num(X), settings)
    _, path = fit_mixture(X, split_by_label(one, X, kinds, settings), settings, most=40)
    assert len(path) > 5
    # chances below 1e-4 are left out of the sums, which may cost a little of a gain
    assert (np.diff(path) > -1e-6 * abs(path[-1])).all()


def test_planted_components_are_found_in_spite_of_holes():
    _, X, kinds = drawn(3000, hidden=0.3)
    settings = Settings(K)
    wrong = np.where(np.random.default_rng(2).random(len(kinds)) < 0.2, 1 - kinds, kinds)
    model, _ = fit_mixture(
        X, split_by_label(fit_one_component(np.nan_to_num(X), settings), X, wrong, settings), settings
    )
    # 1,200 rows with holes in the smaller part: standard errors of a few hundredths of each size
    np.testing.assert_allclose(model.weights, TRUTH.weights, atol=0.03)
    np.testing.assert_allclose(model.noise, TRUTH.noise, rtol=0.1)
    for found, true in zip(model.gaussians, TRUTH.gaussians, strict=True):
        assert np.linalg.norm(found.cov - true.cov) < 0.1 * np.linalg.norm(true.cov)
    chances, _ = responsibilities(model, X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-12)


def test_expectations_are_as_far_off_as_they_say():
    X, holes, _ = drawn(4000, hidden=0.4)
    means, variances = predict_entries(TRUTH, holes)
    hidden = np.isnan(holes)
    inside = np.abs(means - X)[hidden] <= 1.96 * np.sqrt(variances[hidden])
    # about 12,800 values in 4,000 rows: a standard error below half a point
    assert 0.935 < inside.mean() < 0.965
    np.testing.assert_allclose(means[~hidden], X[~hidden], atol=1e-9)


def test_known_noise_is_kept_and_dead_components_go():
    X, _, kinds = drawn(200)
    settings = Settings(K, noise=0.3)
    one = fit_one_component(X, settings)
    assert one.noise[0] == 0.3
    far = Mixture(
        np.array([0.5, 0.5]),
        np.stack([one.means[0], one.means[0] + 1e4]),
        np.repeat(one.W, 2, axis=0),
        np.repeat(one.noise, 2),
    )
    model, _ = fit_mixture(X, far, settings, most=3)
    assert len(model.weights) == 1
    assert (split_by_label(one, X, kinds, settings).noise == 0.3).all()


def test_integer_weights_are_repeated_rows_from_the_same_start():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 5)) + 4 * (np.arange(90) % 2)[:, None]
    X[rng.random(X.shape) < 0.15] = np.nan
    kinds, weight, settings = np.arange(90) // 45, np.arange(90) % 4, Settings(2)
    often, of = np.repeat(X, weight, axis=0), np.repeat(kinds, weight)
    one = fit_one_component(np.nan_to_num(X), settings, weight.astype(float))
    same = fit_one_component(np.nan_to_num(often), settings)
    np.testing.assert_allclose(one.gaussians[0].cov, same.gaussians[0].cov, atol=1e-12)
    model, path = fit_mixture(
        X, split_by_label(one, X, kinds, settings, weight.astype(float)), settings, 30, weight=weight.astype(float)
    )
    other, there = fit_mixture(often, split_by_label(same, often, of, settings), settings, 30)
    # the same sums in another order, thirty times
    np.testing.assert_allclose(path, there, rtol=1e-9)
    np.testing.assert_allclose(model.weights, other.weights, atol=1e-8)
    np.testing.assert_allclose(model.means, other.means, atol=1e-7)
    for g, h in zip(model.gaussians, other.gaussians, strict=True):
        np.testing.assert_allclose(g.cov, h.cov, atol=1e-7)
