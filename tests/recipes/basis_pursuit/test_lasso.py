"""The smallest |y|₁ within a noise bound."""

import numpy as np
import pytest

from lowdim.errors import BadParameter
from lowdim.recipes.basis_pursuit.lasso import least_absolute_within
from lowdim.recipes.basis_pursuit.linear_program import least_absolute, lower_bound, steepest

MATRICES = {
    "Gaussian": lambda rng: rng.standard_normal((15, 40)),
    "signs": lambda rng: rng.choice([-1.0, 1.0], (8, 30)),
    "whole numbers": lambda rng: rng.integers(-2, 3, (10, 25)).astype(float),
    "twins": lambda rng: np.hstack([rng.standard_normal((12, 20))] * 2),
    "dependent rows": lambda rng: np.tile(rng.standard_normal((6, 20)), (2, 1)),
    "tall": lambda rng: rng.standard_normal((30, 6)),
    "one row": lambda rng: rng.standard_normal((1, 6)),
    "unequal columns": lambda rng: rng.standard_normal((15, 40)) * 10.0 ** rng.uniform(-2, 2, 40),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("share", [1e-4, 0.1, 0.5])
@pytest.mark.parametrize("nonnegative", [False, True], ids=["signed", "nonnegative"])
def test_the_bound_is_met_with_equality_and_the_gap_is_closed(name: str, share: float, nonnegative: bool) -> None:
    rng = np.random.default_rng(1)
    A = MATRICES[name](rng)
    y = np.zeros(A.shape[1])
    y[:3] = (1, 2, 1) if nonnegative else (1, -2, 1)
    b = A @ y
    noise = share * float(np.linalg.norm(b))
    found, q = least_absolute_within(A, b, noise, nonnegative)
    # the closed form meets it to rounding; descent, where columns tie, to about 1e-7
    assert np.linalg.norm(A @ found - b) == pytest.approx(noise, rel=1e-6, abs=1e-12)
    assert steepest(A, q, nonnegative) <= 1 + 1e-12
    gap = np.abs(found).sum() - lower_bound(b, q, noise)
    assert abs(gap) <= 1e-6 * np.abs(found).sum()
    assert np.abs(found).sum() <= np.abs(y).sum()
    assert not nonnegative or found.min() >= 0


def test_one_column_has_a_formula() -> None:
    # |2y − 5| ≤ 1 is nearest to zero at y = 2; 1/2 of that is the dual's slope
    found, q = least_absolute_within(np.array([[2.0]]), np.array([5.0]), 1.0, False)
    np.testing.assert_allclose([found[0], q[0]], [2.0, 0.5], rtol=1e-14)


def test_orthogonal_columns_are_soft_thresholds() -> None:
    b = np.array([3.0, -2.0, 0.5])
    found, _ = least_absolute_within(np.eye(3), b, np.sqrt(1 + 1 + 0.25), False)  # what a threshold of 1 takes away
    np.testing.assert_allclose(found, [2.0, -1.0, 0.0], atol=1e-12)


def test_little_noise_comes_to_basis_pursuit() -> None:
    rng = np.random.default_rng(2)
    A, y = rng.standard_normal((15, 40)), np.zeros(40)
    y[:3] = 1, -2, 3
    exact, _ = least_absolute(A, A @ y, False)
    errors = [np.linalg.norm(least_absolute_within(A, A @ y, noise, False)[0] - exact) for noise in (1e-2, 1e-4, 1e-6)]
    np.testing.assert_allclose(np.array(errors[1:]) / errors[:-1], 1e-2, rtol=1e-3)  # one line of the path leads there


@pytest.mark.parametrize("noise", [1e-6, 1e-9, 1e-12])
def test_the_dual_point_keeps_its_digits_however_little_the_noise(noise: float) -> None:
    rng = np.random.default_rng(2)
    A, y = rng.standard_normal((15, 40)), np.zeros(40)
    y[:3] = 1, -2, 3
    found, q = least_absolute_within(A, A @ y, noise, False)
    assert np.abs(found).sum() - lower_bound(A @ y, q, noise) <= 1e-13 * np.abs(found).sum()  # rounding of a sum


def test_noise_above_everything_leaves_nothing() -> None:
    found, q = least_absolute_within(np.ones((2, 3)), np.array([3.0, 4.0]), 5.0, False)
    assert not found.any()
    assert not q.any()


def test_noise_below_what_is_possible_is_refused() -> None:
    with pytest.raises(BadParameter, match=r"noise must be at least 0\.707107, the norm of the residual"):
        least_absolute_within(np.ones((2, 3)), np.array([1.0, 2.0]), 0.5, False)
    with pytest.raises(BadParameter, match=r"at least 1, .* without negative entries"):
        least_absolute_within(np.ones((1, 3)), np.array([-1.0]), 0.5, True)
