"""Least squares on components: laws of the path, the tests of scores, and rotations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from sklearn.model_selection import KFold

from lowdim.models.pc_regression.folds import _cut_shuffled
from lowdim.models.pc_regression.solvers import (
    Rows,
    coefficient_errors,
    count_of_tests,
    find_significant,
    gap_variance,
    holm,
    p_values,
    reach_share,
    rotate_columns,
    score_axes,
)

EXACT = 1e-10
"""Answers of two ways through float64, at condition numbers of at most a hundred or so."""


def made(n: int, p: int, m: int = 1, seed: int = 0, weighted: bool = False) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.linspace(1, 3, p) + 5
    Y = X @ rng.normal(size=(p, m)) + rng.normal(size=(n, m))
    return Rows(X, Y, rng.integers(1, 4, size=n).astype(float) if weighted else np.ones(n))


@pytest.mark.parametrize(("n", "p"), [(30, 6), (12, 40)])
@pytest.mark.parametrize("scale", [False, True])
def test_the_path_is_what_each_number_of_components_gives_by_itself(n, p, scale):
    rows = made(n, p, m=2)
    found = score_axes(rows, scale)
    new = made(5, p, seed=1).X
    path = found.path(new, found.rank)
    for k in range(found.rank + 1):
        T = found.scores(rows.X)[:, :k]
        gamma = np.linalg.lstsq(T, rows.Y - rows.Y.mean(0), rcond=None)[0]
        np.testing.assert_allclose(path[:, k], rows.Y.mean(0) + found.scores(new)[:, :k] @ gamma, atol=EXACT)
        np.testing.assert_allclose(path[:, k], found.predicted(new, range(k)), atol=EXACT)
        coefficients = found.coefficients(range(k))
        np.testing.assert_allclose(path[:, k], found.y_mean + (new - found.mean) @ coefficients.T, atol=1e-8)


def test_all_components_are_least_squares():
    rows = made(40, 6)
    found = score_axes(rows, True)
    design = np.column_stack([np.ones(40), rows.X])
    known = np.linalg.lstsq(design, rows.Y, rcond=None)[0]
    np.testing.assert_allclose(found.coefficients(range(6)), known[1:].T, atol=EXACT)


@pytest.mark.parametrize(("n", "p"), [(20, 5), (8, 30)])
def test_a_weight_of_two_is_a_row_twice(n, p):
    rows = made(n, p, weighted=True)
    times = rows.weight.astype(int)
    twice = Rows(rows.X.repeat(times, 0), rows.Y.repeat(times, 0), np.ones(times.sum()))
    for scale in (False, True):
        one, other = score_axes(rows, scale), score_axes(twice, scale)
        assert one.rank == other.rank
        np.testing.assert_allclose(one.strengths, other.strengths, rtol=EXACT)
        np.testing.assert_allclose(one.path(rows.X, one.rank), other.path(rows.X, one.rank), atol=1e-8)
        np.testing.assert_allclose(p_values(one), p_values(other), atol=EXACT)


@pytest.mark.parametrize("low", [1e-3, 1e-6, 1e-9, 1e-12])
def test_small_singular_values_keep_their_digits(low):
    # tall rows of known singular values, down to where products of the columns know nothing of them any more
    rng = np.random.default_rng(4)
    U = rng.normal(size=(200, 6))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    strengths = np.geomspace(1, low, 6)
    V = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    found = score_axes(Rows((U * strengths) @ V, U[:, 5:] + U[:, :1], np.ones(200)), False)
    assert found.rank == 6
    # no backward stable method does better than the rounding of the largest
    np.testing.assert_allclose(found.strengths, strengths, rtol=100 * 2.3e-16 / low)
    np.testing.assert_allclose(found.explained[[0, 5], 0], 1, atol=1e3 * 2.3e-16 / low)


def test_rotated_rows_are_predicted_alike():
    rows = made(15, 60)
    small, back = rotate_columns(rows)
    assert small.X.shape == (15, 15)
    np.testing.assert_allclose(back @ back.T, np.eye(15), atol=EXACT)
    one, other = score_axes(rows, False), score_axes(small, False)
    np.testing.assert_allclose(one.path(rows.X, 14), other.path(small.X, 14), atol=1e-8)
    np.testing.assert_allclose(one.coefficients(range(5)), other.coefficients(range(5)) @ back, atol=EXACT)


def test_directions_of_rounding_are_no_components():
    rows = made(30, 4)
    wide = Rows(np.column_stack([rows.X, rows.X @ rows.X[:4, :3]]), rows.Y, rows.weight)
    assert score_axes(wide, False).rank == 4
    constant = Rows(np.full((10, 3), 14.62), made(10, 3).Y, np.ones(10))
    assert score_axes(constant, True).rank == 0
    assert score_axes(constant, True).path(constant.X, 2).shape == (10, 3, 1)


def test_p_values_are_those_of_a_joint_regression_on_the_scores():
    rows = made(40, 5)
    found = score_axes(rows, False)
    design = np.column_stack([np.ones(40), found.scores(rows.X)])
    beta, rss = np.linalg.lstsq(design, rows.Y[:, 0], rcond=None)[:2]
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rss[0] / 34)
    known = 2 * scipy.stats.t.sf(np.abs(beta / errors)[1:], 34)
    np.testing.assert_allclose(p_values(found), known, rtol=1e-7)


def test_a_wide_table_leaves_half_of_its_rows_to_the_noise():
    assert count_of_tests(score_axes(made(21, 60), False)) == 10


def test_holm_is_the_published_step_down():
    # Holm 1979: sorted p-values times c, c − 1, …, never falling
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    assert len(holm(np.zeros(0))) == 0


def test_t_tests_keep_their_level_under_no_relation():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 8))
    false = sum(
        len(find_significant(score_axes(Rows(X, rng.normal(size=(40, 1)), np.ones(40)), False), 0.05)) > 0
        for _ in range(400)
    )
    # the chance of any false finding is at most 0.05: more than 36 of 400 would come once in ten thousand times
    assert false <= scipy.stats.binom.ppf(1 - 1e-4, 400, 0.05)
    assert false >= scipy.stats.binom.ppf(1e-4, 400, 0.025)  # and independent scores leave it not far below


def test_a_share_takes_the_fewest_that_reach_it():
    found = score_axes(made(50, 6), False)
    shares = np.cumsum(found.strengths**2) / (found.strengths**2).sum()
    assert len(reach_share(found, float(shares[2]))) == 3
    assert len(reach_share(found, float(shares[2]) + 1e-6)) == 4
    assert len(reach_share(found, 1.0)) == 6


def spread_of_refits(X, y, k, scale, delta=1e-6):
    """(n, p) what a row changes: coefficients with it counting a little more, by differences."""
    n = len(X)
    base = score_axes(Rows(X, y[:, None], np.ones(n)), scale).coefficients(np.arange(k))[0]
    found = np.empty((n, X.shape[1]))
    for i in range(n):
        weight = np.ones(n)
        weight[i] += delta
        found[i] = (score_axes(Rows(X, y[:, None], weight), scale).coefficients(np.arange(k))[0] - base) / delta
    return n * found


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), [(40, 5, 2), (40, 5, 5), (12, 30, 2)])
def test_errors_of_coefficients_are_those_of_rows_that_count_a_little_more(scale, n, p, k):
    """Derivatives of everything that is done, by differences: right to the root of rounding, 1e-5 here. Where columns
    are scaled, dividing by n − 1 moves with the rows' number too, by about 1 / n of what it is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * np.append([9.0, 5.0], np.linspace(1.5, 0.5, p - 2)) @ rng.normal(size=(p, p))
    y = X @ rng.normal(size=p) + rng.normal(size=n)
    rows = Rows(X, y[:, None], np.ones(n))
    found = score_axes(rows, scale)
    unsure = gap_variance(found.strengths**2, np.arange(k), n - 1)
    errors = coefficient_errors(rows, found, np.arange(k), scale)
    if unsure > 1:
        assert np.isnan(errors.standard_error).all()
        return
    moved = spread_of_refits(X, y, k, scale)
    right = np.sqrt((moved**2).sum(axis=0) / (n * (n - 1 - k)) * (1 + unsure))
    np.testing.assert_allclose(errors.standard_error[0, 1:], right, rtol=0.05 if scale else 1e-4)


def test_a_tie_of_what_is_used_with_what_is_not_leaves_no_error():
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 3)))[0]
    X = (X - X.mean(axis=0)) * [5.0, 3.0, 2.99]
    rows = Rows(X, X[:, :1], np.ones(60))
    assert np.isnan(coefficient_errors(rows, score_axes(rows, False), np.arange(2), False).standard_error).all()


@pytest.mark.parametrize(("n", "folds"), [(3, 2), (3, 3), (10, 3), (101, 10)])
def test_folds_are_scikit_learns(n, folds):
    ours = _cut_shuffled(n, folds, np.random.RandomState(3))
    theirs = KFold(folds, shuffle=True, random_state=np.random.RandomState(3)).split(range(n))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
