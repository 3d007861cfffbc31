"""The laws of T², exactly: p-values of normal rows are uniform."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lowdim.models.linear.control_limits import box_limit, jackson_limit, q_limit, q_limit_of_moments, t2_limit

TRIES = 4000
UNLIKELY = 1e-3
"""With fixed seeds these tests cannot fail by chance again; at this level they did not the first time."""


@pytest.mark.parametrize(("n", "p", "k"), [(30, 8, 3), (12, 5, 5), (10, 40, 4)])
def test_rows_of_a_fit_follow_the_beta_law_for_any_k(n, p, k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((TRIES, n, p)) * np.linspace(3, 0.5, p)
    U = np.linalg.svd(X - X.mean(axis=1, keepdims=True), full_matrices=False)[0]
    t2 = (n - 1) * (U[:, 0, :k] ** 2).sum(axis=1)  # one row of each sample: they are not independent
    found = t2_limit(t2, k, n, 0.95, training=True)
    assert stats.kstest(found.p_values, "uniform").pvalue > UNLIKELY
    assert np.mean(t2 > found.value) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / TRIES))


@pytest.mark.parametrize("p", [4, 6, 12])
def test_q_of_rows_of_a_fit_is_a_sum_over_dirichlets_law(p):
    """Given the spectrum, over turns of the rows; saddlepoints are right to some thousandths of a probability."""
    n, k = 10, 2
    rng = np.random.default_rng(0)
    turns = rng.standard_normal((TRIES, n, n - 1))
    turns = np.linalg.qr(turns - turns.mean(axis=1, keepdims=True))[0]  # columns that add up to zero
    spectrum = np.linspace(5.0, 1.0, p)[: n - 1]
    q = (n - 1) * (turns[:, 0, k : len(spectrum)] ** 2 @ spectrum[k:])
    for level in (0.5, 0.9, 0.95, 0.99):
        found = q_limit(q, spectrum[k:], n, level, "")
        bound = 4 * np.sqrt(level * (1 - level) / TRIES) + 0.005
        assert np.mean(q > found.value) == pytest.approx(1 - level, abs=bound), level
        assert np.mean(found.p_values < 1 - level) == pytest.approx(1 - level, abs=bound), level
    left = spectrum[k:]
    moments = q_limit_of_moments(q, float(left.sum()), float((left**2).sum()), n, 0.95, "")
    assert moments.value == pytest.approx(
        q_limit(q, left, n, 0.95, "").value, rel=0.05
    )  # two moments say nearly as much


def test_one_variance_left_out_makes_q_a_beta_variable():
    """(n − 1)²/n l Beta(1/2, (n − 2)/2) is known exactly; of one term saddlepoints are right to .012."""
    n, x = 12, np.array([0.5, 2.0, 5.0, 15.0])
    law = stats.beta(0.5, (n - 2) / 2)
    np.testing.assert_allclose(
        q_limit(x, np.array([3.0]), n, 0.95, "").p_values, law.sf(x * n / (3 * (n - 1) ** 2)), atol=0.015
    )


def test_new_rows_follow_the_f_law():
    rng = np.random.default_rng(0)
    n, p = 15, 3
    X, new = rng.standard_normal((TRIES, n, p)), rng.standard_normal((TRIES, p))
    mean = X.mean(axis=1)
    inverse = np.linalg.inv(np.stack([np.cov(sample.T) for sample in X]))
    t2 = np.einsum("ij,ijk,ik->i", new - mean, inverse, new - mean)
    found = t2_limit(t2, p, n, 0.95, training=False)
    assert stats.kstest(found.p_values, "uniform").pvalue > UNLIKELY


def test_equal_variances_make_box_exact_and_jackson_near():
    left, q = np.full(6, 2.0), np.array([3.0, 12.0, 40.0])
    box = box_limit(q, left.sum(), (left**2).sum(), 0.95, "")
    assert box.value == pytest.approx(2 * stats.chi2.ppf(0.95, 6), rel=1e-12)
    np.testing.assert_allclose(box.p_values, stats.chi2.sf(q / 2, 6), rtol=1e-12)
    jackson = jackson_limit(q, left, 0.95)
    # for equal variances it is the Wilson–Hilferty cube root, good to a few thousandths of the limit
    assert jackson.value == pytest.approx(box.value, rel=5e-3)
    at = jackson_limit(np.array([jackson.value]), left, 0.95)
    assert at.p_values[0] == pytest.approx(0.05, rel=1e-9)


def test_jackson_without_a_power_says_so():
    # one variance of 30 beside a hundred of 1: Σλ Σλ³ = 130 × 27,100 against 1.5 (Σλ²)² = 1.5 × 10⁶
    with pytest.raises(ValueError, match="-"):
        jackson_limit(np.ones(1), np.append(np.ones(100), 30.0), 0.95)
