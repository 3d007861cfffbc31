"""Block Lanczos against a dense decomposition where iterations go wrong."""

from functools import cache

import numpy as np
import pytest

from catalogue import EPS, cuts, sine
from lowdim.solvers.keep import KeepCount, KeepShare
from lowdim.solvers.krylov import KrylovSpace
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.solver import Factors, OutgrownError
from solvers.hard import HARD, eigenvalues, hard, matrix_of

TOL = 1e-10

every_matrix = pytest.mark.parametrize("name", HARD)

VARIANTS = {
    "usual": BlockLanczos(),
    "block of 1": BlockLanczos(block=1),
    "block of 3": BlockLanczos(block=3),
    "tiny capacity": BlockLanczos(block=4, capacity=14),
    "capacity of a few blocks": BlockLanczos(block=2, capacity=20),
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


@cache
def solved(name: str, variant: str, k: int, seed: int = 0) -> tuple[Factors, np.ndarray, np.ndarray]:
    matrix, Y = hard(name)
    k = min(k, Y.shape[1])
    found = VARIANTS[variant].solve(matrix, KeepCount(k), TOL, np.random.default_rng(seed))
    assert len(found.values) == k
    return found, Y, eigenvalues(Y)


@every_variant
@every_matrix
def test_values_are_the_largest_of_the_dense_ones(name: str, variant: str) -> None:
    found, _, values = solved(name, variant, 4)
    # residuals stop at TOL of each value or at 64 eps of the largest, and values err by their squares over the gap;
    # where the gap is nothing, by the residual itself
    assert np.abs(found.values - values[: len(found.values)]).max() <= TOL * values[0]


@every_variant
@every_matrix
def test_vectors_are_orthonormal(name: str, variant: str) -> None:
    found, _, _ = solved(name, variant, 4)
    V = found.vectors
    assert np.abs(V @ V.T - np.eye(len(V))).max() <= 30 * V.shape[1] * EPS  # LAPACK's threshold


@every_variant
@every_matrix
def test_residuals_are_those_of_the_matrix(name: str, variant: str) -> None:
    found, Y, values = solved(name, variant, 4)
    residuals = np.linalg.norm((found.vectors @ Y.T) @ Y - found.values[:, None] * found.vectors, axis=1)
    # both computed in float64, from products of size λ₁
    np.testing.assert_allclose(found.residuals, residuals, atol=64 * EPS * Y.shape[1] ** 0.5 * values[0])
    assert (found.residuals <= np.maximum(TOL * found.values, 64 * EPS * Y.shape[1] ** 0.5 * values[0])).all()


@every_matrix
def test_spans_are_the_dense_ones(name: str) -> None:
    found, Y, values = solved(name, "usual", 4)
    V = np.linalg.svd(Y)[2]
    for j in cuts(values, len(found.values), least=1e-7 * values[0]):
        gap = values[j - 1] - (values[j] if j < len(values) else 0.0)
        # residuals of at most TOL λ₁ over the gap (Davis & Kahan), one for each vector
        assert sine(found.vectors[:j], V[:j]) <= 2 * TOL * values[0] * j**0.5 / gap


@pytest.mark.parametrize("seed", range(6))
def test_no_start_misses_a_multiple_value(seed: int) -> None:
    # the start block has 3 vectors, the value 3² multiplicity 40: the rest must be found all the same
    found, _, _ = solved("multiplicity 40 > block", "block of 3", 12, seed)
    np.testing.assert_allclose(found.values, 9.0, rtol=1e-10)


@pytest.mark.parametrize("block", [4, 8, 16])
@pytest.mark.parametrize("more", [0, 5])
@pytest.mark.parametrize("multiplicity", [9, 17, 33])
def test_more_copies_than_the_block_has_vectors_are_found(multiplicity: int, more: int, block: int) -> None:
    # a space grown from b vectors holds b copies of a value, and values below it then pass for the next ones
    rng = np.random.default_rng(multiplicity)
    sizes = np.concatenate([np.full(multiplicity, 5.0), np.linspace(4.9, 0.1, 300 - multiplicity)])
    U, V = (np.linalg.qr(rng.standard_normal((rows, 300)))[0] for rows in (400, 300))
    k = multiplicity + more
    found = BlockLanczos(block=block).solve(matrix_of((U * sizes) @ V), KeepCount(k), TOL, rng)
    np.testing.assert_allclose(found.values, sizes[:k] ** 2, rtol=1e-10)


@pytest.mark.parametrize("variant", ["tiny capacity", "capacity of a few blocks"])
@pytest.mark.parametrize("name", ["ordinary", "graded", "flat", "tiny gaps", "two values"])
def test_restarts_lose_nothing(name: str, variant: str) -> None:
    found, _, values = solved(name, variant, 3)
    held = VARIANTS[variant].capacity
    assert held is not None
    assert held < len(values)
    np.testing.assert_allclose(found.values, values[:3], rtol=1e-9)  # residuals of 1e-10 each


@every_matrix
def test_all_components_are_exact(name: str) -> None:
    matrix, Y = hard(name)
    k = min(Y.shape)
    found = BlockLanczos().solve(matrix, KeepCount(k), TOL, np.random.default_rng(0))
    values = eigenvalues(Y)
    # the space is everything, so this is a dense decomposition: p eps
    assert np.abs(found.values - values[:k]).max() <= 16 * Y.shape[1] * EPS * values[0]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
@every_matrix
def test_a_share_is_reached_by_the_fewest(name: str, share: float) -> None:
    matrix, Y = hard(name)
    values = eigenvalues(Y)
    found = BlockLanczos(block=4).solve(matrix, KeepShare(share), TOL, np.random.default_rng(0))
    k = len(found.values)
    reached = np.cumsum(values)
    assert reached[k - 1] >= (share - 1e-9) * values.sum()
    assert k == 1 or reached[k - 2] < (share + 1e-9) * values.sum()


def test_the_value_that_follows_is_the_next_one() -> None:
    found, _, values = solved("ordinary", "usual", 4)
    assert found.following is not None
    # a Ritz value that was not asked for: below the true one, by no more than its residual
    assert values[4] - found.following_residual - 1e-9 * values[0] <= found.following <= values[4] * (1 + 1e-12)


def test_few_steps_give_a_crude_answer_that_says_so() -> None:
    Y = HARD["flat"]()
    found = BlockLanczos(block=5, steps=2).solve(matrix_of(Y), KeepCount(3), TOL, np.random.default_rng(0))
    values = eigenvalues(Y)
    assert found.residuals.max() > 1e-4 * values[0]
    assert (found.values <= values[:3] * (1 + 1e-12)).all()  # Ritz values lie below (Cauchy)
    for value, residual in zip(found.values, found.residuals, strict=True):
        assert np.abs(values - value).min() <= residual + 1e-12  # an eigenvalue lies within the residual


def test_an_outgrown_search_gives_up() -> None:
    Y = HARD["flat"]()
    with pytest.raises(OutgrownError, match="components are needed"):
        BlockLanczos(block=4, most_share=0.2).solve(matrix_of(Y), KeepShare(0.99), TOL, np.random.default_rng(0))


def test_the_same_seed_gives_the_same_bits() -> None:
    matrix, rule = matrix_of(HARD["ordinary"]()), KeepCount(4)
    one, other = (BlockLanczos(block=3).solve(matrix, rule, TOL, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(one.vectors, other.vectors)
    np.testing.assert_array_equal(one.values, other.values)


# -- the space ------------------------------------------------------------------------------------------------------


def grown(name: str, block: int, capacity: int, steps: int) -> tuple[KrylovSpace, np.ndarray]:
    matrix, Y = hard(name)
    space = KrylovSpace(matrix, block, capacity, np.random.default_rng(0))
    for _ in range(steps):
        if space.complete or space.is_full:
            break
        space.grow()
    return space, Y


UNBOUNDED = 1000
"""More than any of these matrices has columns: no restart."""


@pytest.mark.parametrize("steps", [1, 2, 5, 100])
@every_matrix
def test_the_basis_stays_orthonormal(name: str, steps: int) -> None:
    space, Y = grown(name, 4, UNBOUNDED, steps)
    Q = space.basis
    assert np.abs(Q @ Q.T - np.eye(len(Q))).max() <= 1e-12  # Gram–Schmidt twice: eps times a modest factor
    assert len(Q) <= Y.shape[1]


@pytest.mark.parametrize("steps", [1, 3, 100])
@every_matrix
def test_ritz_values_and_residuals_are_true(name: str, steps: int) -> None:
    space, Y = grown(name, 4, UNBOUNDED, steps)
    values, vectors, residuals = space.ritz()
    V = vectors.T @ space.basis
    scale = float(np.linalg.norm(Y, 2)) ** 2
    product = (V @ Y.T) @ Y
    np.testing.assert_allclose(np.einsum("ij,ij->i", product, V), values, atol=1e-12 * scale)
    true = np.linalg.norm(product - values[:, None] * V, axis=1)
    # the recurrence's residual is the true one but for rounding of products
    np.testing.assert_allclose(residuals, true, atol=1e-12 * scale)
    assert (np.diff(values) <= 0).all()


@every_matrix
def test_a_complete_space_has_all_eigenvalues(name: str) -> None:
    space, Y = grown(name, 4, UNBOUNDED, 10_000)
    assert space.complete
    values, _, residuals = space.ritz()
    scale = float(np.linalg.norm(Y, 2)) ** 2
    np.testing.assert_allclose(values, eigenvalues(Y), atol=16 * Y.shape[1] * EPS * scale)
    assert residuals.max() == 0


@pytest.mark.parametrize("name", ["ordinary", "flat", "graded", "rank 20", "two values", "identity"])
def test_a_restart_keeps_the_leading_ritz_pairs(name: str) -> None:
    space, Y = grown(name, 3, 24, 100)
    assert space.is_full
    values, _, _ = space.ritz()
    space.restart(9)
    scale = float(np.linalg.norm(Y, 2)) ** 2
    after, vectors, _ = space.ritz()
    np.testing.assert_allclose(after, values[:9], atol=1e-13 * scale)
    for _ in range(4):
        space.grow()
    after, vectors, residuals = space.ritz()
    assert (after[:9] >= values[:9] - 1e-12 * scale).all()  # a larger space has larger Ritz values (Cauchy)
    V = vectors.T @ space.basis
    assert np.abs(V @ V.T - np.eye(len(V))).max() <= 1e-12
    true = np.linalg.norm((V @ Y.T) @ Y - after[:, None] * V, axis=1)
    np.testing.assert_allclose(residuals, true, atol=1e-11 * scale)
