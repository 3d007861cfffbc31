"""Missing entries and weights in solvers: falling objectives, repeated rows, planted factors, compiled as plain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from lowdim.models.nmf.loss import Penalty
from lowdim.models.nmf.observed import Observed, as_observed
from lowdim.models.nmf.solvers.problem import search
from lowdim.models.nmf.solvers.start import start
from lowdim.models.nmf.solvers.textbook import Multiplicative, PlainHals, PlainNewton, PlainWeighted
from lowdim.models.nmf.solvers.weighted import Weighted
from models.nmf.nmf_data import checked, counts, observed_forms, posed, random_start, with_holes

SOME = Penalty(l1_W=0.3, l2_W=0.2, l1_H=0.1, l2_H=0.4)
PENALTIES = pytest.mark.parametrize("penalty", [Penalty(), SOME], ids=["free", "penalised"])
BOTH = pytest.mark.parametrize("beta", [1.0, 2.0])
ANY = pytest.mark.parametrize("make", [PlainWeighted.of, Weighted.of, Multiplicative.of])
ROUNDING = 1e-12
"""Of an objective, relative: sums of thousands of terms, and what cancels between zeros and what is stored."""


def weights_of(X: np.ndarray, seed: int = 2) -> np.ndarray:
    """Between 1e-8 and 5, a third of them 0."""
    rng = np.random.default_rng(seed)
    return rng.gamma(0.3, 1, X.shape) * (rng.random(X.shape) < 0.67) + 1e-8 * (rng.random(X.shape) < 0.1)


def never_rises(trace) -> bool:
    return all(after <= before + ROUNDING * abs(trace[0]) for before, after in pairwise(trace))


def run(solver, X: np.ndarray, steps: int, tol: float = 0.0):
    return search(solver.begin(*random_start(np.nan_to_num(X)), tol=tol), solver.step, steps)


# -- laws of every solver -------------------------------------------------------------------------------------------


@PENALTIES
@BOTH
@ANY
@pytest.mark.parametrize("weighted", [False, True])
def test_no_half_step_raises_the_objective(make, beta, penalty, weighted):
    X = counts()
    known = checked(X, beta, weights_of(X)) if weighted else checked(with_holes(X), beta, missing="nan")
    state = run(make(posed(known, beta, penalty)), X, 40)
    assert never_rises(state.objective)
    assert state.objective[-1] < 0.7 * state.objective[0]
    assert state.objective[-1] == pytest.approx(posed(known, beta, penalty).objective(state.W, state.H), rel=1e-10)


@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.5, 1.5, 3.0])
@pytest.mark.parametrize("form", ["dense", "unstored is zero"])
def test_no_update_raises_any_divergence(beta, form):
    X = with_holes(counts() + 0.1 * (beta < 0.5))
    problem = observed_forms(X, beta)[form]
    state = run(Multiplicative.of(problem), X, 40)
    assert never_rises(state.objective)
    assert state.objective[-1] < 0.9 * state.objective[0]


@PENALTIES
@BOTH
@pytest.mark.parametrize("form", ["dense", "unstored is zero"])
def test_the_end_is_a_kkt_point(form, beta, penalty):
    X = with_holes(counts())
    problem = posed(observed_forms(X, beta)[form].X, beta, penalty)
    state = run(Weighted.of(problem), X, 4000, tol=1e-6)
    assert state.finished
    assert problem.residual(state.W, state.H) <= 1.001e-6
    assert (state.W >= 0).all()
    assert (state.H >= 0).all()


@BOTH
@pytest.mark.parametrize("make", [Weighted.of, Multiplicative.of])
def test_every_form_takes_the_same_path(make, beta):
    X = with_holes(counts())
    found = {form: run(make(problem), X, 15) for form, problem in observed_forms(X, beta).items()}
    for state in found.values():
        # what is taken off zeros that count leaves rounding, which twenty steps of a factorisation carry on
        np.testing.assert_allclose(state.W, found["dense"].W, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(state.H, found["dense"].H, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_updates_with_weights_of_one_are_plain_updates(beta):
    X = counts() + (0.1 if beta <= 0 else 0.0)
    plain = run(Multiplicative.of(posed(X, beta)), X, 20)
    ours = run(Multiplicative.of(posed(as_observed(X), beta)), X, 20)
    np.testing.assert_allclose(ours.W, plain.W, rtol=1e-9, atol=1e-12)  # rounding of twenty steps
    np.testing.assert_allclose(ours.H, plain.H, rtol=1e-9, atol=1e-12)
    assert ours.objective == pytest.approx(plain.objective, rel=1e-11)


def test_descent_with_weights_of_one_is_hals():
    X = counts()
    plain = run(PlainHals.of(posed(X, 2.0, SOME)), X, 20)
    for form in (as_observed(X), as_observed(scipy.sparse.csr_array(X))):
        ours = run(Weighted.of(posed(form, 2.0, SOME), sweeps=1, extrapolated=False), X, 20)
        np.testing.assert_allclose(ours.W, plain.W, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(ours.H, plain.H, rtol=1e-7, atol=1e-9)


def test_newton_with_weights_of_one_ends_where_the_plain_one_does():
    X = counts()  # paths differ by how steps are cut
    plain = run(PlainNewton.of(posed(X, 1.0)), X, 300, tol=1e-5)
    ours = run(Weighted.of(posed(as_observed(X), 1.0)), X, 300, tol=1e-5)
    assert plain.finished
    assert ours.finished
    assert ours.objective[-1] == pytest.approx(plain.objective[-1], rel=1e-4)


@BOTH
@ANY
def test_a_row_of_weight_two_is_a_row_given_twice(make, beta):
    X = counts(40, 20)
    M = np.ones(X.shape)
    M[3], M[:, 5] = 2.0, 3.0
    M[3, 5] = 6.0
    W, H = random_start(X)
    rows, columns = np.r_[0:40, 3], np.r_[0:20, 5, 5]
    short = make(posed(checked(X, beta, M), beta))
    long = make(posed(as_observed(X[np.ix_(rows, columns)]), beta))
    one = search(short.begin(W, H, 0.0), short.step, 10)
    other = search(long.begin(W[rows], H[:, columns], 0.0), long.step, 10)
    np.testing.assert_allclose(one.W[rows], other.W, rtol=1e-8, atol=1e-10)  # rounding of ten steps
    np.testing.assert_allclose(one.H[:, columns], other.H, rtol=1e-8, atol=1e-10)
    assert one.objective[-1] == pytest.approx(other.objective[-1], rel=1e-10)


@BOTH
@ANY
def test_the_scale_of_weights_does_not_matter(make, beta):
    X = counts()
    M = weights_of(X)
    one, other = (run(make(posed(checked(X, beta, c * M), beta)), X, 10) for c in (1.0, 1e-6))
    np.testing.assert_allclose(other.W, one.W, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(other.H, one.H, rtol=1e-7, atol=1e-10)
    assert other.objective[-1] == pytest.approx(1e-6 * one.objective[-1], rel=1e-9)


@BOTH
@ANY
def test_what_is_missing_has_no_say(make, beta):
    X = counts()
    holes = np.isnan(with_holes(X))
    one = make(posed(checked(np.where(holes, 1e9, X), beta, ~holes), beta))
    other = make(posed(checked(np.where(holes, np.nan, X), beta, missing="nan"), beta))
    a, b = run(one, X, 5), run(other, X, 5)
    assert (a.W == b.W).all()
    assert (a.H == b.H).all()


@BOTH
@ANY
@pytest.mark.parametrize("form", ["dense", "unstored is zero"])
def test_unseen_and_zero_rows_get_zeros(make, beta, form):
    X = with_holes(counts())  # row 1 and column 2 are unseen, the last of both are zero
    X[4, 1:] = np.nan
    X[4, 0] = 0.0
    state = run(make(observed_forms(X, beta)[form]), X, 30)
    assert np.isfinite(state.W).all()
    assert np.isfinite(state.H).all()
    assert not state.W[1].any()
    assert not state.H[:, 2].any()
    fitted = state.W @ state.H
    for nothing in (fitted[-1], fitted[:, -1], fitted[4, 0]):
        assert abs(nothing).max() < 1e-9


@BOTH
@ANY
def test_known_zeros_are_factorised_into_nothing(make, beta):
    X = np.zeros((9, 7))
    X[::2, ::2] = np.nan
    solver = make(posed(checked(X, beta, missing="nan"), beta))
    for W, H in ((np.zeros((9, 3)), np.zeros((3, 7))), (np.ones((9, 3)), np.ones((3, 7)))):
        state = search(solver.begin(W, H), solver.step, 30)
        assert abs((state.W @ state.H)[np.isfinite(X)]).max() < 1e-9
        assert np.isfinite(state.W @ state.H).all()


@BOTH
@pytest.mark.parametrize("form", ["dense", "unstored is missing"])
def test_planted_factors_are_found_with_holes(form, beta):
    rng = np.random.default_rng(4)
    W, H = rng.random((80, 3)) * (rng.random((80, 3)) < 0.6), rng.random((3, 40)) * (rng.random((3, 40)) < 0.6)
    W[:3], H[:, :3] = np.eye(3), np.eye(3)  # each alone somewhere: unique but for order and scale
    X = W @ H
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    problem = observed_forms(holes, beta)[form]
    best = None
    for seed in range(4):  # not convex: the best of a few starts
        solver = Weighted.of(problem)
        begun = solver.begin(*start(problem.X, 3, "random", np.random.default_rng(seed)), tol=1e-8)
        state = search(begun, solver.step, 3000)
        best = state if best is None or state.objective[-1] < best.objective[-1] else best
    # no noise: what is missing is found, and the factors themselves
    assert np.linalg.norm(best.W @ best.H - X) < 1e-4 * np.linalg.norm(X)
    ours = best.H / np.linalg.norm(best.H, axis=1, keepdims=True)
    true = H / np.linalg.norm(H, axis=1, keepdims=True)
    order = scipy.optimize.linear_sum_assignment(-ours @ true.T)[1]
    assert abs(ours - true[order]).max() < 1e-3  # angles are the square root of an error of cosines


def test_small_weights_do_not_slow_newtons_steps():
    X = counts()
    M = np.where(np.random.default_rng(0).random(X.shape) < 0.1, 1e-9, 1.0)
    problem = posed(checked(X, 1.0, M), 1.0)
    # a bound by the smallest weighted count would cut every step by 1e4 or more
    assert run(Weighted.of(problem), X, 200, tol=1e-4).finished


# -- Kullback–Leibler -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["dense", "unstored is zero"])
def test_updates_keep_the_weighted_sums(form):
    X = with_holes(counts())
    problem = observed_forms(X, 1.0)[form]
    solver = Multiplicative.of(problem)
    state = solver.begin(*random_start(np.nan_to_num(X)))
    known = np.isfinite(X)
    assert (known * (state.W @ state.H)).sum() == pytest.approx(np.nansum(X), rel=1e-12)
    for _ in range(5):
        W = solver._half(problem, state.W, state.H)
        np.testing.assert_allclose((known * (W @ state.H)).sum(axis=1), np.nansum(X, axis=1), atol=1e-9)
        state = solver.step(state)
        np.testing.assert_allclose((known * (state.W @ state.H)).sum(axis=0), np.nansum(X, axis=0), atol=1e-9)


def test_solutions_have_the_weighted_sums_of_the_data():
    X = counts()
    M = weights_of(X)
    state = run(Weighted.of(posed(checked(X, 1.0, M), 1.0)), X, 3000, tol=1e-9)
    for axis in (0, 1):  # Σ w ∂/∂w = 0 at a KKT point
        np.testing.assert_allclose((M * (state.W @ state.H)).sum(axis=axis), (M * X).sum(axis=axis), atol=1e-5)


# -- compiled as plain ----------------------------------------------------------------------------------------------


@PENALTIES
@BOTH
@pytest.mark.parametrize("sweeps", [1, 2])
@pytest.mark.parametrize("form", ["dense", "unstored is zero", "weights"])
def test_compiled_is_plain(beta, penalty, sweeps, form):
    X = with_holes(counts())
    known = checked(X, beta, weights_of(X), "nan") if form == "weights" else observed_forms(X, beta)[form].X
    problem = posed(known, beta, penalty)
    plain, fast = PlainWeighted.of(problem, sweeps), Weighted.of(problem, sweeps, extrapolated=False)
    begin = random_start(np.nan_to_num(X))
    one, other = plain.begin(*begin, tol=0.0), fast.begin(*begin, tol=0.0)
    assert one.residual == pytest.approx(other.residual, rel=1e-10)
    for step in range(20):
        one, other = plain.step(one), fast.step(other)
        near = 1e-10 if step == 0 else 1e-7
        np.testing.assert_allclose(other.W, one.W, rtol=near, atol=near)
        np.testing.assert_allclose(other.H, one.H, rtol=near, atol=near)
    assert other.objective[-1] == pytest.approx(one.objective[-1], rel=1e-9)
    assert other.residual == pytest.approx(one.residual, rel=1e-5)


@BOTH
def test_states_are_not_overwritten(beta):
    X = with_holes(counts())
    solver = Weighted.of(observed_forms(X, beta)["dense"])
    state = run(solver, X, 3)
    W, H = state.W.copy(), state.H.copy()
    solver.step(solver.step(state))
    assert (state.W == W).all()
    assert (state.H == H).all()


@BOTH
def test_dead_components_come_back(beta):
    X = with_holes(counts())
    solver = Weighted.of(observed_forms(X, beta)["dense"])
    W, H = (factor.copy() for factor in random_start(np.nan_to_num(X)))
    aim = search(solver.begin(W, H), solver.step, 300).objective[-1]
    W[:, 0], H[0] = 0.0, 0.0
    state = search(solver.begin(W, H), solver.step, 300)
    assert state.objective[-1] < 1.1 * aim
    assert state.W[:, 0].max() * state.H[0].max() > 0.1
    assert not state.W[1].any()  # of this row nothing is known


def test_an_observed_matrix_keeps_its_own_numbers():
    X = as_observed(counts())
    assert isinstance(X, Observed)
    before = X.stored.data.copy(), X.weights.copy()
    run(Weighted.of(posed(X, 1.0)), counts(), 3)
    assert (X.stored.data == before[0]).all()
    assert (X.weights == before[1]).all()
