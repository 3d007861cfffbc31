"""Starts of non-negative factors: scikit-learn's, name by name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.decomposition._nmf import _initialize_nmf

from lowdim.errors import BadParameter
from lowdim.models.nmf.loss import loss_of
from lowdim.models.nmf.solvers import start as nmf_start
from lowdim.models.nmf.solvers.start import start
from models.nmf.nmf_data import counts


@pytest.mark.parametrize("init", [None, "random", "nndsvd", "nndsvda", "nndsvdar"])
@pytest.mark.parametrize("shape", [(40, 14), (14, 40)])
@pytest.mark.parametrize("sparse", [False, True])
def test_starts_are_those_of_scikit_learn(init, shape, sparse):
    X = np.random.default_rng(0).random(shape)
    X[X < 0.3] = 0.0
    # with 14 columns and 4 + 10 random vectors scikit-learn's randomized decomposition is exact
    W, H = _initialize_nmf(X, 4, init, random_state=7)
    ours = start(scipy.sparse.csr_array(X) if sparse else X, 4, init, np.random.RandomState(7))
    # the random numbers of nndsvdar follow those that scikit-learn draws for its decomposition, or not: same law only
    if init == "nndsvdar":
        assert loss_of(2.0).total(X, *ours) == pytest.approx(loss_of(2.0).total(X, W, H), rel=0.05)
        return
    np.testing.assert_allclose(ours[0], W, atol=1e-10)  # singular vectors of a Gram matrix, gaps of about 1
    np.testing.assert_allclose(ours[1], H, atol=1e-10)


def test_many_columns_make_no_difference(monkeypatch):
    X = counts(80, 60)
    here = start(X, 4, "nndsvd", np.random.default_rng(0))
    monkeypatch.setattr(nmf_start, "GRAM", 10)
    for there in (X, scipy.sparse.csr_array(X)):
        W, H = start(there, 4, "nndsvd", np.random.default_rng(0))
        np.testing.assert_allclose(W, here[0], atol=1e-8)  # Lanczos vectors, to rounding over the gaps
        np.testing.assert_allclose(H, here[1], atol=1e-8)


def test_more_components_than_rank_start_at_zero():
    X = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 7.0))
    W, H = start(X, 3, "nndsvd", np.random.default_rng(0))
    np.testing.assert_allclose(W @ H, X, rtol=1e-10)  # rounding
    assert not W[:, 1:].any()
    assert not start(np.zeros((5, 4)), 2, None, np.random.default_rng(0))[0].any()
    assert not start(scipy.sparse.csr_array((400, 400)), 2, None, np.random.default_rng(0))[0].any()


def test_own_factors_are_copied_and_checked():
    W, H = np.ones((5, 2), dtype=np.float32), np.ones((2, 4), dtype=int)
    ours = start(np.ones((5, 4)), 2, "custom", np.random.default_rng(0), W, H)
    assert ours[0].dtype == ours[1].dtype == np.float64
    for wrong in (None, np.ones((4, 2)), -np.ones((5, 2)), np.full((5, 2), np.nan)):
        with pytest.raises(BadParameter, match="W must be"):
            start(np.ones((5, 4)), 2, "custom", np.random.default_rng(0), wrong, H)


def test_what_cannot_start_says_so():
    with pytest.raises(BadParameter, match="one of random"):
        start(np.ones((5, 4)), 2, "nnsvd", np.random.default_rng(0))
    with pytest.raises(BadParameter, match="5 components of a 5 × 4 matrix"):
        start(np.ones((5, 4)), 5, "nndsvda", np.random.default_rng(0))
    assert start(np.ones((5, 4)), 5, None, np.random.default_rng(0))[0].shape == (5, 5)
