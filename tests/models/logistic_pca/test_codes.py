"""Codes of rows: the only solution of a convex problem, whatever is missing, wherever the search begins."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

from lowdim.models.logistic_pca.solvers.codes import Decoder, find_codes, newton_moves, newton_terms, pair_products
from lowdim.models.logistic_pca.solvers.families import FAMILIES
from models.logistic_pca.logistic_data import planted

NAMES = tuple(FAMILIES)

Without = Callable[[], AbstractContextManager[None]]


def example(name: str, n: int = 40, p: int = 15, k: int = 3) -> tuple[Decoder, np.ndarray]:
    x, axes, bias = planted(name, n, p, k, seed=1)
    return Decoder(name, axes, bias, np.array([0.1, 0.2, 0.3])[:k]), x


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("holes", [False, True])
def test_codes_are_what_a_general_optimiser_finds(name: str, holes: bool) -> None:
    decoder, x = example(name, n=6)
    if holes:
        x[np.random.default_rng(0).random(x.shape) < 0.3] = np.nan
    family, seen = decoder.family, ~np.isnan(x)

    def cost(z: np.ndarray, i: int) -> float:
        theta = decoder.theta(z[None])[0][seen[i]]
        return float(family.loss(x[i][seen[i]], theta).sum() + 0.5 * z**2 @ decoder.ridge)

    found = find_codes(decoder, x, None, 1e-14, 100)
    for i in range(len(x)):
        best = scipy.optimize.minimize(cost, np.zeros(3), args=(i,), method="BFGS", options={"gtol": 1e-7})
        assert_allclose(found.z[i], best.x, atol=2e-6)  # BFGS ends with a gradient of 1e-7, curvatures are above 0.1
        assert_allclose(found.cost[i], cost(found.z[i], i), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_start_does_not_matter(name: str) -> None:
    decoder, x = example(name)
    far = 3 * np.random.default_rng(0).normal(size=(len(x), 3))
    one, other = (find_codes(decoder, x, start, 1e-15, 200).z for start in (None, far))
    assert_allclose(one, other, atol=1e-7)  # a decrement of 15 entries × 1e-15 is an error of 1e-7 / √curvature


@pytest.mark.usefixtures("each_library")
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("shape", [(7, 2100), (1, 1), (3, 13), (0, 4)])  # more columns than one product takes
def test_the_compiled_look_is_the_plain_one(shape: tuple[int, int], holes: bool, no_library: Without) -> None:
    rng = np.random.default_rng(0)
    x, theta = rng.random(shape), 30 * rng.normal(size=(shape[0], 2 * shape[1]))[:, : shape[1]]
    if holes:
        x[rng.random(x.shape) < 0.2] = np.nan
        x[:1] = np.nan
    fast = newton_terms(FAMILIES["bernoulli"], x, theta)
    with no_library():
        plain = newton_terms(FAMILIES["bernoulli"], x, theta)
    assert_allclose(fast.loss, plain.loss, rtol=1e-12)
    assert_allclose(fast.apart, plain.apart, atol=1e-14)
    # 1 − μ of the plain variance has a spacing of 1.1e-16, single precision one of 6e-8
    assert_allclose(fast.weight, plain.weight, rtol=2e-7, atol=2.3e-16)


@pytest.mark.usefixtures("each_library")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 5, 8, 21])
@pytest.mark.parametrize("k", [1, 3, 4, 7, 20])
def test_the_compiled_systems_are_the_plain_ones(k: int, n: int, dtype: type, no_library: Without) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 30, k))
    systems = np.array([pair_products(r).sum(axis=0) for r in rows], dtype).reshape(n, k * (k + 1) // 2)
    slope, ridge = rng.normal(size=(n, k)), rng.random(k)
    fast = newton_moves(systems, ridge, slope)
    with no_library():
        plain = newton_moves(systems, ridge, slope)
    assert_allclose(fast, plain, rtol=1e-10)  # both in float64, with conditions of 100 or so


@pytest.mark.usefixtures("each_route")
def test_a_system_without_a_solution_gives_the_slope() -> None:
    systems = np.array([[1.0, 0.0, 1.0], [np.nan, 0.0, 1.0]], np.float32)
    moves = newton_moves(systems, np.zeros(2), np.ones((2, 2)))
    assert_allclose(moves, 1.0, rtol=1e-5)  # the lift of the first


@pytest.mark.usefixtures("each_library")
def test_compiled_codes_are_the_plain_ones(no_library: Without) -> None:
    decoder, x = example("bernoulli", n=200)
    x[3] = np.nan
    other = find_codes(decoder, x, None, 1e-14, 100)
    with no_library():
        plain = find_codes(decoder, x, None, 1e-14, 100)
    assert_allclose(other.z, plain.z, atol=1e-7)
    assert_allclose(other.z[3], 0.0)  # of a row of which nothing is known


def test_rows_of_a_corner_stay_finite() -> None:
    decoder = Decoder("bernoulli", np.eye(2, 5), np.zeros(5), np.array([1e-3, 1e-3]))
    found = find_codes(decoder, np.array([np.ones(5), np.zeros(5)]), None, 1e-13, 100)
    assert np.isfinite(found.z).all()
    assert (np.abs(found.z) < 20).all()  # where the ridge 1e-3 z meets the slope e^−z
    assert (np.abs(found.z) > 3).all()


def test_steps_that_overflow_are_cut() -> None:
    decoder = Decoder("poisson", 5 * np.ones((1, 2)), np.array([-9.0, -9.0]), np.array([1e-3]))
    found = find_codes(decoder, np.array([[1e6, 1e6]]), None, 1e-13, 100)  # the first Newton step is beyond e^700
    assert_allclose(decoder.family.mean(decoder.theta(found.z)), 1e6, rtol=1e-6)
