"""Rules for the number of components, against answers worked by hand and published tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from lowdim.solvers.rank.spectrum_rules import (
    bai_ng,
    broken_stick,
    broken_stick_count,
    kaiser_count,
    measure_sphericity,
    ppca_bic,
    share_count,
)

DECATHLON = np.array([3.2719, 1.7371, 1.4049, 1.0568, 0.6848, 0.5993, 0.4512, 0.3969, 0.2148, 0.1822])
"""Eigenvalues of the correlations of the decathlon data of FactoMineR (Lê, Josse & Husson 2008): four above one."""


def test_broken_stick_of_three_pieces():
    # 1/3 (1 + 1/2 + 1/3), 1/3 (1/2 + 1/3), 1/3 · 1/3
    np.testing.assert_allclose(broken_stick(3), [11 / 18, 5 / 18, 2 / 18], rtol=1e-15)


@pytest.mark.parametrize("count", [1, 2, 7, 500])
def test_broken_sticks_have_length_one_and_descend(count):
    pieces = broken_stick(count)
    assert pieces.sum() == pytest.approx(1.0, rel=1e-13)  # 500 terms of rounding
    assert (np.diff(pieces) < 0).all()


def test_kaiser_counts_eigenvalues_above_one_of_a_correlation_matrix():
    assert kaiser_count(DECATHLON, len(DECATHLON)) == 4


def test_kaiser_keeps_none_of_equal_variances():
    assert kaiser_count(np.full(5, 0.3), 5) == 0


def test_broken_stick_by_hand():
    # pieces of 10: 0.293, 0.193, 0.143, …; shares 0.327, 0.174: the second falls short
    assert broken_stick_count(DECATHLON) == 1
    # pieces of 3: 0.611, 0.278: shares 0.62 and 0.30 are longer, 0.08 is not
    assert broken_stick_count(np.array([0.62, 0.30, 0.08])) == 2
    # a later piece that is longer again does not count
    assert broken_stick_count(np.array([0.50, 0.45, 0.05])) == 0
    assert broken_stick_count(np.zeros(3)) == 0


def test_shares_are_reached_when_met_exactly():
    assert share_count(np.array([8.0, 1.0, 1.0]), 0.8) == 1
    assert share_count(np.array([8.0, 1.0, 1.0]), 0.9) == 2
    assert share_count(np.full(10, 0.1), 0.8) == 8  # ten times 0.1 is not 1 in binary
    assert share_count(DECATHLON, 0.8) == 5


# -- criteria -----------------------------------------------------------------------------------------------------


def planted_rows(n: int = 60, p: int = 7) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((n, 2)) @ rng.standard_normal((2, p)) + rng.standard_normal((n, p))
    return X - X.mean(axis=0)


def test_bic_is_minus_twice_the_likelihood_plus_log_n_for_each_parameter():
    Y = planted_rows()
    n, p = Y.shape
    values, vectors = np.linalg.eigh(Y.T @ Y / n)
    values, vectors = values[::-1], vectors[:, ::-1]
    expected = []
    for k in range(p):
        noise = values[k:].mean()
        C = noise * np.eye(p) + vectors[:, :k] * (values[:k] - noise) @ vectors[:, :k].T
        loglik = multivariate_normal(np.zeros(p), C).logpdf(Y).sum()
        expected.append(-2 * loglik + (p * k - k * (k - 1) / 2 + 1 + p) * np.log(n))
    np.testing.assert_allclose(ppca_bic(values, p, n, p - 1), expected, rtol=1e-11)  # sums of 60 logarithms


def test_bai_ng_is_the_printed_criterion_but_for_the_unit():
    Y = planted_rows()
    n, p = Y.shape
    U, s, Vt = np.linalg.svd(Y, full_matrices=False)
    printed = []
    for k in range(5):
        V = ((Y - U[:, :k] * s[:k] @ Vt[:k]) ** 2).sum() / (n * p)
        printed.append(np.log(V) + k * (n + p) / (n * p) * np.log(min(n, p)))
    found = bai_ng(s**2, p, n, 4)
    np.testing.assert_allclose(found - found[0], np.array(printed) - printed[0], atol=1e-12)  # rounding of logarithms
    np.testing.assert_allclose(bai_ng(1e9 * s**2, p, n, 4), found, atol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(400, 20), (150, 100), (60, 300)])
def test_noise_is_round_and_uneven_noise_is_not(n, p):
    rng, z = np.random.default_rng(0), []
    uneven = np.linspace(0.5, 2.0, p)
    for _ in range(200):
        X = rng.standard_normal((n, p))
        values = np.linalg.eigvalsh(X @ X.T if n < p else X.T @ X)
        z.append(measure_sphericity(values, max(n, p))[0])
    # about normal with mean 0 and deviation 1: means of 200 within three standard errors and the law's own O(1/p)
    assert abs(np.mean(z)) < 3 / np.sqrt(200) + 2 / min(n, p)
    assert 0.8 < np.std(z) < 1.25
    X = rng.standard_normal((n, p)) * uneven
    assert measure_sphericity(np.linalg.eigvalsh(X @ X.T if n < p else X.T @ X), max(n, p))[0] > np.max(z)
