"""Where a search for parts ends: as low as scikit-learn's long runs, and what more parts than rows are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.decomposition

import lowdim
from lowdim import NMF
from lowdim.errors import RankWarning
from lowdim.models.nmf.solvers.problem import WORK

WINE = lowdim.datasets.wine().values


def lost(X, model):
    return float(np.linalg.norm(X - model.fit_transform(X) @ model.components_))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("k", [3, 4])
def test_default_fits_of_wine_end_where_long_runs_of_scikit_learn_do(k):
    """Five starts against ten of 5,000 iterations at most. At default settings five steps may gain up to a
    hundred-thousandth of the loss, half as much of its root; where the search stops by its residual alone, ends are
    1e-4 to 4e-4 above."""
    X = WINE / WINE.max(axis=0)
    theirs = min(
        lost(X, sklearn.decomposition.NMF(k, init="random", tol=1e-8, max_iter=5000, random_state=seed))
        for seed in range(10)
    )
    model = NMF(k, n_init=5).fit(X)
    assert np.sqrt(2 * model.fit_.loss) <= theirs * (1 + 1e-5)
    assert model.kkt_residual_ <= model.tol


def test_a_search_goes_on_only_where_it_is_cheap(monkeypatch):
    X = WINE / WINE.max(axis=0)
    on = NMF(5).fit(X)
    monkeypatch.setattr("lowdim.models.nmf.solvers.problem.WORK", 10 * X.size * 5 - 1)  # one look too few
    off = NMF(5).fit(X)
    assert on.n_iter_ > off.n_iter_
    assert on.fit_.loss < off.fit_.loss
    assert (np.diff(on.loss_path_) <= 1e-12 * on.loss_path_[:-1]).all()
    assert NMF(5, max_iter=off.n_iter_ + 40).fit(X).n_iter_ <= off.n_iter_ + 40
    assert WORK == 2e8


@pytest.mark.parametrize(("shape", "few"), [((40, 25), "25 tell them exactly: each of the columns"), ((12, 25), "12")])
def test_more_parts_than_rows_or_columns_are_said(shape, few):
    X = np.random.default_rng(0).random(shape)
    with pytest.warns(RankWarning, match=few):
        NMF(30, max_iter=2000).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankWarning)
        NMF(min(shape), max_iter=2000, tol=1e-2).fit(X)
