"""The linear program, its proof, and whether there are other solutions."""

import numpy as np
import pytest
from scipy.linalg import null_space

from lowdim.errors import BadInput
from lowdim.recipes.basis_pursuit.linear_program import (
    STRICTLY,
    Rows,
    feasible,
    least_absolute,
    lower_bound,
    polish,
    steepest,
    uniqueness,
)


def planted(m: int, N: int, k: int, nonnegative: bool = False, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.zeros(N)
    y[rng.choice(N, k, replace=False)] = rng.uniform(1, 2, k) * (1 if nonnegative else rng.choice([-1, 1], k))
    return rng.standard_normal((m, N)), y


both_signs = pytest.mark.parametrize("nonnegative", [False, True], ids=["signed", "nonnegative"])


@both_signs
@pytest.mark.parametrize("seed", range(5))
def test_a_sparse_vector_below_the_transition_is_found(nonnegative: bool, seed: int) -> None:
    A, y = planted(40, 80, 8, nonnegative, seed)  # ρ = .2, half of the curve's .386
    found, q = least_absolute(A, A @ y, nonnegative)
    np.testing.assert_allclose(found, y, atol=1e-12)  # solved for on the support: rounding only
    assert uniqueness(A, found, nonnegative).unique
    assert steepest(A, q, nonnegative) <= 1 + 1e-14
    assert lower_bound(A @ y, q) == pytest.approx(np.abs(y).sum(), rel=1e-9)  # HiGHS stops at 1e-10


@both_signs
def test_no_feasible_point_is_smaller(nonnegative: bool) -> None:
    A, y = planted(12, 30, 11, nonnegative, 1)  # far above the transition: another vector is smaller
    found, _ = least_absolute(A, A @ y, nonnegative)
    np.testing.assert_allclose(A @ found, A @ y, atol=1e-12)
    assert np.abs(found).sum() < np.abs(y).sum()
    ways = null_space(A) @ np.random.default_rng(2).standard_normal((18, 500))
    others = found[:, None] + 10.0 ** np.linspace(-6, 0, 500) * ways
    if nonnegative:
        others = others[:, (others >= 0).all(axis=0)]
    assert (np.abs(others).sum(axis=0) >= np.abs(found).sum() - 1e-12).all()


def test_a_vertex_on_the_boundary_does_not_hide_that_a_solution_is_unique() -> None:
    A, y = planted(20, 40, 3, seed=3)
    _, vertex = least_absolute(A, A @ y, False)
    slopes = np.abs(A.T @ vertex)[y == 0]
    assert slopes.max() > 1 - STRICTLY  # what HiGHS gives cannot say
    answer = uniqueness(A, y, False)
    assert answer.unique
    assert answer.dual is not None
    np.testing.assert_allclose((A.T @ answer.dual)[y != 0], np.sign(y[y != 0]), atol=1e-12)
    assert np.abs(A.T @ answer.dual)[y == 0].max() == pytest.approx(1 - answer.margin)


def test_the_linear_program_looks_further_than_the_shortest_dual_point() -> None:
    # on the support q = (1, q₂); the shortest has q₂ = 0 and slope 1.05 at the last column, q₂ = −.5 has 0.65 there
    A = np.array([[1.0, 0.0, 1.05], [0.0, 1.0, 0.8]])
    answer = uniqueness(A, np.array([1.0, 0.0, 0.0]), False)
    assert answer.unique
    # |q₂| = 1.05 + .8 q₂ has its smallest value at q₂ = −7/12
    assert answer.margin == pytest.approx(1 - 7 / 12, abs=1e-9)


@pytest.mark.parametrize(
    ("A", "y", "nonnegative", "unique"),
    [
        ([[0.5, 0.5]], [6, 0], False, False),  # Moler's two numbers
        ([[0.5, 0.5]], [6, 0], True, False),
        ([[0.5, 0.4]], [6, 0], False, True),
        ([[0.5, -0.5]], [6, 0], False, False),
        ([[0.5, -0.5]], [6, 0], True, True),  # the other way is closed
        ([[1, 1, 0], [0, 0, 1]], [2, 0, 3], False, False),
        ([[1, 1]], [1, 1], False, False),  # dependent columns on the support
        ([[1, 0, 0], [0, 1, 0]], [1, 1, 0], False, True),  # a column of zeros
        ([[1, 2]], [0, 0], False, True),
        ([[1], [2]], [3], False, True),
    ],
)
def test_uniqueness_where_it_is_known(A: list, y: list, nonnegative: bool, unique: bool) -> None:
    assert uniqueness(np.array(A, float), np.array(y, float), nonnegative).unique is unique


@both_signs
@pytest.mark.parametrize("seed", range(12))
def test_a_second_solution_exists_exactly_if_uniqueness_says_so(nonnegative: bool, seed: int) -> None:
    # small whole numbers have many ties; push each entry up and down as far as |y|₁ = least lets it: a second program
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, (3, 7)).astype(float)
    b = A @ (np.abs(rng.integers(-2, 3, 7)) if nonnegative else rng.integers(-2, 3, 7))
    y, _ = least_absolute(A, b, nonnegative)
    wide = A if nonnegative else np.hstack([A, -A])
    spread = 0.0
    for column in range(7):
        way = np.zeros(wide.shape[1])
        way[column] = 1.0
        if not nonnegative:
            way[7 + column] = -1.0
        ends = [
            linprog(s * way, A_eq=wide, b_eq=b, A_ub=np.ones((1, wide.shape[1])), b_ub=[np.abs(y).sum() + 1e-9]).fun
            for s in (1, -1)
        ]
        spread = max(spread, -ends[0] - ends[1])
    assert uniqueness(A, y, nonnegative).unique == (spread < 1e-6)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
