"""Solvers of non-negative factors: falling objectives, exact sums, KKT, planted factors, compiled as plain."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import threadpoolctl
from sklearn.decomposition import non_negative_factorization

from lowdim.models.nmf.loss import Penalty, log_likelihood
from lowdim.models.nmf.solvers.hals import Hals
from lowdim.models.nmf.solvers.newton import DenseNewton, SparseNewton
from lowdim.models.nmf.solvers.problem import begin, search
from lowdim.models.nmf.solvers.textbook import Multiplicative, PlainHals, PlainNewton
from lowdim.runtime import native
from models.nmf.nmf_data import COMPILED, PLAIN, counts, problem_of, random_start, separable

SOME = Penalty(l1_W=0.3, l2_W=0.2, l1_H=0.1, l2_H=0.4)
PENALTIES = pytest.mark.parametrize("penalty", [Penalty(), SOME], ids=["free", "penalised"])
ROUNDING = 1e-12
"""Of an objective, relative: sums of thousands of terms, and what cancels in ½‖X‖² − ⟨B, H⟩ + …"""


def never_rises(trace) -> bool:
    return all(after <= before + ROUNDING * abs(trace[0]) for before, after in pairwise(trace))


# -- laws of every solver -------------------------------------------------------------------------------------------


@PENALTIES
@pytest.mark.parametrize("name", PLAIN)
def test_no_half_step_raises_the_objective(name, penalty):
    beta, make = PLAIN[name]
    X = counts()
    solver = make(problem_of(X, beta, penalty=penalty))
    state = search(solver.begin(*random_start(X), tol=0.0), solver.step, 60)
    assert len(state.objective) == 121
    assert never_rises(state.objective)
    assert state.objective[-1] < 0.7 * state.objective[0]  # the start knows the mean only


@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.5, 1.5, 3.0])
def test_no_update_raises_any_divergence(beta):
    X = counts() + 0.1
    solver = Multiplicative.of(problem_of(X, beta))
    assert never_rises(search(solver.begin(*random_start(X), tol=0.0), solver.step, 40).objective)


@PENALTIES
@pytest.mark.parametrize("name", COMPILED)
def test_fast_solvers_fall_and_end_at_a_kkt_point(name, penalty):
    beta, sparse, make = COMPILED[name]
    X = counts()
    problem = problem_of(X, beta, sparse, penalty)
    solver = make(problem)
    state = search(solver.begin(*random_start(X), tol=1e-4), solver.step, 4000)
    assert state.finished
    assert never_rises(state.objective)
    assert (state.W >= 0).all()
    assert (state.H >= 0).all()
    # the residual that stopped it, and its objective, are those of the plain formulas
    assert problem.residual(state.W, state.H) <= 1.001e-4
    assert state.objective[-1] == pytest.approx(problem.objective(state.W, state.H), rel=1e-10)


@pytest.mark.parametrize("name", COMPILED)
def test_planted_factors_are_found(name):
    beta, sparse, make = COMPILED[name]
    X, W, H = separable()
    best = None
    for seed in range(5):  # not convex: the best of a few starts
        solver = make(problem_of(X, beta, sparse))
        state = search(solver.begin(*random_start(X, seed=seed), tol=1e-7), solver.step, 4000)
        best = state if best is None or state.objective[-1] < best.objective[-1] else best
    alike = _cosines(best.H, H)
    rows, columns = scipy.optimize.linear_sum_assignment(-alike)
    # the factors are unique but for order and scale; a residual of 1e-7 leaves angles of far less than a degree
    assert alike[rows, columns].min() > 0.999
    assert _cosines(best.W.T, W.T)[rows, columns].min() > 0.999
    np.testing.assert_allclose(best.W @ best.H, X, atol=0.02)


def _cosines(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    return A @ (B / np.linalg.norm(B, axis=1, keepdims=True)).T


@pytest.mark.parametrize("name", COMPILED)
def test_zero_rows_and_columns_get_zeros(name):
    beta, sparse, make = COMPILED[name]
    X = counts()
    solver = make(problem_of(X, beta, sparse))
    state = search(solver.begin(*random_start(X)), solver.step, 50)
    fitted = state.W @ state.H
    assert abs(fitted[-1]).max() < 1e-9
    assert abs(fitted[:, -1]).max() < 1e-9


@pytest.mark.parametrize("name", COMPILED)
def test_nothing_is_factorised_into_nothing(name):
    beta, sparse, make = COMPILED[name]
    X = np.zeros((9, 7))
    solver = make(problem_of(X, beta, sparse))
    for W, H in ((np.zeros((9, 4)), np.zeros((4, 7))), (np.ones((9, 4)), np.ones((4, 7)))):
        state = search(solver.begin(W, H), solver.step, 30)
        assert np.isfinite(state.W).all()
        assert np.isfinite(state.H).all()
        assert abs(state.W @ state.H).max() < 1e-9


@pytest.mark.parametrize("name", COMPILED)
def test_zeros_of_a_start_are_left(name):
    beta, sparse, make = COMPILED[name]
    X = counts()
    W, H = random_start(X)
    free = make(problem_of(X, beta, sparse))
    aim = search(free.begin(W, H), free.step, 400).objective[-1]
    W, H = W.copy(), H.copy()
    W[:, 0], H[0] = 0.0, 0.0  # a component that is nowhere
    W[::2, 1], H[2, ::3] = 0.0, 0.0  # and zeros where there should be none
    state = search(free.begin(W, H), free.step, 400)
    # another start, another of many local minima, but none without that component: three lose about a third more
    assert state.objective[-1] < 1.1 * aim
    assert state.W[:, 0].max() * state.H[0].max() > 0.1


@pytest.mark.parametrize("name", COMPILED)
def test_threads_make_no_difference(name):
    beta, sparse, make = COMPILED[name]
    X = counts(700, 60)
    found = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads, user_api="blas"):
            solver = make(problem_of(X, beta, sparse))
            found.append(search(solver.begin(*random_start(X), tol=0.0), solver.step, 15))
    assert (found[0].W == found[1].W).all()
    assert (found[0].H == found[1].H).all()


def test_a_small_step_does_not_stop():
    X = counts()
    solver = Multiplicative.of(problem_of(X, 1.0))
    state = search(solver.begin(*random_start(X), tol=1e-8), solver.step, 300)
    assert not state.finished
    assert state.steps == 300


def test_a_solution_needs_no_step():
    X, W, H = separable()
    for beta in (1.0, 2.0):
        state = begin(problem_of(X, beta), W, H)
        assert state.finished


# -- Kullback–Leibler -----------------------------------------------------------------------------------------------


def test_updates_keep_row_and_column_sums():
    X = counts()
    problem = problem_of(X, 1.0)
    solver = Multiplicative.of(problem)
    state = solver.begin(*random_start(X))
    for _ in range(5):
        W = solver._half(problem, state.W, state.H)
        np.testing.assert_allclose((W @ state.H).sum(axis=1), X.sum(axis=1), atol=1e-9)  # the floor is 1e-12
        state = solver.step(state)
        np.testing.assert_allclose((state.W @ state.H).sum(axis=0), X.sum(axis=0), atol=1e-9)


def test_solutions_have_the_sums_of_the_data():
    X = counts()
    solver = SparseNewton.of(problem_of(X, 1.0, sparse=True))
    state = search(solver.begin(*random_start(X), tol=1e-9), solver.step, 2000)
    for axis in (0, 1):  # Σ w ∂/∂w = 0 at a KKT point; the residual is 1e-9 of a fit of hundreds
        np.testing.assert_allclose((state.W @ state.H).sum(axis=axis), X.sum(axis=axis), atol=1e-5)


def test_the_likelihood_rises_as_the_divergence_falls():
    X = counts()
    solver = Multiplicative.of(problem_of(X, 1.0))
    state = solver.begin(*random_start(X))
    before = -np.inf
    for _ in range(20):
        state = solver.step(state)
        now = log_likelihood(X, state.W, state.H)
        assert now >= before
        before = now


# -- compiled as plain ----------------------------------------------------------------------------------------------


@PENALTIES
@pytest.mark.parametrize("sparse", [False, True])
def test_compiled_hals_is_plain_hals(sparse, penalty):
    X = counts(700, 70)  # more than a slab, and no multiple of 64
    plain, fast = PlainHals.of(problem_of(X, 2.0, penalty=penalty)), Hals.of(problem_of(X, 2.0, sparse, penalty), False)
    _same(plain, fast, X)


@pytest.mark.skipif(not native.is_compiled(), reason="there are no kernels")
@PENALTIES
@pytest.mark.parametrize(("n", "p", "k"), [(1, 1, 1), (7, 130, 1), (64, 64, 4), (65, 3, 2), (150, 70, 9)])
def test_whole_steps_are_single_steps(n, p, k, penalty):
    """Tiles of 64 that are full, and that are not; steps that are taken back among them."""
    X = counts(n, p) + 1.0
    W, H = random_start(X, k)
    problem = problem_of(X, 2.0, penalty=penalty)
    whole, single = Hals.of(problem), Hals.of(problem, whole=False)
    ours, theirs = (replace(solver.begin(W, H, 0.0), last=23) for solver in (whole, single))
    for steps in (10, 20, 23):  # looks, and the last step
        while ours.steps < steps:
            ours = whole.step(ours)
        while theirs.steps < steps:
            theirs = single.step(theirs)
        assert ours.steps == steps
        if theirs.residual < 1e-7:  # from there rounding decides which step is taken back
            break
        np.testing.assert_allclose(ours.objective, theirs.objective, rtol=1e-9, atol=1e-9 * X.size)
        np.testing.assert_allclose(ours.W @ ours.H, theirs.W @ theirs.H, rtol=1e-6, atol=1e-6)
        assert ours.residual == pytest.approx(theirs.residual, rel=1e-4)
        assert ours.memory.share == theirs.memory.share
    assert (np.diff(ours.objective[1:]) <= 1e-12 * np.abs(ours.objective[1:-1])).all()


@pytest.mark.skipif(not native.is_compiled(), reason="there are no kernels")
def test_whole_steps_are_as_many_as_were_asked_for():
    X = counts(60, 9)
    solver = Hals.of(problem_of(X, 2.0))
    begin = solver.begin(*random_start(X), 0.0)
    assert solver.step(begin).steps == 1
    for steps in (1, 9, 10, 11, 27):
        at_once, alone = search(begin, solver.step, steps), begin
        for _ in range(steps):
            alone = solver.step(alone)
        assert at_once.steps == steps
        np.testing.assert_array_equal(at_once.W, alone.W)
        assert at_once.objective == alone.objective


@PENALTIES
@pytest.mark.parametrize("sweeps", [1, 2])
def test_compiled_newton_is_plain_newton(sweeps, penalty):
    X = counts()
    plain = PlainNewton.of(problem_of(X, 1.0, penalty=penalty), sweeps)
    _same(plain, SparseNewton.of(problem_of(X, 1.0, True, penalty), sweeps, False), X)
    _same(plain, DenseNewton.of(problem_of(X, 1.0, False, penalty), sweeps, False), X)


def _same(plain, fast, X: np.ndarray) -> None:
    """One step from the same start to 1e-10, twenty to what rounding makes of that."""
    one, other = plain.begin(*random_start(X)), fast.begin(*random_start(X))
    assert one.objective[-1] == pytest.approx(other.objective[-1], rel=ROUNDING)
    assert one.residual == pytest.approx(other.residual, rel=1e-10)
    for step in range(20):
        one, other = plain.step(one), fast.step(other)
        near = 1e-10 if step == 0 else 1e-7
        np.testing.assert_allclose(other.W, one.W, rtol=near, atol=near)
        np.testing.assert_allclose(other.H, one.H, rtol=near, atol=near)
    assert other.objective[-1] == pytest.approx(one.objective[-1], rel=1e-9)
    assert other.residual == pytest.approx(one.residual, rel=1e-5)  # after twenty steps both have looked


def test_extrapolation_needs_fewer_steps():
    X = counts()
    for beta, sparse, plain, fast in (
        (2.0, False, lambda problem: Hals.of(problem, False), Hals.of),
        (1.0, False, lambda p: DenseNewton.of(p, extrapolated=False), DenseNewton.of),
        (1.0, True, lambda p: SparseNewton.of(p, extrapolated=False), SparseNewton.of),
    ):
        steps = []
        for make in (plain, fast):
            solver = make(problem_of(X, beta, sparse))
            steps.append(search(solver.begin(*random_start(X)), solver.step, 5000).steps)
        assert steps[1] < steps[0]


# -- scikit-learn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 12])
def test_hals_is_scikit_learns_coordinate_descent(steps):
    X = counts()
    W, H = random_start(X)
    penalty = Penalty.of(X.shape, 1e-3, 2e-3, 0.3)
    problem = problem_of(X, 2.0, penalty=penalty)
    solver = Hals.of(problem, extrapolated=False)
    ours = search(solver.begin(W, H, tol=0.0), solver.step, steps)
    theirs = _theirs(X, W, H, steps, "cd", 2.0, alpha_W=1e-3, alpha_H=2e-3, l1_ratio=0.3)
    assert ours.objective[-1] == pytest.approx(problem.objective(*theirs), rel=1e-10)


@pytest.mark.parametrize("beta", [0.0, 1.0, 2.0, 3.0])
def test_updates_are_scikit_learns(beta):
    X = counts() + 0.1
    W, H = random_start(X)
    problem = problem_of(X, beta)
    solver = Multiplicative.of(problem)
    ours = search(begin(problem, W, H, tol=0.0), solver.step, 12)
    assert ours.objective[-1] == pytest.approx(problem.objective(*_theirs(X, W, H, 12, "mu", beta)), rel=1e-10)


def _theirs(X, W, H, steps: int, solver: str, beta: float, **penalties) -> tuple[np.ndarray, np.ndarray]:
    with pytest.warns(UserWarning, match="Maximum number of iterations"):
        found = non_negative_factorization(
            X,
            W.copy(),
            H.copy(),
            n_components=W.shape[1],
            init="custom",
            solver=solver,
            beta_loss=beta,
            tol=1e-30,
            max_iter=steps,
            **penalties,
        )
    return found[0], found[1]


def test_states_are_not_overwritten():
    X = counts()
    for beta, sparse, make in COMPILED.values():
        solver = make(problem_of(X, beta, sparse))
        state = solver.step(solver.begin(*random_start(X)))
        kept = replace(state, W=state.W.copy(), H=state.H.copy())
        solver.step(solver.step(state))
        assert (kept.W == state.W).all()
        assert (kept.H == state.H).all()
