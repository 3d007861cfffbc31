"""Noise of columns beyond components: equal ones pass, whatever their law, and unequal ones are told."""

import numpy as np
import pytest

from lowdim.solvers.rank.noise import compare_columns, subtract_components


def planted(n: int, p: int, k: int, rng: np.random.Generator, noise: np.ndarray) -> np.ndarray:
    X = 5 * rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) + noise
    return X - X.mean(axis=0)


@pytest.mark.parametrize(("n", "p"), [(200, 20), (60, 60), (40, 200)])
@pytest.mark.parametrize("law", ["standard_normal", "laplace", "uniform"])
def test_equal_columns_differ_by_accident_alone(n, p, law):
    """z has mean 0 and standard deviation 1, or less (a uniform law varies less than a normal one, and is not asked).

    Thirty draws: their mean lies within 0.8 of 0, which is four standard errors and the bias of an estimated kurtosis.
    """
    rng = np.random.default_rng(0)
    draws = [np.asarray(getattr(rng, law)(size=(n, p))) for _ in range(30)]
    z = np.array([compare_columns(subtract_components(planted(n, p, 2, rng, noise), 2)).z for noise in draws])
    assert z.mean() < 0.8
    assert (z > 3).sum() <= 1
    assert law == "uniform" or z.mean() > -0.8


def test_unequal_columns_are_measured():
    rng = np.random.default_rng(0)
    sizes = np.linspace(0.5, 1.5, 40)
    found = compare_columns(subtract_components(planted(2000, 40, 2, rng, rng.standard_normal((2000, 40)) * sizes), 2))
    assert found.z > 10
    # 2 of 40 directions are taken off, which mixes a little of each column into the others
    assert found.unequal == pytest.approx(np.var(sizes**2) / np.mean(sizes**2) ** 2, rel=0.15)


def test_a_missed_component_that_is_spread_out_is_no_unequal_noise():
    """Three times what can be seen at all, (n p)^¼, and left in: the whole spectrum tells, single columns do not."""
    rng = np.random.default_rng(0)
    n, p = 200, 50
    weak = 3 * (n * p) ** 0.25 * np.outer(rng.standard_normal(n) / np.sqrt(n), rng.choice([-1, 1], p) / np.sqrt(p))
    assert compare_columns(subtract_components(planted(n, p, 2, rng, rng.standard_normal((n, p)) + weak), 2)).z < 3


def test_nothing_is_said_of_too_little():
    assert compare_columns(subtract_components(np.eye(5), 3)).z == 0
    assert compare_columns(subtract_components(np.zeros((9, 6)), 1)).z == 0
