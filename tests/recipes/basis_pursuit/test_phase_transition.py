"""The curve of Donoho and Tanner, against its table and against what basis pursuit does."""

import numpy as np
import pytest

from lowdim.errors import BadParameter
from lowdim.recipes.basis_pursuit.basis_pursuit import basis_pursuit
from lowdim.recipes.basis_pursuit.sparsest import transition

DELTAS = [0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
SIGNED = [0.1544, 0.1894, 0.2433, 0.2674, 0.2908, 0.3373, 0.3857, 0.4384, 0.4988, 0.5733, 0.6782]
NONNEGATIVE = [0.1889, 0.2410, 0.3259, 0.3651, 0.4036, 0.4803, 0.5582, 0.6387, 0.7225, 0.8103, 0.9027]


@pytest.mark.parametrize(("nonnegative", "printed"), [(False, SIGNED), (True, NONNEGATIVE)])
def test_the_table(nonnegative: bool, printed: list[float]) -> None:
    found = [transition(delta, nonnegative) for delta in DELTAS]
    np.testing.assert_allclose(found, printed, rtol=0, atol=0.5001e-4)  # half of the last digit printed


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.5, 0.999])
def test_signs_that_are_known_allow_more_non_zeros(delta: float) -> None:
    assert 0 < transition(delta) < transition(delta, nonnegative=True) < 1


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5, float("nan")])
def test_no_curve_outside_of_zero_to_one(delta: float) -> None:
    with pytest.raises(BadParameter, match="between 0 and 1"):
        transition(delta)


@pytest.mark.slow
def test_half_of_the_trials_succeed_on_the_curve() -> None:
    # N = 200, m = 100. One point of the success rate has a standard deviation of at most .5/√30 = .09; the curve falls
    # from 1 to 0 over about .15 in ρ, so the crossing of a line through nine points is known to about .01
    m, N, trials = 100, 200, 30
    rng = np.random.default_rng(0)
    counts = np.array([30, 32, 34, 36, 38, 40, 42, 44, 46])
    rates = []
    for k in counts:
        successes = 0
        for _ in range(trials):
            A, y = rng.standard_normal((m, N)), np.zeros(N)
            y[rng.choice(N, k, replace=False)] = rng.standard_normal(k)
            found = basis_pursuit(A, A @ y)
            assert found.optimal
            if np.linalg.norm(found.coefficients - y) <= 1e-6 * np.linalg.norm(y):
                assert found.unique
                successes += 1
        rates.append(successes / trials)
    crossing = half_way(counts / m, np.array(rates))
    assert crossing == pytest.approx(transition(m / N), abs=0.03)


def half_way(rho: np.ndarray, rates: np.ndarray) -> float:
    """Where a logistic curve through the rates is one half: Newton's method for its two coefficients."""
    X = np.column_stack([np.ones_like(rho), (rho - rho.mean()) / rho.std()])
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-X @ beta))
        beta += np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]), X.T @ (rates - p))
    return float(rho.mean() - rho.std() * beta[0] / beta[1])
