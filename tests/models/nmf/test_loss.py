"""Losses of non-negative factors: scikit-learn's values, true gradients, sparse as dense, no lost digits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.special
import scipy.stats
from sklearn.decomposition._nmf import _beta_divergence

from lowdim.errors import BadInput
from lowdim.models.nmf import loss as nmf_loss
from lowdim.models.nmf.loss import Penalty, log_likelihood, loss_of, residual
from models.nmf.nmf_data import checked, counts, posed, problem_of, random_start

BETAS = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]


@pytest.mark.parametrize("beta", BETAS)
def test_the_loss_is_that_of_scikit_learn(beta):
    X = counts() + (0.5 if beta <= 0 else 0.0)
    W, H = random_start(X)
    # both sum 6,000 entries in float64, each in an order of its own
    assert loss_of(beta).total(X, W, H) == pytest.approx(_beta_divergence(X, W, H, beta), rel=1e-12)


@pytest.mark.parametrize("beta", BETAS)
def test_the_parts_are_those_of_the_gradient(beta):
    X = counts(12, 7) + 0.5
    W, H = random_start(X)
    taken, added = loss_of(beta).gradient_parts(X, W, H)
    assert (taken >= 0).all()
    assert (added >= 0).all()
    step = 1e-5
    for i, t in [(0, 0), (3, 2), (11, 3)]:
        ahead, behind = W.copy(), W.copy()
        ahead[i, t] += step
        behind[i, t] -= step
        slope = (loss_of(beta).total(X, ahead, H) - loss_of(beta).total(X, behind, H)) / (2 * step)
        # central differences err by step² times a third derivative, which small fits make large for negative β
        assert (added - taken)[i, t] == pytest.approx(slope, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("beta", [0.5, 1.0, 1.5, 2.0])
def test_stored_entries_are_enough(beta, monkeypatch):
    monkeypatch.setattr(nmf_loss, "BLOCK", 64)  # many blocks
    X = counts()
    W, H = random_start(X)
    sparse, loss = scipy.sparse.csr_array(X), loss_of(beta)
    assert loss.total(sparse, W, H) == pytest.approx(loss.total(X, W, H), rel=1e-12)  # rounding of sums
    for one, other in zip(loss.gradient_parts(sparse, W, H), loss.gradient_parts(X, W, H), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_close_fits_lose_no_digits(beta):
    x, off = np.full((1, 1), 3.0), 1e-7
    W, H = np.array([[3.0 * (1 + off)]]), np.ones((1, 1))
    true = (3.0 if beta == 1 else 1.0) * off**2 / 2  # and a third-order term of 1e-7 of it
    # the fit itself is rounded to 1e-16, that is 1e-9 of `off`; x log(x / wh) − x + wh would have an error of 1e-2
    assert loss_of(beta).total(x, W, H) == pytest.approx(true, rel=1e-6)


def test_the_log_likelihood_is_that_of_poisson():
    X = counts(20, 10)
    W, H = random_start(X)
    true = scipy.stats.poisson.logpmf(X, W @ H).sum() + scipy.special.gammaln(X + 1).sum()
    assert log_likelihood(X, W, H) == pytest.approx(true, rel=1e-12)
    assert log_likelihood(scipy.sparse.csr_array(X), W, H) == pytest.approx(true, rel=1e-12)


def test_zeros_fitted_by_zeros_cost_nothing():
    X, W, H = np.zeros((3, 2)), np.zeros((3, 1)), np.ones((1, 2))
    for beta in (1.0, 1.5, 2.0):
        assert abs(loss_of(beta).total(X, W, H)) < 1e-100  # W H is held at 1e-300


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9, 1.0, 1.5])
def test_zero_rows_have_finite_gradients(beta):
    X, W, H = np.zeros((3, 2)), np.zeros((3, 1)), np.ones((1, 2))
    for part in loss_of(beta).gradient_parts(X, W, H):
        assert np.isfinite(part).all()


def test_the_residual_is_zero_only_where_nothing_can_be_gained():
    W = np.array([[0.0, 2.0]])
    assert residual(W, np.array([[1.0, 3.0]]), np.array([[1.5, 3.0]])) == 0.0
    assert residual(W, np.array([[2.0, 3.0]]), np.array([[1.5, 3.0]])) > 0.1  # a zero that should rise
    assert residual(W, np.array([[1.0, 2.0]]), np.array([[1.5, 3.0]])) > 0.1  # a number that should fall


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_the_residual_has_no_units(beta):
    X = counts()
    W, H = random_start(X)
    here = problem_of(X, beta).residual(W, H)
    assert problem_of(1e6 * X, beta).residual(1e5 * W, 10 * H) == pytest.approx(here, rel=1e-10)


def test_penalties_count_as_in_scikit_learn():
    penalty = Penalty.of((10, 5), alpha_W=0.1, alpha_H="same", l1_ratio=0.25)
    assert (penalty.l1_W, penalty.l2_W) == pytest.approx((5 * 0.1 * 0.25, 5 * 0.1 * 0.75))
    assert (penalty.l1_H, penalty.l2_H) == pytest.approx((10 * 0.1 * 0.25, 10 * 0.1 * 0.75))


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_what_cannot_be_factorised_is_refused(wrong):
    X = counts()
    X[2, 3] = wrong
    for given in (X, scipy.sparse.csr_array(X)):
        with pytest.raises(BadInput, match=r"data \(1 of"):
            checked(given, 2.0)


def test_zeros_are_refused_where_they_cost_infinitely():
    with pytest.raises(BadInput, match="infinite"):
        checked(counts(), 0.0)


def test_stored_zeros_and_integers_are_data():
    X = scipy.sparse.csr_array((np.array([0, 3], dtype=np.uint8), ([0, 1], [0, 1])), shape=(2, 2))
    ready = checked(X, 1.0)
    assert ready.nnz == 1
    assert X.nnz == 2  # the caller's matrix is left alone
    assert posed(ready, 1.0).objective(np.ones((2, 1)), np.ones((1, 2))) == pytest.approx(3 + 3 * np.log(3) - 3 + 1)
