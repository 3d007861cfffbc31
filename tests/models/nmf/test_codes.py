"""Codes of rows given H: scipy's non-negative least squares, KKT of every row, no say of other rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from lowdim.models.nmf.loss import Penalty, loss_of, residual
from lowdim.models.nmf.observed import Observed, as_observed
from lowdim.models.nmf.solvers.codes import _any_loss, codes
from lowdim.models.nmf.solvers.problem import Problem
from lowdim.runtime.threads import one_blas_thread
from models.nmf.nmf_data import checked, counts, known_zeros, observed_forms, posed, with_holes

PENALTIES = pytest.mark.parametrize("penalty", [Penalty(), Penalty(l1_W=0.3, l2_W=0.2)], ids=["free", "penalised"])
BETAS = pytest.mark.parametrize("beta", [1.0, 2.0])
EXACT = 1e-11
"""KKT residual: rounding of sums over fifty columns, and a little."""


def factor(k: int = 5, p: int = 50, alike: float = 0.0) -> np.ndarray:
    """H (k, p) sparse, with a zero row and a zero column; its rows nearly the same if `alike`."""
    H = np.random.default_rng(8).gamma(0.3, 1, (k, p))
    if alike:
        H = 1.0 + (1.0 - alike) * H
    H[-1], H[:, 7] = 0.0, 0.0
    return H


def forms(X: np.ndarray, beta: float) -> dict[str, Problem]:
    """Complete, in every form, and with holes."""
    whole = {
        "array": posed(checked(X, beta), beta),
        "sparse": posed(checked(scipy.sparse.csr_array(X), beta), beta),
        "stored": posed(as_observed(X), beta),
        "zeros count": posed(as_observed(scipy.sparse.csr_array(X)), beta),
    }
    return whole | observed_forms(with_holes(X), beta)


FORMS = pytest.mark.parametrize("form", list(forms(counts(), 1.0)))


def counts_where_reached(n: int = 120) -> np.ndarray:
    """Counts, none where no component is: they would cost without end."""
    X = counts(n)
    X[:, 7] = 0.0
    return X


@FORMS
@pytest.mark.parametrize("alike", [0.0, 0.99])
def test_least_squares_are_scipys(form, alike):
    X, H = counts(), factor(alike=alike)
    problem = forms(X, 2.0)[form]
    found = codes(problem, H, 1e-12)
    values, weights = as_observed(problem.X).dense()
    true = np.array([scipy.optimize.nnls((H * m).T, x * m)[0] for x, m in zip(values, weights, strict=True)])
    # both are solutions to rounding times the condition of H Hᵀ, which is 1e6 for rows that are nearly the same
    np.testing.assert_allclose(found.W @ H, true @ H, atol=1e-8 * np.abs(true @ H).max())
    np.testing.assert_allclose(found.W, true, atol=1e-8 * true.max())


@PENALTIES
@FORMS
@BETAS
@pytest.mark.parametrize("alike", [0.0, 0.99])
def test_every_row_is_a_kkt_point(form, beta, alike, penalty):
    problem = posed(forms(counts_where_reached(), beta)[form].X, beta, penalty)
    H = factor(alike=alike)
    found = codes(problem, H, EXACT)
    assert found.residuals.max() <= EXACT
    taken, added = problem.gradient_parts(found.W, H)
    for i in range(len(taken)):  # by the plain formulas, whose sums round in another order
        assert residual(found.W[[i]], taken[[i]], added[[i]]) <= 10 * EXACT
    assert (found.W >= 0).all()


@FORMS
@BETAS
def test_other_rows_have_no_say(form, beta):
    X, H = counts_where_reached(), factor()
    problem = forms(X, beta)[form]
    whole = codes(problem, H, 1e-6)  # far from exact: each row must stop where it stops alone
    for rows in (np.arange(40), np.array([5, 90, 7]), np.array([33])):
        part = codes(posed(problem.X[rows], beta), H, 1e-6)
        # products of another number of rows round in another order
        np.testing.assert_allclose(part.W, whole.W[rows], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.5, 1.5, 3.0])
def test_any_loss_has_codes_of_single_rows(beta):
    X, H = counts(8) + 0.5, factor() + 0.1
    M = np.random.default_rng(0).random(X.shape)
    for problem in (posed(X, beta), posed(checked(X, beta, M), beta)):
        whole = codes(problem, H, 1e-7)
        assert whole.residuals.max() <= 1e-7
        for i, row in enumerate(zip(whole.W, *problem.gradient_parts(whole.W, H), strict=True)):
            assert residual(*(part[:, None] for part in row)) == pytest.approx(whole.residuals[i], abs=1e-12)
        part = codes(posed(problem.X[np.array([3, 6])], beta), H, 1e-7)
        np.testing.assert_allclose(part.W, whole.W[[3, 6]], rtol=1e-6, atol=1e-7)  # rounding, and as many steps


@pytest.mark.parametrize("form", ["array", "sparse", "dense", "unstored is zero"])
def test_counts_have_the_codes_of_long_updates(form):
    X, H = counts_where_reached(20), factor()[:4] + 0.01
    problem = forms(X, 1.0)[form]
    found = codes(problem, H, EXACT).W
    W = np.full(found.shape, 1.0)
    with one_blas_thread():
        for _ in range(3000):
            taken, added = problem.gradient_parts(W, H)
            W *= taken / np.maximum(added, 1e-300)
    assert problem.objective(found, H) <= problem.objective(W, H) + 1e-9
    np.testing.assert_allclose(found, W, atol=1e-3 * found.max())  # updates fall to zero like one over steps


@PENALTIES
@BETAS
def test_steps_for_any_loss_end_where_others_do(beta, penalty):
    X, H = counts_where_reached(12), factor()[:4] + 0.05
    problem = posed(forms(X, beta)["dense"].X, beta, penalty)
    exact = codes(problem, H, EXACT).W
    other = _any_loss(problem, H, 1e-7, np.ones_like(exact), 1000)
    assert other.residuals.max() <= 1e-7
    np.testing.assert_allclose(other.W, exact, atol=1e-4 * exact.max())  # a residual of 1e-7 times a condition of H


@FORMS
@BETAS
def test_a_start_makes_no_difference(form, beta):
    X, H = counts_where_reached(), factor()[:4]
    problem = forms(X, beta)[form]
    one = codes(problem, H, EXACT).W
    given = np.random.default_rng(0).random(one.shape)
    kept = given.copy()
    other = codes(problem, H, EXACT, given).W
    np.testing.assert_allclose(other, one, atol=1e-7 * one.max())
    np.testing.assert_allclose(codes(problem, H, EXACT, np.zeros_like(one)).W, one, atol=1e-7 * one.max())
    assert (given == kept).all()


@FORMS
@pytest.mark.parametrize("beta", [0.5, 1.0, 1.5, 2.0])
def test_rows_of_nothing_are_zero(form, beta):
    X = counts_where_reached(20)
    X[[3, 4]] = 0.0
    found = codes(forms(X, beta)[form], factor(), 1e-4, most=200)
    assert np.isfinite(found.W).all()
    assert abs(found.W[[3, 4, -1]]).max() < 1e-9
    if form in observed_forms(X, beta):
        assert not found.W[1].any()  # of this row nothing is known


@BETAS
def test_a_component_that_is_nowhere_has_no_code(beta):
    H = factor()
    found = codes(forms(counts_where_reached(), beta)["array"], H, EXACT)
    assert not found.W[:, -1].any()


@BETAS
def test_unreached_counts_leave_the_rest_alone(beta):
    X, H = counts(), factor()  # column 7 of H is zero, that of X is not
    without = counts_where_reached()
    one, other = (codes(forms(data, beta)["sparse"], H, EXACT).W for data in (X, without))
    np.testing.assert_allclose(one, other, atol=1e-8)


@BETAS
def test_a_row_that_is_not_there_says_so(beta):
    found = codes(forms(counts_where_reached(), beta)["dense"], factor(alike=0.99), 1e-12, most=1)
    assert found.residuals.max() > 1e-12


def test_more_components_than_columns_are_no_trouble():
    rng = np.random.default_rng(0)
    H = rng.random((30, 12))
    X = rng.poisson(3.0, (40, 12)).astype(float)
    for beta in (1.0, 2.0):
        for problem in forms(X, beta).values():
            assert codes(problem, H, 1e-9).residuals.max() <= 1e-9


def test_known_zeros_differ_from_missing_ones():
    X = with_holes(counts_where_reached())
    H = factor()[:4]
    zeros = codes(posed(checked(np.nan_to_num(X), 1.0), 1.0), H).W
    holes = codes(posed(checked(known_zeros(X), 1.0, missing="unstored"), 1.0), H).W
    assert isinstance(checked(known_zeros(X), 1.0, missing="unstored"), Observed)
    assert zeros.sum() < 0.9 * holes.sum()  # a third is missing


@BETAS
@pytest.mark.parametrize("alike", [0.0, 0.99])
def test_no_sweep_raises_the_objective_of_a_row(beta, alike):
    rng = np.random.default_rng(1)
    X, H = rng.poisson(rng.gamma(0.2, 5, (60, 12))).astype(float), factor(8, 12, alike)
    X[:, 7] = 0.0
    problem = forms(X, beta)["dense"]
    W = 10.0 ** rng.uniform(-6, 3, (60, 8))  # far from any fit: steps are long
    values, weights = problem.X.dense()
    before = np.inf
    for sweeps in range(1, 31):  # every fifth is followed by steps of all numbers together
        found = codes(problem, H, 0.0, W, sweeps)
        lost = (weights * loss_of(beta).divergence(values, found.W @ H)).sum(axis=1)
        assert (lost <= before + 1e-12 * (1.0 + np.abs(before))).all()
        before = lost


@BETAS
@pytest.mark.parametrize("form", ["dense", "unstored is zero"])
def test_a_component_of_missing_entries_only_has_no_code(form, beta):
    X, H = counts_where_reached(60), factor(4) + 0.01
    H[0, :10] = H[0, 20:] = 0.0
    X[5:25, 10:20] = np.nan
    given = np.ones((60, 4))
    # Σ h over all less Σ h of what is missing leaves rounding, which must not be taken for data
    assert not codes(observed_forms(X, beta)[form], H, EXACT, given).W[5:25, 0].any()
