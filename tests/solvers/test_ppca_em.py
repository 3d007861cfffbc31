"""Probabilistic PCA with holes: closed form where nothing is missing, density of what is seen, rising likelihood."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from lowdim import PCA
from lowdim.solvers.ppca_em import Latent, fit_by_em, posterior, predicted

RNG = np.random.default_rng(0)
TRUTH = Latent(
    mean=np.arange(8.0), W=RNG.standard_normal((8, 2)) * [3.0, 1.5], noise=0.25
)  # 8 columns, 2 hidden, deviation 0.5


def drawn(n: int, hidden: float = 0.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the true model, whole and with holes at random."""
    rng = np.random.default_rng(seed)
    X = TRUTH.mean + rng.standard_normal((n, 2)) @ TRUTH.W.T + np.sqrt(TRUTH.noise) * rng.standard_normal((n, 8))
    return X, np.where(rng.random(X.shape) < hidden, np.nan, X)


def covariance(model: Latent) -> np.ndarray:
    return model.W @ model.W.T + model.noise * np.eye(len(model.mean))


def test_without_holes_it_is_the_closed_form():
    X, _ = drawn(500)
    model, _ = fit_by_em(X, 2, np.random.default_rng(0))
    closed = PCA(2, ddof=0).fit(X)
    # EM stops when a step gains 1e-7 per entry: the covariance is then right to about the root of that
    np.testing.assert_allclose(covariance(model), closed.get_covariance(), atol=1e-3 * closed.total_variance_)
    np.testing.assert_allclose(model.mean, X.mean(axis=0), atol=1e-6)
    assert model.noise == pytest.approx(closed.noise_variance_, rel=1e-3)


def test_the_density_is_that_of_the_observed_entries():
    _, X = drawn(20, hidden=0.4)
    C = covariance(TRUTH)
    for row, loglik in zip(X, posterior(TRUTH, X).loglik, strict=True):
        seen = np.isfinite(row)
        normal = scipy.stats.multivariate_normal(TRUTH.mean[seen], C[np.ix_(seen, seen)])
        assert loglik == pytest.approx(normal.logpdf(row[seen]) if seen.any() else 0.0, rel=1e-10)


def test_expected_entries_are_those_of_the_conditional_gaussian():
    _, X = drawn(20, hidden=0.4)
    C = covariance(TRUTH)
    values, deviations = predicted(TRUTH, X)
    for i, row in enumerate(X):
        o, m = np.isfinite(row), ~np.isfinite(row)
        gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        # an inverse and a product apart: roundings of float64 times the condition of C, about 100
        np.testing.assert_allclose(values[i, m], TRUTH.mean[m] + gain @ (row[o] - TRUTH.mean[o]), atol=1e-10)
        spread = np.diag(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)])
        np.testing.assert_allclose(deviations[i, m], np.sqrt(spread), rtol=1e-10)


@pytest.mark.parametrize("hidden", [0.0, 0.2, 0.6])
def test_the_likelihood_never_falls(hidden):
    _, X = drawn(300, hidden)
    _, path = fit_by_em(X, 2, np.random.default_rng(0))
    assert len(path) < 300
    # sums of 2,400 logarithms round by about 1e-12 of their size
    assert (np.diff(path) > -1e-10 * abs(path[-1])).all()


def test_the_truth_is_found_from_a_third_of_the_entries():
    _, X = drawn(20_000, hidden=0.66)
    model, _ = fit_by_em(X, 2, np.random.default_rng(0))
    # sampling error: 20,000 rows and a third of their entries give covariances to 2 or 3 % of the largest variance
    np.testing.assert_allclose(covariance(model), covariance(TRUTH), atol=0.03 * covariance(TRUTH).max())
    assert model.noise == pytest.approx(TRUTH.noise, rel=0.05)


def test_intervals_cover_what_they_promise():
    whole, X = drawn(5_000, hidden=0.2)
    values, deviations = predicted(fit_by_em(X, 2, np.random.default_rng(0))[0], X)
    hidden = np.isnan(X)
    inside = np.abs(whole - values)[hidden] < 1.96 * deviations[hidden]
    # 8,000 hidden entries: 0.95 ± 0.0024, and some for the estimated model
    assert inside.mean() == pytest.approx(0.95, abs=0.01)


def test_the_result_does_not_depend_on_the_order_of_rows():
    _, X = drawn(400, hidden=0.3)
    turn = np.random.default_rng(3).permutation(len(X))
    one, _ = fit_by_em(X, 2, np.random.default_rng(0))
    other, _ = fit_by_em(X[turn], 2, np.random.default_rng(0))
    np.testing.assert_allclose(covariance(one), covariance(other), atol=1e-6)  # sums in another order, 100 steps long