def test_units_do_not_matter(factor: float) -> None:
    A, y = planted(15, 40, 3)
    found, q = least_absolute(A, factor * (A @ y), False)
    np.testing.assert_allclose(found / factor, y, atol=1e-12)
    other, p = least_absolute(factor * A, A @ y, False)
    np.testing.assert_allclose(other * factor, y, atol=1e-12)
    np.testing.assert_allclose(p * factor, q, rtol=1e-6, atol=1e-9)


def test_rows_in_other_units_and_another_order_change_nothing() -> None:
    A, y = planted(15, 40, 3)
    rng = np.random.default_rng(0)
    units, rows, columns = 10.0 ** rng.uniform(-8, 8, 15), rng.permutation(15), rng.permutation(40)
    found, _ = least_absolute((units[:, None] * A)[rows][:, columns], (units * (A @ y))[rows], False)
    np.testing.assert_allclose(found, y[columns], atol=1e-12)


@both_signs
def test_columns_of_very_different_length(nonnegative: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        A, y = planted(15, 40, 3, nonnegative, int(rng.integers(1000)))
        A *= 10.0 ** rng.uniform(-4, 4, 40)
        found, q = least_absolute(A, A @ y, nonnegative)
        np.testing.assert_allclose(A @ found, A @ y, atol=1e-9 * np.linalg.norm(A @ y))
        # columns of 1e4 and 1e-4 in one program: HiGHS' 1e-10 times 1e4, in the bound that is proved
        assert lower_bound(A @ y, q) >= np.abs(found).sum() * (1 - 1e-5)


@pytest.mark.parametrize("seed", [20, 52, 54])
def test_columns_too_short_for_the_tolerances_are_brought_to_one_length(seed: int) -> None:
    # lengths over ten orders: as they are, HiGHS ends with gaps of 82, 6.5 and .02 % in these three of sixty
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((15, 40)) * 10.0 ** rng.uniform(-5, 5, 40), np.zeros(40)
    y[rng.choice(40, 3, replace=False)] = 1, 2, 3
    found, q = least_absolute(A, A @ y, True)
    assert lower_bound(A @ y, q) >= np.abs(found).sum() * (1 - 1e-6)


def test_what_a_linear_program_leaves_of_zeros_is_taken_away() -> None:
    A, y = planted(20, 40, 4)
    crumbs = y.copy()
    crumbs[np.flatnonzero(y == 0)[:10]] = 1e-9 * np.array([1, -1] * 5)
    np.testing.assert_array_equal(polish(A, A @ y, crumbs) != 0, y != 0)
    # but a coefficient that is only small stays
    y[0] = 1e-9
    np.testing.assert_allclose(polish(A, A @ y, y * (1 + 1e-12)), y, rtol=1e-5)


def test_dependent_rows_are_left_out() -> None:
    A, y = planted(10, 30, 2)
    more = np.vstack([A, A[:3], A.sum(axis=0), np.zeros(30)])
    assert len(Rows.of(more, more @ y).kept) == 10
    found, q = least_absolute(more, more @ y, False)
    np.testing.assert_allclose(found, y, atol=1e-12)
    assert q.shape == (15,)
    assert lower_bound(more @ y, q) == pytest.approx(np.abs(y).sum(), rel=1e-9)


def test_more_equations_than_unknowns() -> None:
    A, y = planted(20, 5, 5)
    found, q = least_absolute(A, A @ y, False)
    np.testing.assert_allclose(found, y, atol=1e-12)
    assert lower_bound(A @ y, q) == pytest.approx(np.abs(y).sum(), rel=1e-9)


def test_nothing_measured_needs_nothing() -> None:
    found, q = least_absolute(np.ones((2, 3)), np.zeros(2), False)
    assert not found.any()
    assert not q.any()


def test_contradictions_are_told_with_their_size() -> None:
    with pytest.raises(BadInput, match=r"residual of norm 0\.447214 \(b has 3\.16228\); pass noise= above 0\.447214"):
        least_absolute(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([1.0, 3.0]), False)
    with pytest.raises(BadInput, match=r"none without negative entries.*norm 1 .*nonnegative=False, or noise= above 1"):
        least_absolute(np.array([[1.0, 1.0]]), np.array([-1.0]), True)


def test_a_dual_point_is_made_feasible() -> None:
    A = np.array([[1.0, -3.0]])
    np.testing.assert_allclose(feasible(A, np.array([2.0]), False), [1 / 3])
    np.testing.assert_allclose(feasible(A, np.array([2.0]), True), [1.0])
    np.testing.assert_allclose(feasible(A, np.array([0.1]), False), [0.1])
