"""Fewest non-zeros: by looking at all, and one after the other."""

import numpy as np
import pytest

from lowdim.errors import TooLarge
from lowdim.recipes.basis_pursuit.linear_program import least_absolute, uniqueness
from lowdim.recipes.basis_pursuit.sparsest import coherence, guaranteed_sparsity, matching_pursuit, sparsest


@pytest.mark.parametrize("seed", range(6))
def test_very_sparse_vectors_are_found_by_all_three(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((14, 20)), np.zeros(20)
    y[rng.choice(20, 2, replace=False)] = 2, -3
    b = A @ y
    fewest = sparsest(A, b, 1e-10, False)
    smallest, _ = least_absolute(A, b, False)
    assert fewest.ways == 1
    np.testing.assert_allclose(fewest.coefficients, y, atol=1e-12)
    assert uniqueness(A, smallest, False).unique
    np.testing.assert_allclose(smallest, y, atol=1e-12)
    np.testing.assert_allclose(matching_pursuit(A, b, 1e-10), y, atol=1e-12)


def test_the_fewest_non_zeros_need_not_have_the_smallest_sum() -> None:
    # the first column alone gives b with y = 10; the other two share it with 1 + 1
    A = np.array([[0.1, 1.0, 0.0], [0.1, 0.0, 1.0]])
    b = np.ones(2)
    np.testing.assert_allclose(sparsest(A, b, 1e-12, False).coefficients, [10, 0, 0])
    np.testing.assert_allclose(least_absolute(A, b, False)[0], [0, 1, 1])


def test_ways_are_counted() -> None:
    found = sparsest(np.array([[0.5, 0.5, 0.0]]), np.array([3.0]), 1e-12, False)
    assert found.ways == 2
    assert sorted(found.coefficients) == [0, 0, 6]
    assert sparsest(np.array([[0.5, 0.4]]), np.array([3.0]), 1e-12, False).coefficients.tolist() == [6, 0]


def test_signs_count_where_they_must() -> None:
    A, b = np.array([[-1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), np.array([1.0, 3.0])
    np.testing.assert_allclose(sparsest(A, b, 1e-12, True).coefficients, [0, 1, 2])
    with_noise = sparsest(A, b, 1.5, True)
    assert np.count_nonzero(with_noise.coefficients) == 1
    assert with_noise.coefficients.min() >= 0


def test_twins_are_not_taken_for_a_solution() -> None:
    # the second of two equal columns adds no direction: rounding must not make one
    A = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 2.0, 0.0, 1.0], [3.0, 3.0, 1.0, 0.0]])
    found = sparsest(A, np.array([1.0, 3.0, 4.0]), 1e-12, False)
    assert np.count_nonzero(found.coefficients) == 3
    assert found.ways == 2


def test_too_many_subsets_are_refused_with_their_number() -> None:
    A = np.random.default_rng(0).standard_normal((20, 200))
    with pytest.raises(TooLarge, match=r"fewer than 3 non-zeros, .* 1,313,400 subsets of 3 of 200 columns"):
        sparsest(A, np.ones(20), 1e-12, False)


def few(A: np.ndarray) -> int:
    return guaranteed_sparsity(A.shape, coherence(A))


def test_coherence_and_its_bound() -> None:
    A = np.array([[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 4.0, 0.0]])
    assert coherence(A) == pytest.approx(0.8)
    assert few(A) == 1  # below (1 + 1.25)/2 = 1.125
    assert few(np.eye(3)) == 3
    assert few(np.ones((1, 2))) == 0
    # identity and Hadamard matrix: coherence 1/2, and 1.5 itself is not below
    both = np.hstack([np.eye(4), np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2])
    assert few(both) == 1
    assert few(both[:, :4]) == 4


def test_coherence_of_more_columns_than_are_held_at_once() -> None:
    A = np.random.default_rng(0).standard_normal((30, 2_100))
    even = A / np.linalg.norm(A, axis=0)
    cosines = np.abs(even.T @ even) - np.eye(2_100)
    assert coherence(A) == pytest.approx(cosines.max(), rel=1e-12)


def test_what_the_guarantee_promises_is_kept() -> None:
    # spikes and waves, m = 64: coherence 1/8, so that any 4 columns are found
    size = 64
    waves = np.array([[(-1) ** bin(i & j).count("1") for j in range(size)] for i in range(size)]) / 8
    A = np.hstack([np.eye(size), waves])
    assert few(A) == 4
    rng = np.random.default_rng(0)
    for _ in range(10):
        y = np.zeros(2 * size)
        y[rng.choice(2 * size, 4, replace=False)] = 10.0 ** rng.uniform(-2, 2, 4)
        b = A @ y
        np.testing.assert_allclose(matching_pursuit(A, b, 1e-9), y, atol=1e-9)
        np.testing.assert_allclose(least_absolute(A, b, False)[0], y, atol=1e-9)


def test_lengths_of_columns_do_not_change_the_pursuit() -> None:
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((10, 30)), rng.standard_normal(10)
    lengths = 10.0 ** rng.uniform(-5, 5, 30)
    one, other = matching_pursuit(A, b, 0.5), matching_pursuit(A * lengths, b, 0.5)
    np.testing.assert_allclose(other * lengths, one, rtol=1e-9)
    assert np.linalg.norm(A @ one - b) <= 0.5
