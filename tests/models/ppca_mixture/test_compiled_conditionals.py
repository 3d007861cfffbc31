"""Compiled conditionals against the textbook's formulas."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest

from lowdim.models.ppca_mixture.solvers import Gaussian, expect_entries, likelihoods, moments


@pytest.mark.usefixtures("each_library")
@pytest.mark.parametrize("hidden", [0.0, 0.1, 0.5, 0.8, 1.0])
@pytest.mark.parametrize(("n", "p"), [(0, 5), (7, 1), (9, 2), (30, 7), (30, 8), (12, 50), (5, 147)])
def test_kernels_are_the_formulas(n: int, p: int, hidden: float, no_library: Callable[[], AbstractContextManager]):
    rng = np.random.default_rng([n, p])
    root = rng.standard_normal((p, 2 * p))
    gaussian = Gaussian(rng.standard_normal(p), root @ root.T / p + 0.3 * np.eye(p))
    X = rng.standard_normal((n, p + 3))[:, 1:-2]  # rows lie apart
    X[rng.random((n, p)) < hidden] = np.nan
    X[1::5] = np.nan
    X[2::5, 0] = np.inf  # is not observed either
    weight, centre = rng.random(n), rng.standard_normal(p)

    def found() -> list[np.ndarray]:
        sums = moments(gaussian, X, weight, centre)
        return [likelihoods(gaussian, X), *expect_entries(gaussian, X), sums.first, sums.second]

    compiled = found()
    with no_library():
        plain = found()
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)  # roundings times a condition of 100 or so
    seen = np.isfinite(X)
    np.testing.assert_array_equal(compiled[1][seen], X[seen])
    assert (compiled[2][seen] == 0).all()


@pytest.mark.usefixtures("each_route")
def test_a_singular_covariance_is_held_off() -> None:
    """Two columns are the same: pivots are not let fall to zero."""
    cov = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    gaussian = Gaussian(np.zeros(3), cov)
    gaussian.__dict__.update(precision=np.linalg.pinv(cov), logdet=0.0)
    means, variances = expect_entries(gaussian, np.array([[0.5, np.nan, np.nan], [np.nan, np.nan, np.nan]]))
    np.testing.assert_allclose(means, [[0.5, 0.5, 0.25], [0, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(variances, [[0, 0, 0.75], [1, 1, 1]], atol=1e-6)
