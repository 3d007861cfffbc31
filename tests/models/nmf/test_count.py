"""Hidden entries: which, how they are missed, and that they find the number of components."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from lowdim.errors import BadInput, BadParameter
from lowdim.models.nmf.count import held_out_losses, hide
from lowdim.models.nmf.observed import as_observed
from lowdim.models.nmf.solvers.problem import Problem, search
from lowdim.models.nmf.solvers.start import start
from lowdim.models.nmf.solvers.weighted import Weighted
from models.nmf.nmf_data import checked, counts, observed_forms, posed, random_start, with_holes


def problems(beta: float) -> dict[str, Problem]:
    X = counts()
    plain = {
        "array": posed(checked(X, beta), beta),
        "sparse": posed(checked(scipy.sparse.csr_array(X), beta), beta),
    }
    return plain | observed_forms(with_holes(X), beta)


ALL = pytest.mark.parametrize("form", list(problems(1.0)))


@ALL
def test_hidden_entries_are_missing_and_no_others(form):
    problem = problems(1.0)[form]
    values, weights = as_observed(problem.X).dense()
    out = hide(problem, np.random.default_rng(0), share=0.2)
    left, left_weights = out.problem.X.dense()
    gone = np.zeros(values.shape, dtype=bool)
    gone[out.rows, out.columns] = True
    assert gone.sum() == len(out.rows)  # none twice
    assert gone.sum() == pytest.approx(0.2 * (weights > 0).sum(), rel=0.1)
    np.testing.assert_array_equal(left_weights, np.where(gone, 0.0, weights))
    np.testing.assert_array_equal(left, np.where(gone, 0.0, values))
    np.testing.assert_array_equal(out.values, values[out.rows, out.columns])
    assert (out.weights > 0).all()


@ALL
def test_no_row_or_column_loses_more_than_half(form):
    problem = problems(1.0)[form]
    for seed in range(5):
        out = hide(problem, np.random.default_rng(seed), share=0.5)
        before, after = as_observed(problem.X).dense()[1] > 0, out.problem.X.dense()[1] > 0
        for axis in (0, 1):
            assert (2 * after.sum(axis=axis) >= before.sum(axis=axis)).all()


def test_the_loss_of_losing_all_is_that_of_the_problem():
    X = counts()
    W, H = random_start(X)
    out = hide(posed(X, 2.0), np.random.default_rng(0))
    hidden = (0.5 * (X - W @ H) ** 2)[out.rows, out.columns]
    assert out.loss(W, H) == pytest.approx(hidden.mean(), rel=1e-12)
    assert out.loss(W, H) * len(out.rows) + out.problem.objective(W, H) == pytest.approx(
        posed(X, 2.0).objective(W, H), rel=1e-12
    )


def test_zeros_of_a_fit_cost_much_but_not_without_end():
    X = counts()
    out = hide(posed(X, 1.0), np.random.default_rng(0))
    nothing = out.loss(np.zeros((120, 1)), np.zeros((1, 50)))
    assert np.isfinite(nothing)
    assert nothing > out.loss(*random_start(X))


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_hidden_entries_find_the_number_of_components(beta):
    rng = np.random.default_rng(0)
    X = rng.poisson(20 * rng.gamma(0.5, 1, (100, 3)) @ rng.gamma(0.5, 1, (3, 40))).astype(float)
    if beta == 2.0:
        X = np.sqrt(X)  # noise alike everywhere

    def fit(problem: Problem, k: int) -> tuple[np.ndarray, np.ndarray]:
        solver = Weighted.of(problem)
        state = search(solver.begin(*start(problem.X, k, "random", np.random.default_rng(1))), solver.step, 100)
        return state.W, state.H

    losses = held_out_losses(posed(X, beta), (1, 2, 3, 5, 8), fit, np.random.default_rng(0), times=2)
    assert losses.shape == (2, 5)
    mean = losses.mean(axis=0)
    # √ of a product of rank 3 is of rank 3 nearly; what is certain is that 1 is too few and 8 too many
    assert mean[:3].argmin() == 2
    assert mean[2] < mean[4]
    if beta == 1.0:
        assert mean.argmin() == 2


def test_what_cannot_be_hidden_says_so():
    with pytest.raises(BadParameter, match=r"up to 0\.5"):
        hide(posed(counts(), 1.0), np.random.default_rng(0), share=0.9)
    alone = checked(np.where(np.eye(5) > 0, 1.0, np.nan), 1.0, missing="nan")
    with pytest.raises(BadInput, match="No entry of the 5 × 5 matrix"):
        hide(posed(alone, 1.0), np.random.default_rng(0), share=0.5)
