"""Minka's evidence in O(p²) against the formula as it is printed, and against scikit-learn's."""

from math import lgamma, log, pi

import numpy as np
import pytest
from sklearn.decomposition._pca import _assess_dimension

import lowdim
from catalogue import with_spectrum
from lowdim.solvers.rank.minka import minka_dimension, minka_evidence


def printed_evidence(spectrum: np.ndarray, k: int, n: float) -> float:
    """Minka 2000, eq. 78, word by word (research/algorithms.md §1.5)."""
    d = len(spectrum)
    noise = sum(spectrum[k:]) / (d - k)
    m = d * k - k * (k + 1) / 2
    volume = -k * log(2) + sum(lgamma((d - i + 1) / 2) - (d - i + 1) / 2 * log(pi) for i in range(1, k + 1))
    l = [spectrum[j] if j < k else noise for j in range(d)]  # noqa: E741  the paper's letter
    hessian = sum(
        log(2 / pi)  # √(2π/A) = π: the whole range of an angle between exchangeable axes
        if spectrum[i] == spectrum[j]
        else log(1 / l[j] - 1 / l[i]) + log(spectrum[i] - spectrum[j]) + log(n)
        for i in range(k)
        for j in range(i + 1, d)
    )
    return (
        volume
        - n / 2 * sum(log(value) for value in spectrum[:k])
        - n * (d - k) / 2 * log(noise)
        + (m + k) / 2 * log(2 * pi)
        - hessian / 2
        - k / 2 * log(n)
    )


SPECTRA = {
    "planted 3 of 8": np.array([9.0, 7.0, 5.0, 1.3, 1.2, 1.1, 1.0, 0.9]),
    "geometric": 0.6 ** np.arange(12.0),
    "linear": np.arange(10.0, 0.0, -1.0),
    "two": np.array([2.0, 1.0]),
    "noise": np.sort(np.random.default_rng(0).chisquare(200, 20) / 200)[::-1],
    "large unit": 1e12 * np.array([9.0, 4.0, 1.2, 1.1, 1.0]),
    "pairs": np.array([9.0, 9.0, 4.0, 4.0, 2.0, 1.0, 1.0, 1.0]),
    "tied noise": np.array([9.0, 5.0, 1.0, 1.0, 1.0, 1.0]),
    "all but one tied": np.array([2.0, 2.0, 2.0, 2.0, 1.0]),
    "small unit": 1e-12 * np.array([9.0, 4.0, 1.2, 1.1, 1.0]),
}
every_spectrum = pytest.mark.parametrize("name", SPECTRA)


@every_spectrum
@pytest.mark.parametrize("n", [30, 1000, 10**6])
def test_evidence_is_the_printed_one(name: str, n: int) -> None:
    spectrum = SPECTRA[name]
    p = len(spectrum)
    found = minka_evidence(spectrum, p, n)
    expected = [printed_evidence(spectrum, k, n) for k in range(1, p)]
    # sums of p² logarithms times n: relative rounding. A common constant is left open: differences count
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7 * p)


# with ties scikit-learn takes the logarithm of zero
@pytest.mark.parametrize("name", [name for name, values in SPECTRA.items() if len(np.unique(values)) == len(values)])
@pytest.mark.parametrize("n", [30, 1000])
def test_evidence_is_scikit_learns(name: str, n: int) -> None:
    spectrum = SPECTRA[name]
    found = minka_evidence(spectrum, len(spectrum), n)
    expected = np.array([_assess_dimension(spectrum, k, n) for k in range(1, len(spectrum))])
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-7 * len(spectrum))


@every_spectrum
@pytest.mark.parametrize("n", [30, 1000])
def test_dimension_has_the_largest_evidence(name: str, n: int) -> None:
    spectrum = SPECTRA[name]
    expected = [printed_evidence(spectrum, k, n) for k in range(1, len(spectrum))]
    assert minka_dimension(spectrum, len(spectrum), n) == int(np.argmax(expected)) + 1


@pytest.mark.parametrize("power", [-40, 40])
def test_the_unit_does_not_matter(power: int) -> None:
    spectrum = SPECTRA["planted 3 of 8"]
    one, other = minka_evidence(spectrum, 8, 100), minka_evidence(np.ldexp(spectrum, power), 8, 100)
    np.testing.assert_allclose(other - other[0], one - one[0], rtol=1e-10, atol=1e-7)  # n p log 2^80 cancels


@pytest.mark.parametrize(
    ("spectrum", "p", "n"),
    [
        ([1.0] * 6, 6, 12),
        ([2.0, 2.0, 1.0, 1.0], 4, 50),
        ([3.0, 1.0, 0.0, 0.0], 4, 50),
        ([0.0, 0.0, 0.0], 3, 10),
        ([5.0], 1, 10),
        ([4.0, 3.0, 2.0], 8, 4),
        ([1e300, 1.0, 1e-300], 3, 10),
    ],
    ids=["tied", "pairs", "rank 2", "nothing", "one column", "fewer rows than columns", "graded"],
)
def test_spectra_without_a_formula_still_have_an_answer(spectrum: list[float], p: int, n: int) -> None:
    values = np.array(spectrum)
    rank = int((values > 0).sum())
    assert 1 <= minka_dimension(values, p, n) <= max(1, min(rank, p - 1))
    if p > 1:  # a single column leaves no choice, and no noise to weigh
        assert np.isfinite(minka_evidence(values, p, n)).all()


def test_fewer_rows_than_columns_follow_the_formula_up_to_where_no_noise_is_left() -> None:
    n, p = 12, 30
    X = np.random.default_rng(0).standard_normal((n, p))
    spectrum = np.zeros(p)
    spectrum[: n - 1] = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[: n - 1] ** 2
    found = minka_evidence(spectrum[: n - 1], p, n)
    assert len(found) == n - 2
    expected = [printed_evidence(spectrum, k, n) for k in range(1, n - 1)]
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7 * p)


def test_many_columns_take_seconds() -> None:
    """O(p²): no clock, but 3,000 columns in O(p³) would be an hour."""
    p = 3000
    spectrum = np.concatenate([np.linspace(90.0, 50.0, 7), np.linspace(1.1, 0.9, p - 7)])
    assert minka_dimension(spectrum, p, 100 * p) >= 7
    assert np.isfinite(minka_evidence(spectrum, p, 100 * p)).all()


def test_a_limit_only_cuts_the_path() -> None:
    spectrum = SPECTRA["geometric"]
    np.testing.assert_array_equal(minka_evidence(spectrum, 12, 100, most=4), minka_evidence(spectrum, 12, 100)[:4])


def test_zero_variances_are_never_kept() -> None:
    assert minka_dimension(np.array([3.0, 2.0, 0.0, 0.0, 0.0]), 5, 100) <= 2


@pytest.mark.parametrize(("n", "p", "k"), [(500, 12, 3), (600, 80, 6)])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "gram", "arpack", "randomized", "tsqr"])
def test_a_planted_dimension_is_found(solver: str, n: int, p: int, k: int) -> None:
    # far above the noise; with 80 columns an iteration sees only part of the spectrum unless it goes on to the end
    X = with_spectrum(n, p, 40 * np.linspace(5, 3, k)) + np.random.default_rng(0).standard_normal((n, p))
    assert lowdim.PCA("mle", svd_solver=solver).fit(X).n_components_ == k
