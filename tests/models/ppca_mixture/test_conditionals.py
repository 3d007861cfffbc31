"""Rows with hidden entries: the conditional Gaussian, by either of its two ways."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from lowdim.models.ppca_mixture import solvers
from lowdim.models.ppca_mixture.solvers import Gaussian, expect_entries, likelihoods, moments

RNG = np.random.default_rng(0)
P = 9
ROOT = RNG.standard_normal((P, P))
TRUTH = Gaussian(RNG.standard_normal(P), ROOT @ ROOT.T + 0.3 * np.eye(P))


def rows(hidden: float, n: int = 30) -> np.ndarray:
    """Rows of the Gaussian; also one that is whole and one of which nothing is known."""
    rng = np.random.default_rng(1)
    X = rng.multivariate_normal(TRUTH.mean, TRUTH.cov, n)
    X[rng.random(X.shape) < hidden] = np.nan
    X[0], X[1] = TRUTH.mean + 1.0, np.nan
    return X


def conditional(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (p,) and covariance (p, p) by the textbook's formula."""
    o, h = np.isfinite(x), np.isnan(x)
    gain = TRUTH.cov[np.ix_(h, o)] @ np.linalg.inv(TRUTH.cov[np.ix_(o, o)])
    mean, cov = x.copy(), np.zeros((P, P))
    mean[h] = TRUTH.mean[h] + gain @ (x[o] - TRUTH.mean[o])
    cov[np.ix_(h, h)] = TRUTH.cov[np.ix_(h, h)] - gain @ TRUTH.cov[np.ix_(o, h)]
    return mean, cov


# mostly observed rows go through the precision, mostly hidden ones through the covariance
@pytest.mark.parametrize("hidden", [0.2, 0.5, 0.8])
class TestEitherWay:
    def test_the_density_is_that_of_the_observed_entries(self, hidden):
        X = rows(hidden)
        for x, loglik in zip(X, likelihoods(TRUTH, X), strict=True):
            o = np.isfinite(x)
            normal = scipy.stats.multivariate_normal(TRUTH.mean[o], TRUTH.cov[np.ix_(o, o)]) if o.any() else None
            # roundings of float64 times the condition of the covariance, about 1e3
            assert loglik == pytest.approx(normal.logpdf(x[o]) if normal else 0.0, rel=1e-9, abs=1e-10)

    def test_hidden_entries_are_those_of_the_conditional(self, hidden):
        X = rows(hidden)
        means, variances = expect_entries(TRUTH, X)
        for x, mean, variance in zip(X, means, variances, strict=True):
            wanted, cov = conditional(x)
            np.testing.assert_allclose(mean, wanted, atol=1e-9)
            np.testing.assert_allclose(variance, np.diag(cov), atol=1e-9)
            assert (variance[np.isfinite(x)] == 0).all()
            np.testing.assert_array_equal(mean[np.isfinite(x)], x[np.isfinite(x)])

    def test_sums_are_those_of_the_rows(self, hidden, monkeypatch):
        monkeypatch.setattr(solvers, "PIECE_ROWS", 7)  # several tasks
        X, weight = rows(hidden), RNG.random(30)
        found = moments(TRUTH, X, weight, centre := RNG.standard_normal(P))
        each = [conditional(x) for x in X]
        first = sum(w * mean for w, (mean, _) in zip(weight, each, strict=True))
        second = sum(w * (np.outer(m - centre, m - centre) + cov) for w, (m, cov) in zip(weight, each, strict=True))
        assert found.weight == pytest.approx(weight.sum())
        np.testing.assert_allclose(found.first, first, atol=1e-8)
        np.testing.assert_allclose(found.second, second, atol=1e-8)
