"""Randomly pivoted Cholesky: its algebra, its law, and where it stops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from lowdim.errors import BadInput, MissingValues
from lowdim.models.kernel_pca.kernels import Gaussian, Linear, Polynomial
from lowdim.models.kernel_pca.solvers.landmarks import (
    LEAST_LEFT_SHARE,
    Aim,
    Pivots,
    accept_proposals,
    add_random_pivots,
    choose_uniformly,
    draw_places,
    start_pivots,
)
from lowdim.sources.arrays import ArraySource
from models.kernel_pca.kernels import KERNELS, one_by_one, rows


def found(kernel, X, seed=0, **aim) -> Pivots:
    source = ArraySource(X)
    return add_random_pivots(kernel, source, start_pivots(kernel, source, Aim(**aim)), np.random.default_rng(seed))


# -- algebra ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_triangle_is_that_of_the_pivots_and_the_diagonal_is_what_they_leave(kernel):
    X = rows(400)
    pivots = found(kernel, X, most=400, least=120, tol=1.0)  # about: as many as bring the diagonal up to date
    K, S = kernel.between(X, X), pivots.places
    scale = K.diagonal().max()
    assert len(np.unique(S)) == len(S)
    assert np.array_equal(pivots.rows, X[S])
    # a few hundred roundings of numbers up to the scale
    assert np.allclose(pivots.triangle @ pivots.triangle.T, K[np.ix_(S, S)], rtol=0, atol=1e-14 * scale)
    left = K.astype(np.longdouble)  # elimination by hand, in the widest floats, of the same pivots
    for s in S:
        left -= np.outer(left[:, s], left[s]) / left[s, s]
    # the kernel's own rounding, 1e-16, comes back multiplied by how far apart rows lie from combinations of pivots
    assert np.allclose(pivots.left, left.diagonal().astype(float), rtol=0, atol=2e-13 * scale)


# -- law --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("renewed", [True, False])
def test_the_pivots_have_the_law_of_those_drawn_one_by_one(renewed):
    """Ordered triples of six uneven points, proposed three at a time from a diagonal that is brought up to date each
    time or never, against their exact chances.

    The chi-square of 5,000 draws in about 70 cells exceeds its 99.99 % point once in ten thousand seeds; this seed
    is one of the others. With all proposals accepted it is about 10,000.
    """
    X = np.array([[0.0], [0.3], [0.5], [2.0], [2.2], [9.0]])
    K = Gaussian(0.5, 2.0).between(X, X) * np.outer(*2 * [np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.5])])
    chance = {}
    for triple in itertools.permutations(range(6), 3):
        left, probability = K.copy(), 1.0
        for s in triple:
            probability *= left[s, s] / left.trace()
            left = left - np.outer(left[:, s], left[s]) / left[s, s]
        chance[triple] = probability
    assert sum(chance.values()) == pytest.approx(1.0, abs=1e-12)
    rng, draws = np.random.default_rng(5), 5000
    counts = dict.fromkeys(chance, 0)
    for _ in range(draws):
        counts[_three(K, renewed, rng)] += 1
    expected = draws * np.array(list(chance.values()))
    usual = expected > 5
    seen = np.array(list(counts.values()))
    observed, expected = np.append(seen[usual], seen[~usual].sum()), np.append(expected[usual], expected[~usual].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert statistic < scipy.stats.chi2.ppf(0.9999, len(observed) - 1)


def _three(K: np.ndarray, renewed: bool, rng: np.random.Generator) -> tuple[int, ...]:
    """Three pivots, with the functions that propose and thin in a large fit."""
    left, chosen = K.copy(), []
    while len(chosen) < 3:
        weight = np.maximum((left if renewed else K).diagonal(), 0.0)
        proposed = draw_places(weight, 3, rng)
        part, rounding = left[np.ix_(proposed, proposed)], 1e-12 * K.diagonal()[proposed]
        accepted, _, _ = accept_proposals(part, weight[proposed], rounding, 3 - len(chosen), rng)
        for s in proposed[accepted]:
            left = left - np.outer(left[:, s], left[s]) / left[s, s]
            chosen.append(int(s))
    return tuple(chosen)


def test_on_average_as_much_is_left_as_one_by_one():
    """Means of 25 runs each; their difference is within 4 of its standard errors."""
    X, kernel = np.concatenate([rows(150), 20 + 0.1 * rows(10, seed=1)]), Gaussian(0.1)
    K = kernel.between(X, X)
    ours = [K.trace() - explained(K, found(kernel, X, seed, most=70).places) for seed in range(25)]
    theirs = [K.trace() - (one_by_one(K, 70, np.random.default_rng(seed))[1] ** 2).sum() for seed in range(25)]
    error = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(25)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


def explained(K: np.ndarray, S: np.ndarray) -> float:
    return float((np.linalg.solve(np.linalg.cholesky(K[np.ix_(S, S)]), K[S]) ** 2).sum())


def test_places_are_drawn_by_weight_and_never_without():
    weight = np.array([0.0, 1.0, 3.0, 0.0])
    places = draw_places(weight, 40_000, np.random.default_rng(0))
    assert set(places) == {1, 2}
    assert np.mean(places == 2) == pytest.approx(0.75, abs=0.01)  # five standard errors


# -- where it stops ---------------------------------------------------------------------------------------------------


def test_a_tolerance_is_reached_and_a_number_is_met():
    X, kernel = rows(600), Gaussian(0.02)
    pivots = found(kernel, X, most=600, tol=1e-4)
    assert pivots.left.sum() <= 1e-4 * pivots.trace
    assert len(pivots.places) < 300
    assert len(found(kernel, X, most=37).places) == 37


@pytest.mark.parametrize(("kernel", "rank"), [(Linear(), 5), (Polynomial(1.0, 1.0, 2), 21)], ids=str)
def test_a_kernel_of_low_rank_gives_as_many_pivots(kernel, rank):
    pivots = found(kernel, rows(500), most=100)
    assert pivots.exhausted
    assert len(pivots.places) == rank
    assert pivots.left.sum() <= LEAST_LEFT_SHARE * pivots.trace


def test_rows_that_repeat_are_chosen_once():
    X = np.repeat(rows(30), 20, axis=0)
    pivots = found(Gaussian(0.1), X, most=600)
    assert pivots.exhausted
    assert len(np.unique(X[pivots.places], axis=0)) == len(pivots.places) <= 30
    assert np.isfinite(pivots.triangle).all()


def test_uniform_landmarks_leave_out_those_that_depend_on_others():
    X, kernel = np.repeat(rows(30), 20, axis=0), Gaussian(0.1)
    some, triangle = choose_uniformly(kernel, ArraySource(X), len(X), 200, np.random.default_rng(0))
    assert len(some) == len(triangle) <= 30
    assert np.allclose(triangle @ triangle.T, kernel.between(some, some), rtol=0, atol=1e-13)


def test_holes_and_overflows_are_refused_by_name():
    X = rows(50)
    X[7, 2] = np.nan
    with pytest.raises(MissingValues, match="column 2"):
        found(Gaussian(0.1), X, most=10)
    with pytest.raises(BadInput, match="itself is inf"):
        found(Polynomial(1.0, 0.0, 3), 1e200 * rows(50), most=10)
