"""The hard threshold of singular values, against the numbers of the paper and against simulated noise."""

import numpy as np
import pytest

from lowdim.solvers.rank.spectrum_rules import (
    known_noise_factor,
    marchenko_pastur_median,
    threshold,
    unknown_noise_factor,
)

EXACT = {0.05: 1.5193, 0.1: 1.6088, 0.25: 1.8369, 0.5: 2.1712, 0.75: 2.5014, 1.0: 2.8584}
"""ω(β), from the integral; table IV of Gavish & Donoho 2014 has the same to four digits."""


@pytest.mark.parametrize(("beta", "omega"), EXACT.items())
def test_factors_for_unknown_noise_are_those_of_the_paper(beta, omega):
    assert unknown_noise_factor(beta) == pytest.approx(omega, abs=5e-5)  # half of the last digit


@pytest.mark.parametrize("beta", EXACT)
def test_the_cubic_of_the_paper_is_near(beta):
    cubic = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
    assert unknown_noise_factor(beta) == pytest.approx(cubic, abs=0.02)  # the paper's own bound of the difference


def test_a_square_matrix_has_four_over_root_three():
    assert known_noise_factor(1.0) == pytest.approx(4 / np.sqrt(3), rel=1e-14)
    assert marchenko_pastur_median(1.0) == pytest.approx(0.6528, abs=5e-5)
    assert known_noise_factor(1e-12) == pytest.approx(np.sqrt(2), rel=1e-6)  # the limit of a single column


@pytest.mark.parametrize(("n", "p"), [(1000, 200), (200, 1000), (500, 500)])
def test_the_median_is_that_of_noise(n, p):
    s = np.linalg.svd(np.random.default_rng(0).standard_normal((n, p)), compute_uv=False)
    median = np.median(s) ** 2 / max(n, p)
    assert median == pytest.approx(marchenko_pastur_median(min(n, p) / max(n, p)), rel=0.02)  # fluctuates by 1/p
    # so the two thresholds agree where the noise is known to be 1
    assert threshold(s, n, p) == pytest.approx(threshold(s, n, p, noise=1.0), rel=0.01)


def test_the_threshold_has_the_unit_of_the_noise():
    s = np.linspace(10.0, 1.0, 10)
    assert threshold(7 * s, 100, 10) == pytest.approx(7 * threshold(s, 100, 10), rel=1e-14)
    assert threshold(s, 100, 10, 7.0) == pytest.approx(7 * threshold(s, 100, 10, 1.0), rel=1e-14)
    assert threshold(s, 100, 10) == threshold(s, 10, 100)
