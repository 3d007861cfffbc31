"""The law of Tracy & Widom against published figures, and Patterson's test against simulated noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.stats import binom

from lowdim.solvers.rank.tracy_widom import axis_tests, effective_columns, quantile, survival


@pytest.mark.parametrize(("level", "known"), [(0.90, 0.4501), (0.95, 0.9793), (0.99, 2.0234)])
def test_quantiles_are_the_published_ones(level: float, known: float) -> None:
    assert quantile(level) == pytest.approx(known, abs=5e-5)  # four decimals are printed in tables


def test_mean_and_variance_are_the_published_ones() -> None:
    x = np.linspace(-10, 9, 191)
    tail = np.array([survival(v) for v in x])
    mean = -10 + simpson(tail, x=x)
    second = 100 + simpson(2 * x * tail, x=x)
    # Bornemann 2010 prints −1.2065335745820 and 1.607781034581; 1e-9 lies beyond 9, and the rule adds less than 1e-6
    assert mean == pytest.approx(-1.2065335745820, abs=1e-7)
    assert second - mean**2 == pytest.approx(1.607781034581, abs=1e-6)


def test_the_tail_keeps_its_digits() -> None:
    # log P(TW₁ > x) ≈ −(2/3) x^(3/2): from 20 to 50 the difference is known to the order of the power law before it
    drop = np.log(survival(50.0)) - np.log(survival(20.0))
    assert drop == pytest.approx(-2 / 3 * (50**1.5 - 20**1.5), rel=0.01)
    assert survival(1e4) == 0.0
    assert survival(-50.0) == 1.0


def test_noise_is_called_noise_as_often_as_promised() -> None:
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(100):
        X = rng.standard_normal((40, 400))
        values = np.linalg.eigvalsh(np.cov(X))[::-1][:39]
        found += axis_tests(values, 1).significant()
    # a test that promises 5 % errs in more than this many of 100 with a probability of 0.001
    assert found <= binom.ppf(0.999, 100, 0.05)


def test_a_direction_beyond_noise_is_found_and_the_rest_is_not() -> None:
    rng = np.random.default_rng(8)
    X = rng.standard_normal((100, 3000))
    X[:50] += 3 * rng.standard_normal(3000) / np.sqrt(10)
    X -= X.mean(axis=0)
    values = np.linalg.eigvalsh(X @ X.T)[::-1][:99]
    tests = axis_tests(values, 10)
    assert tests.significant() == 1
    assert tests.p_values[0] < 1e-20


def test_effective_columns_are_the_columns_of_independent_noise() -> None:
    rng = np.random.default_rng(9)
    X = rng.standard_normal((60, 600))
    X -= X.mean(axis=0)
    # its standard deviation is about 600 √(2) / 59: the second moment of 59 eigenvalues
    assert effective_columns(np.linalg.eigvalsh(X @ X.T)[1:]) == pytest.approx(600, abs=60)


def test_equal_eigenvalues_are_no_axes() -> None:
    assert axis_tests(np.ones(10)).significant() == 0
