"""Blocks left out and predicted, against the plain formula, and where the answer is known."""

import numpy as np
import pytest

from lowdim.solvers.rank.bi_cross_validation import (
    bi_cross_validation,
    block_errors,
    choose_fewest,
    cut_blocks,
    draw_blocks,
    max_components,
)

RNG = np.random.default_rng(0)


def test_one_decomposition_gives_the_errors_of_every_k():
    A, B, C, D = cut_blocks(RNG.standard_normal((14, 11)), np.arange(5), np.arange(4))
    U, s, Vt = np.linalg.svd(D, full_matrices=False)
    plain = [
        ((A - B @ (Vt[:k].T / s[:k]) @ U[:, :k].T @ C) ** 2).sum()
        for k in range(8)  # D is 9 × 7
    ]
    np.testing.assert_allclose(block_errors(A, B, C, D, 7), plain, rtol=1e-10)


@pytest.mark.parametrize("rank", [1, 3])
def test_exact_rank_is_predicted_exactly_and_not_sooner(rank):
    X = RNG.standard_normal((40, rank)) @ RNG.standard_normal((rank, 30))
    errors = bi_cross_validation(X, 6, np.random.default_rng(0), centered=False).mean(axis=0)
    assert abs(errors[rank]) < 1e-12 * errors[0]  # rounding of the squares that it is a difference of
    assert errors[rank - 1] > 1e-3 * errors[0]
    np.testing.assert_allclose(
        errors[rank:], errors[rank], rtol=0, atol=0
    )  # beyond the rank nothing is left to be divided by


def test_rows_left_out_are_not_known_from_the_others():
    """About the mean of all rows they would be: all add up to zero."""
    X = RNG.standard_normal((12, 300)) + 100
    errors = bi_cross_validation(X, max_components(12, 300), np.random.default_rng(0)).mean(axis=0)
    assert np.argmin(errors) == 0
    assert errors[0] == pytest.approx(1 + 1 / 9, rel=0.1)  # noise, and that of a mean of nine or ten


@pytest.mark.parametrize(("n", "p"), [(300, 200), (20, 300), (7, 5), (2, 2)])
def test_every_entry_is_left_out_equally_often(n, p):
    times = np.zeros((n, p), dtype=int)
    for rows, columns in draw_blocks(n, p, np.random.default_rng(0)):
        times[np.ix_(rows, columns)] += 1
    assert times.min() == times.max() >= 1


def test_the_fewest_that_are_as_good_by_pairs_of_blocks():
    hard = np.linspace(1, 100, 20)[:, None]  # what makes a block hard is hard for every number
    better = np.where(np.arange(20) % 2, 0.3, -0.2)  # 0.05 on average, with a standard error of 0.057
    losses = np.column_stack([np.full(20, 9.0), np.ones(20), 1 - better]) + hard
    assert np.argmin(losses.mean(axis=0)) == 2
    assert choose_fewest(losses) == 1


def test_copies_are_left_out_together():
    numbers = np.repeat(np.arange(12), 3)
    for rows, _ in draw_blocks(12, 8, np.random.default_rng(0), numbers):
        assert not set(numbers[rows]) & set(np.delete(numbers, rows))
