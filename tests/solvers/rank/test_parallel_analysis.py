"""Parallel analysis: what shuffling keeps, and where its answer is known."""

import numpy as np
import pytest

from lowdim.solvers.rank.parallel_analysis import flip_signs, parallel_analysis, top_squares


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_squares_are_those_of_the_decomposition(shape):
    Y = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(top_squares(Y, 5), np.linalg.svd(Y, compute_uv=False)[:5] ** 2, rtol=1e-12)


def test_columns_of_different_variance_are_no_components():
    """A rule for white noise would call the loud column a component."""
    Y = np.random.default_rng(0).standard_normal((300, 10)) * np.array([20.0] + [1.0] * 9)
    assert parallel_analysis(Y - Y.mean(axis=0), 100, 9, np.random.default_rng(0)).count == 0


def test_noise_passes_about_as_often_as_the_level_says():
    rng, passed = np.random.default_rng(0), 0
    for _ in range(100):
        Y = rng.standard_normal((40, 6))
        passed += parallel_analysis(Y - Y.mean(axis=0), 60, 5, rng).count > 0
    assert passed <= 12  # 5 expected; more than 12 of 100 at 5 % happen once in a thousand times


def test_the_bar_does_not_depend_on_the_order_of_columns_beyond_chance():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((200, 12)) + 2 * rng.standard_normal((200, 1))
    one, other = (parallel_analysis(y, 100, 11, np.random.default_rng(0)) for y in (Y, Y[:, ::-1].copy()))
    assert one.count == other.count == 1
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(200, 20), (50, 200)])
def test_rows_of_unequal_size_have_no_components_by_signs(n, p):
    """A multivariate t₃: shuffles break its rows up, and find components; signs leave each entry's size in place.

    Of 40 at a level of 5 %, six or more would happen once in a hundred and fifty times.
    """
    by_signs, by_shuffles = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, p)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
        X -= X.mean(axis=0)
        by_signs += parallel_analysis(X, 19, 3, rng, flip_signs).count > 0
        by_shuffles += parallel_analysis(X, 19, 3, rng).count > 0
    assert by_signs <= 5
    assert by_shuffles > 30


def test_one_huge_row_is_no_component_by_signs():
    """It is in the mean, and so in every centred row; what that adds is given back."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 60))
    X[3] *= 1000
    X -= X.mean(axis=0)
    drawn = [np.linalg.norm(flip_signs(X, rng), 2) for _ in range(10)]
    # the mark on the mean would be a part of 1/60; what is left is the chance of the other rows, 1,000 times smaller
    np.testing.assert_allclose(drawn, np.linalg.norm(X, 2), rtol=1e-3)
