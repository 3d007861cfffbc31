"""What is known of a matrix: missing entries and weights, their losses, gradients and starts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from lowdim.errors import BadInput, BadParameter
from lowdim.models.nmf import loss as nmf_loss
from lowdim.models.nmf.loss import fitted_total, log_likelihood, loss_of
from lowdim.models.nmf.observed import Observed, as_observed, observed
from lowdim.models.nmf.solvers import start as nmf_start
from lowdim.models.nmf.solvers.start import PlusRankOne, completed, rank_one, start
from models.nmf.nmf_data import checked, counts, known_zeros, observed_forms, posed, random_start, with_holes

BETAS = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]


def some(beta: float, sparse: bool) -> tuple[Observed, np.ndarray, np.ndarray]:
    """A matrix with weights, some of them 0, and both as dense arrays."""
    X, rng = counts(30, 20) + (0.5 if beta <= 0 else 0.0), np.random.default_rng(0)
    M = rng.gamma(1, 1, X.shape) * (rng.random(X.shape) < 0.7)
    if not sparse:
        return checked(X, beta, M), X, M
    M[(X == 0) & (rng.random(X.shape) < 0.8)] = 1.0
    weights = scipy.sparse.csr_array(np.where((M != 1) | (X > 0), M + 1.0, 0.0))  # zeros of weight 0 are stored
    weights.data -= 1.0
    return checked(scipy.sparse.csr_array(X), beta, weights), X, M


# -- losses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("mostly", [0, 1000])
def test_the_loss_is_that_of_each_entry_by_weight(beta, sparse, mostly, monkeypatch):
    monkeypatch.setattr(nmf_loss, "BLOCK", 64)  # many blocks
    monkeypatch.setattr(nmf_loss, "MOSTLY_STORED", mostly)  # gathered, or from dense blocks
    known, X, M = some(beta, sparse)
    assert known.unstored == (1.0 if sparse and beta > 0 else 0.0)  # for β ≤ 0 there are no zeros to leave out
    W, H = random_start(X)
    true = float((M * loss_of(beta).divergence(X, W @ H)).sum())
    assert loss_of(beta).total(known, W, H) == pytest.approx(true, rel=1e-12)  # rounding of sums
    # the gradient of Σ m d is that of each entry by weight: parts of ones as data have X's and M's place
    fitted = W @ H
    taken, added = loss_of(beta).gradient_parts(known, W, H)
    np.testing.assert_allclose(taken, (M * X * fitted ** (beta - 2)) @ H.T, rtol=1e-11)
    np.testing.assert_allclose(added, (M * fitted ** (beta - 1)) @ H.T, rtol=1e-11)


@pytest.mark.parametrize("beta", BETAS)
def test_the_parts_are_those_of_the_gradient(beta):
    known, X, _ = some(beta, sparse=True)
    W, H = random_start(X)
    taken, added = loss_of(beta).gradient_parts(known, W, H)
    step = 1e-5
    for i, t in [(0, 0), (3, 2), (11, 3)]:
        ahead, behind = W.copy(), W.copy()
        ahead[i, t] += step
        behind[i, t] -= step
        slope = (loss_of(beta).total(known, ahead, H) - loss_of(beta).total(known, behind, H)) / (2 * step)
        assert (added - taken)[i, t] == pytest.approx(slope, rel=1e-4, abs=1e-4)  # central differences


@pytest.mark.parametrize("sparse", [False, True])
def test_sums_and_likelihood_are_weighted(sparse):
    known, X, M = some(1.0, sparse)
    W, H = random_start(X)
    fitted = W @ H
    assert log_likelihood(known, W, H) == pytest.approx((M * (X * np.log(fitted) - fitted)).sum(), rel=1e-11)
    assert fitted_total(known, W, H) == pytest.approx((M * fitted).sum(), rel=1e-12)
    assert known.mean() == pytest.approx(np.average(X, weights=M), rel=1e-12)
    np.testing.assert_allclose(known.sum(axis=1), (M * X).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(known.T.sum(axis=1), (M * X).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_every_form_is_one_problem(beta):
    X = with_holes(counts())
    W, H = random_start(np.nan_to_num(X))
    forms = observed_forms(X, beta)
    first = forms["dense"]
    for problem in forms.values():
        assert problem.objective(W, H) == pytest.approx(first.objective(W, H), rel=1e-11)
        # what is left when zeros are taken off has lost a digit or two
        assert problem.residual(W, H) == pytest.approx(first.residual(W, H), rel=1e-10)
        assert problem.floor(4) == pytest.approx(first.floor(4), rel=1e-12)
        np.testing.assert_allclose(problem.X.dense()[0], np.nan_to_num(X))
        assert (problem.X.dense()[1] == np.isfinite(X)).all()
        assert (problem.X.seen_rows == np.isfinite(X).any(axis=1)).all()
        assert (problem.X.T.seen_rows == np.isfinite(X).any(axis=0)).all()
        some_rows = problem.X[np.array([5, 1, 7])]
        np.testing.assert_array_equal(some_rows.dense()[1], problem.X.dense()[1][[5, 1, 7]])


def test_turning_twice_is_nothing():
    known, _, _ = some(1.0, sparse=True)
    twice = known.T.T
    assert (twice.stored != known.stored).nnz == 0
    assert (twice.weights == known.weights).all()


# -- the one door ---------------------------------------------------------------------------------------------------


def test_what_is_complete_is_a_plain_matrix():
    X = counts()
    for weights in (None, np.ones(X.shape)):
        np.testing.assert_array_equal(checked(X, 1.0, weights, "nan"), X)
    sparse = checked(scipy.sparse.csr_array(X), 1.0, missing="nan")
    assert scipy.sparse.issparse(sparse)
    full = checked(known_zeros(X), 1.0, missing="unstored")  # everything is stored
    assert scipy.sparse.issparse(full)
    assert (full != scipy.sparse.csr_array(X)).nnz == 0


def test_the_callers_data_are_left_alone():
    X, M = with_holes(counts()), np.ones((120, 50))
    X.flags.writeable = M.flags.writeable = False
    known = checked(X, 1.0, M, "nan")
    start(known, 3, "nndsvda", np.random.default_rng(0))
    sparse = scipy.sparse.csr_array(X)
    before = sparse.copy()
    start(checked(sparse, 1.0, missing="nan"), 3, "nndsvda", np.random.default_rng(0))
    np.testing.assert_array_equal(sparse.data, before.data)


def test_what_has_no_weight_is_not_looked_at():
    X, M = counts(), np.ones((120, 50))
    X[0, 0], X[0, 1], X[0, 2], M[0, :3] = np.nan, -5.0, np.inf, 0.0
    known = checked(X, 0.5, M)
    assert known.stored.nnz == X.size - 3
    assert np.isfinite(known.stored.data).all()
    sparse = scipy.sparse.csr_array(X)
    weights = scipy.sparse.csr_array((np.ones(sparse.nnz), sparse.indices, sparse.indptr), shape=X.shape)
    weights.data[:3] = 0.0
    known = checked(sparse, 0.5, weights)
    assert (known.dense()[1] == M).all()


def test_duplicates_are_added_and_stored_zeros_are_data():
    X = scipy.sparse.coo_array(([1.0, 2.0, 0.0, 5.0], ([0, 0, 0, 1], [0, 0, 2, 1])), shape=(2, 3))
    known = checked(X, 1.0, missing="unstored")
    values, weights = known.dense()
    np.testing.assert_array_equal(values, [[3, 0, 0], [0, 5, 0]])
    np.testing.assert_array_equal(weights, [[1, 0, 1], [0, 1, 0]])
    assert known.mean() == pytest.approx(8 / 3)


def test_sparse_weights_may_be_given_to_zeros():
    X = scipy.sparse.csr_array(np.array([[3.0, 0.0, 0.0], [0.0, 5.0, 0.0]]))
    weights = scipy.sparse.csr_array(np.array([[2.0, 0.5, 0.0], [0.0, 4.0, 0.0]]))
    np.testing.assert_array_equal(checked(X, 1.0, weights).dense()[1], [[2, 0.5, 1], [1, 4, 1]])
    np.testing.assert_array_equal(checked(X, 1.0, weights, "unstored").dense()[1], [[2, 0, 0], [0, 4, 0]])
    dense = checked(X, 1.0, weights.toarray(), "unstored")
    np.testing.assert_array_equal(dense.dense()[1], [[2, 0, 0], [0, 4, 0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones((3, 2))}, r"weights have shape \(3, 2\), but X has shape \(2, 3\)"),
        ({"weights": -np.ones((2, 3))}, "6 of 6 weights are negative"),
        ({"weights": np.full((2, 3), np.nan)}, "6 of 6 weights are negative, infinite or NaN"),
        ({"weights": np.zeros((2, 3))}, "Nothing of the 2 × 3 matrix is known"),
        ({"X": np.full((2, 3), np.nan)}, "Nothing of the 2 × 3 matrix is known"),
        ({"X": -np.ones((2, 3))}, r"Negative values in data \(6 of 6 entries\)"),
        ({"X": np.full((2, 3), np.inf)}, r"Infinite values in data \(6 of 6 entries\)"),
        ({"X": np.array([[np.nan, 1, 1], [1, 1, 1.0]]), "missing": None, "weights": np.full((2, 3), 2.0)}, "1 of 6"),
        ({"X": scipy.sparse.csr_array(np.eye(2, 3)), "weights": scipy.sparse.csr_array((2, 3))}, "nothing for 2 of"),
        ({"X": scipy.sparse.csr_array(np.eye(2, 3)), "weights": scipy.sparse.csr_array((3, 3))}, r"shape \(3, 3\)"),
        ({"X": scipy.sparse.csr_array((2, 3)), "missing": "unstored"}, "Nothing of"),
    ],
)
def test_errors_say_what_came(change, message):
    given = {"X": np.ones((2, 3)), "beta": 1.0, "missing": "nan"} | change
    with pytest.raises(BadInput, match=message):
        checked(**given)


def test_words_are_checked():
    with pytest.raises(BadParameter, match="'nan' or 'unstored'"):
        observed(np.ones((2, 2)), missing="zero")
    with pytest.raises(BadParameter, match="for a dense matrix"):
        observed(np.ones((2, 2)), missing="unstored")


def test_only_known_zeros_cost_infinitely():
    X = counts() + 0.5
    X[3, 4] = 0.0
    with pytest.raises(BadInput, match="infinite"):
        checked(X, 0.0, missing="nan")
    holes = np.where(X == 0, np.nan, X)
    for given, missing in ((holes, "nan"), (known_zeros(holes), "unstored")):
        assert checked(given, 0.0, missing=missing).stored.nnz == X.size - 1


# -- starts ---------------------------------------------------------------------------------------------------------


def test_a_matrix_of_rank_one_is_completed():
    X = np.outer(np.arange(1.0, 31.0), np.arange(1.0, 21.0))
    holes = with_holes(X)
    holes[:, 2], holes[1] = X[:, 2], X[1]
    a, b = rank_one(checked(holes, 1.0, missing="nan"))
    np.testing.assert_allclose(np.outer(a, b), X, rtol=1e-8)  # ten rounds; each leaves about a tenth of the error
    a, b = rank_one(as_observed(counts()))
    exact = np.outer(counts().sum(axis=1), counts().sum(axis=0)) / counts().sum()
    np.testing.assert_allclose(np.outer(a, b), exact, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 14), (14, 40)])
@pytest.mark.parametrize("gram", [2000, 5])
def test_completing_needs_no_dense_matrix(shape, gram, monkeypatch):
    monkeypatch.setattr(nmf_start, "GRAM", gram)
    X = with_holes(np.random.default_rng(0).random(shape))
    found = []
    for mostly in (0, 1000):
        monkeypatch.setattr(nmf_start, "MOSTLY_STORED", mostly)
        for problem in list(observed_forms(X, 1.0).values()):
            assert isinstance(completed(problem.X), PlusRankOne if mostly == 0 else np.ndarray)
            found.append(start(problem.X, 3, "nndsvd", np.random.default_rng(0)))
    for W, H in found:
        np.testing.assert_allclose(W, found[0][0], atol=1e-8)  # singular vectors, to rounding over the gaps
        np.testing.assert_allclose(H, found[0][1], atol=1e-8)
        assert not W[1].any()  # nothing is known of this row, nor of the column
        assert not H[:, 2].any()


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "nndsvdar"])
def test_complete_starts_are_those_of_plain_matrices(init):
    X = counts()
    ours = start(as_observed(X), 4, init, np.random.RandomState(0))
    plain = start(X, 4, init, np.random.RandomState(0))
    for one, other in zip(ours, plain, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_completed_start_is_better_than_zeros_for_holes():
    X = counts(seed=3)
    known = checked(with_holes(X), 1.0, missing="nan")
    W, H = start(known, 4, "nndsvd", np.random.default_rng(0))
    zeros = start(np.nan_to_num(with_holes(X)), 4, "nndsvd", np.random.default_rng(0))
    assert posed(known, 2.0).objective(W, H) < posed(known, 2.0).objective(*zeros)
