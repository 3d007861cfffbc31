"""Losses of non-negative factors as values: each is the divergence it says, and every solver it names can fit it."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from lowdim import NMF
from lowdim.errors import BadParameter
from lowdim.models.nmf.loss import LOSSES, NAMED, Beta, Penalty, loss_of
from lowdim.models.nmf.solvers.choose import NAMES, SAME, check
from models.nmf.nmf_data import counts, with_holes

EVERY = [*NAMED, Beta(-0.5), Beta(0.5), Beta(1.5), Beta(3.0)]
X, Y = np.meshgrid(*(np.array([0.25, 0.5, 1.0, 1.75, 4.0], dtype=np.longdouble),) * 2)
SOLVERS = sorted({*NAMES, *SAME} - {"known"})


def derivative(f, at, step=1e-6):
    """By central differences of long doubles, which err by a third derivative times step² and by 1e-19 / step."""
    return (f(at + step) - f(at - step)) / (2 * step)


def each(losses=EVERY):
    return pytest.mark.parametrize("loss", losses, ids=lambda loss: loss.name)


@each()
def test_the_slope_is_the_derivative_of_the_divergence(loss):
    true = derivative(lambda y: loss.divergence(X, y), Y)
    # third derivatives are up to 1e4 here, at β = -0.5 and a fit of 0.25
    np.testing.assert_allclose(loss.slope(X, Y).astype(float), true.astype(float), rtol=1e-8, atol=1e-8)
    less, more = loss.powers(Y)
    np.testing.assert_allclose((more - X * less).astype(float), true.astype(float), rtol=1e-8, atol=1e-8)


@each()
def test_the_divergence_is_that_of_bregman_for_the_potential(loss):
    x, y = X.astype(float), Y.astype(float)  # SciPy has x log x of no others
    bregman = loss.potential(x) - loss.potential(y) - derivative(loss.potential, y, 1e-5) * (x - y)
    # differences err by 1e-15 / 1e-5, and third derivatives are up to 320, at β = -0.5; both times up to 4
    np.testing.assert_allclose(loss.divergence(x, y), bregman, rtol=1e-7, atol=1e-7)


@each()
def test_only_an_exact_fit_loses_nothing(loss):
    lost, same = loss.divergence(X, Y), X == Y
    assert (lost[~same] > 0.004).all()  # the nearest fits are half off, and curvatures are at least 0.25^2
    assert (np.abs(lost[same]) < 1e-16).all()  # sums of a few numbers up to 16, in long doubles


@each(NAMED)
def test_other_betas_lead_to_the_named_losses(loss):
    off = 1e-4
    sides = [Beta(loss.beta + side).divergence(X, Y) for side in (-off, off)]
    # even in `off` but for its square, 1e-8, times second derivatives by beta of up to 100
    np.testing.assert_allclose((np.mean(sides, axis=0) - loss.divergence(X, Y)).astype(float), 0.0, atol=1e-6)
    assert np.abs(sides[0] - sides[1]).max() > off  # they do differ


def test_names_and_numbers_are_one_table():
    assert {loss.beta for loss in LOSSES.values()} == {0.0, 1.0, 2.0}
    for loss in NAMED:
        assert all(
            loss_of(given) is loss for given in (*loss.spellings, loss.beta, int(loss.beta), np.float32(loss.beta))
        )
    assert loss_of(1.5) == Beta(1.5) != Beta(1.25)
    for wrong in ("kl", None, float("nan"), float("inf"), True, [2.0]):
        with pytest.raises(BadParameter, match=r"beta_loss must be one of 'frobenius'.* or a number"):
            loss_of(wrong)


@each()
def test_a_loss_is_a_value(loss):
    assert pickle.loads(pickle.dumps(loss)) == loss
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.beta = 7.0


@each([loss for loss in EVERY if loss.beta != 0])
def test_rows_that_count_twice_are_scaled_rows(loss):
    scale = loss.scale_of(np.array([3.0]))[0]
    # powers of long doubles, with exponents of float64: 1e-16 of each
    expected = (3 * loss.divergence(X, Y)).astype(float)
    np.testing.assert_allclose(loss.divergence(scale * X, scale * Y).astype(float), expected, rtol=1e-13, atol=1e-14)
    for penalty in (Penalty(l1_W=1.0), Penalty(l2_W=1.0), Penalty(l1_W=1.0, l2_W=1.0)):
        W, H = np.array([[1.0, 2.0]]), np.zeros((2, 1))
        alike = penalty.value(scale * W, H) == pytest.approx(3 * penalty.value(W, H), rel=1e-12)
        assert loss.penalty_scales(penalty) == alike


def test_ratios_cannot_be_weighed():
    with pytest.raises(BadParameter, match="leave sample_weight out"):
        NMF(2, beta_loss="itakura-saito").fit(counts() + 1, sample_weight=np.ones(120))


@each()
def test_a_loss_says_where_it_is_infinite(loss):
    # 1e-200 is as good as zero: −log of it is 460, and powers are 1e100 or nothing
    assert (loss.divergence(np.ones(1), np.full(1, 1e-200))[0] > 100) == loss.refuses_zero_fits
    with np.errstate(divide="ignore"):
        assert np.isinf(loss.potential(np.zeros(1)))[0] == loss.refuses_zeros


@each()
@pytest.mark.filterwarnings("ignore::lowdim.errors.NotConverged")  # sixty updates are few
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_a_loss_is_fitted_by_the_solvers_it_names_and_refused_by_others(loss, solver, missing):
    data = with_holes(counts(30, 12)) + 0.5 if missing else counts(30, 12) + 0.5
    given = next(iter(loss.spellings), loss.beta)
    model = NMF(2, beta_loss=given, solver=solver, max_iter=60, tol=1e-3)
    if SAME.get(solver, solver) not in loss.solvers:
        with pytest.raises(BadParameter, match=r"'auto' or 'mu' unless beta_loss='(frobenius|kullback-leibler)'"):
            model.fit(data)
        return
    with np.errstate(all="raise", under="ignore"):
        fit = model.fit(data).fit_
    assert fit.loss_function == loss
    assert fit.beta == loss.beta
    assert 0 < fit.loss < 0.9 * fit.null_loss  # two parts of four: most is there to be had
    assert (np.diff(fit.descent.path) <= 1e-9 * fit.descent.path[:-1]).all()  # never rising, but for rounding


def test_no_solver_is_without_a_loss():
    for solver in SOLVERS:
        assert any(SAME.get(solver, solver) in loss.solvers for loss in NAMED)
        check(solver, next(loss for loss in NAMED if SAME.get(solver, solver) in loss.solvers))
    with pytest.raises(BadParameter, match="'auto', 'cd', 'hals', 'newton' or 'mu'"):
        check("known", NAMED[0])
