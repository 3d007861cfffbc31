"""One sign for each component."""

import numpy as np
import pytest

from lowdim.solvers.solver import fix_signs


@pytest.mark.parametrize(
    ("vector", "turned"),
    [
        ([0.6, -0.8], True),
        ([-0.6, 0.8], False),
        ([0.5, -0.5, 0.5, -0.5], False),
        ([-0.5, 0.5, -0.5, 0.5], True),
        ([0.5, -0.5 - 1e-12, 0.5, 0.5], False),
        ([-1.0], True),
        ([0.0, 0.0], False),
        ([0.0, -1.0, 0.0], True),
    ],
)
def test_the_largest_entry_becomes_positive(vector: list[float], turned: bool) -> None:
    V = np.array([vector])
    fix_signs(V)
    np.testing.assert_array_equal(V[0], -np.array(vector) if turned else np.array(vector))


def test_ties_are_decided_alike_whatever_the_rounding() -> None:
    rng = np.random.default_rng(0)
    tied = np.array([0.5, -0.5, -0.5, 0.5])
    for _ in range(200):
        V = (rng.choice([-1, 1]) * (tied + 1e-12 * rng.standard_normal(4)))[None]
        fix_signs(V)
        np.testing.assert_array_equal(np.sign(V[0]), np.sign(tied))


def test_turning_twice_is_turning_once() -> None:
    V = np.random.default_rng(1).standard_normal((20, 7))
    fix_signs(V)
    once = V.copy()
    fix_signs(V)
    np.testing.assert_array_equal(V, once)
