"""Each family: mean and variance are derivatives of the potential, the link undoes the mean, nothing overflows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowdim.models.logistic_pca.solvers.families import FAMILIES

THETA = np.linspace(-6, 6, 41)
STEP = 1e-5


@pytest.mark.parametrize("name", FAMILIES)
def test_mean_and_variance_are_derivatives_of_the_potential(name: str) -> None:
    family = FAMILIES[name]
    slope = (family.potential(THETA + STEP) - family.potential(THETA - STEP)) / (2 * STEP)
    # central differences err by STEP² A‴ / 6 and by rounding over STEP: 1e-8 of A ≤ e⁶
    assert_allclose(family.mean(THETA), slope, rtol=1e-7, atol=1e-8)
    curve = (family.mean(THETA + STEP) - family.mean(THETA - STEP)) / (2 * STEP)
    assert_allclose(family.variance(family.mean(THETA)), curve, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_link_undoes_the_mean(name: str) -> None:
    family = FAMILIES[name]
    assert_allclose(family.link(family.mean(THETA)), THETA, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_parameter_is_better_than_the_saturated_one(name: str) -> None:
    family = FAMILIES[name]
    x = np.array([0.0, 0.25, 1.0])
    losses = family.loss(x[:, None], np.linspace(-40, 40, 4001)[None])
    assert_allclose(losses.min(axis=1), family.saturated(x), atol=1e-4)  # the grid is 0.02 apart
    assert (losses >= family.saturated(x)[:, None] - 1e-12).all()


def test_coins_stay_finite_far_out() -> None:
    family, far = FAMILIES["bernoulli"], np.array([-800.0, 800.0])
    assert_allclose(family.potential(far), [0.0, 800.0])
    assert_allclose(family.mean(far), [0.0, 1.0])


def test_means_on_a_bound_are_moved_inside_by_half_an_entry() -> None:
    coins, count = FAMILIES["bernoulli"], np.array([10.0, 10.0, 10.0])
    assert_allclose(coins.inner_mean(np.array([0.0, 0.3, 1.0]), count), [0.05, 0.3, 0.95])
    assert_allclose(FAMILIES["poisson"].inner_mean(np.array([0.0, 70.0]), count[:2]), [0.05, 70.0])
