"""The law of large samples: Anderson's formulas, and the information that they follow from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from lowdim.models.probabilistic_pca.solvers.latent import find_spread, information
from lowdim.results.uncertainty import Intervals
from lowdim.solvers.resampling.large_sample import Spectrum, count_reaching


def spectrum(values=(10.0, 4.0, 1.0, 1.0), k=2, freedom=200.0, p=4):
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(p, p)))[0].T
    return Spectrum(np.array(values[:k]), axes[:k], k, values[-1], freedom, 0.95)


def test_variances_are_known_to_a_factor():
    """About the population's variances, which are the estimates less their bias, to first order in 1 / f."""
    found = spectrum().variances()
    middle = found.estimate - found.bias
    assert np.allclose(found.standard_error, middle * np.sqrt(2 / 200), rtol=0.03)
    assert np.allclose(found.upper / middle, middle / found.lower)
    assert found.bias == pytest.approx([10 / 200 * (4 / 6 + 2 / 9), 4 / 200 * (-10 / 6 + 2 / 3)], rel=0.1)  # Lawley
    more = spectrum(freedom=200_000.0).variances()
    assert np.allclose(more.standard_error, more.estimate * np.sqrt(2 / 200_000), rtol=1e-4)


def eigen(truth, n, tables):
    """Eigenvalues and eigenvectors, largest first, of covariances of Gaussian tables of n rows."""
    p = len(truth)
    X = np.random.default_rng(0).normal(size=(tables, n, p)) * np.sqrt(truth)
    X -= X.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(np.swapaxes(X, 1, 2) @ X / (n - 1))
    return values[:, ::-1], np.swapaxes(vectors[:, :, ::-1], 1, 2)


def test_intervals_hold_variances_and_shares_as_often_as_they_say():
    """Of 90 % intervals of 1,000 tables of 300 rows, 90 % hold the truth, give or take what chance allows in 1 of 1,000
    (and 1 % for 300 rows not being infinitely many)."""
    truth, tables, n = np.array([9.0, 4.0, 1.0]), 1000, 300
    held = np.zeros((2, 3), dtype=int)
    for values, axes in zip(*eigen(truth, n, tables), strict=True):
        found = Spectrum(values, axes, 3, 0.0, n - 1, 0.9)
        for row, (made, right) in enumerate(((found.variances(), truth), (found.shares(), truth / truth.sum()))):
            held[row] += (made.lower <= right) & (right <= made.upper)
    least, most = binom.ppf([0.0005, 0.9995], tables, 0.9) + np.array([-10, 10])
    assert ((held >= least) & (held <= most)).all(), held


def test_errors_of_axes_are_those_that_samples_show():
    """The spread of axes over 1,000 tables of 500 rows is right to about 1 / √2000 itself."""
    truth, n = np.array([16.0, 6.0, 1.0, 1.0]), 500
    _, axes = eigen(truth, n, 1000)
    seen = np.sqrt((axes[:, :2] ** 2).mean(axis=0))
    law = Spectrum(truth[:2], np.eye(4)[:2], 2, 1.0, n - 1, 0.95).components().standard_error
    off = ~np.eye(2, 4, dtype=bool)  # an axis' own entry is 1 − θ² / 2: of second order
    assert np.allclose(law[off], seen[off], rtol=0.1)


def test_noise_for_the_rest_is_the_same_as_its_directions_one_by_one():
    one = spectrum()
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0].T
    every = Spectrum(np.array([10.0, 4.0, 1.0, 1.0]), axes, 2, 0.0, 200.0, 0.95)
    assert np.allclose(one.components().standard_error, every.components().standard_error)
    # sample variances of even noise are not even: what two directions add differs by some hundredths of its own part
    assert np.allclose(one.shares().standard_error, every.shares().standard_error, rtol=1e-3)
    assert np.allclose(one.shares(True).lower, every.shares(True).lower, rtol=1e-3)


def test_tied_axes_may_be_anywhere_in_their_plane():
    axes = np.eye(5)
    found = Spectrum(np.array([10.0, 10.0 * (1 - 1e-9)]), axes[:2], 2, 1.0, 1e6, 0.95).components()
    assert np.allclose(found.lower[0, :2], [0.0, -1.0], atol=1e-2)  # the sign is that of the estimate
    assert np.allclose(found.upper[0, :2], 1.0, atol=1e-2)
    assert (np.abs(found.upper[0, 2:]) < 0.01).all()  # the plane itself is sure


def test_the_number_that_reaches_a_share_is_where_the_intervals_cross_it():
    ends = np.array([[0.5, 0.8, 0.93], [0.4, 0.75, 0.88], [0.6, 0.91, 0.97]])
    found = count_reaching(Intervals(ends[0], np.zeros(3), ends[1], ends[2]), 0.9, "rule")
    assert (found.estimate, found.lower, found.upper) == (3, 2, 4)
    assert count_reaching(Intervals(ends[0], np.zeros(3), ends[1], ends[2]), 0.99, "rule") is None


@pytest.mark.parametrize("k", [1, 2, 3])
def test_information_without_holes_gives_andersons_law(k):
    """Two derivations of one thing: Fisher's information of the loadings, and the law of eigenvectors."""
    p, n, noise = 6, 150_000, 0.5  # so many rows that nothing is left of the bias of variances
    V = np.linalg.qr(np.random.default_rng(1).normal(size=(p, k)))[0]
    lengths = np.array([3.0, 2.0, 1.2])[:k]
    known = information(V * lengths, noise, np.ones((1, p), bool), np.array([float(n)]), np.zeros(k))
    found = find_spread(V * lengths, noise, known, noise_known=False)
    law = Spectrum(lengths**2 + noise, V.T, k, noise, n, 0.95)
    assert np.allclose(found.components, law.components().standard_error, rtol=1e-9)
    assert np.allclose(found.loadings, law.loadings(lengths).standard_error, rtol=1e-9)
    errors = np.sqrt(np.diag(found.variances))
    assert np.allclose(errors, np.append(law.variances().standard_error, law.noise().standard_error), rtol=1e-4)


def test_information_is_the_curvature_of_the_likelihood():
    """The expected log-likelihood of rows with holes, differentiated twice by finite differences."""
    rng = np.random.default_rng(2)
    p, k, noise = 4, 2, 0.7
    W, seen = rng.normal(size=(p, k)), np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0]], bool)
    times = np.array([5.0, 2.0, 3.0])

    def covariance(theta, here):
        part = theta[:-1].reshape(p, k)[here]
        return part @ part.T + np.exp(theta[-1]) * np.eye(here.sum())

    at = np.append(W.ravel(), np.log(noise))

    def expected(theta):
        total = 0.0
        for here, count in zip(seen, times, strict=True):
            C = covariance(theta, here)
            total -= 0.5 * count * (np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, covariance(at, here))))
        return total

    h, d = 1e-4, len(at)
    steps = np.eye(d) * h
    sides = [[expected(at + a + b) + expected(at - a - b) for b in steps] for a in steps]
    other = [[expected(at + a - b) + expected(at - a + b) for b in steps] for a in steps]
    curvature = (np.array(sides) - np.array(other)) / (4 * h * h)
    found = information(W, noise, seen, times, np.zeros(k))
    assert np.allclose(found, -curvature, atol=1e-5)  # differences of h = 1e-4 are right to about h² and 1e-16 / h²
