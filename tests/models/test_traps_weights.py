"""Traps 33 and 35 of research/field.md §D: rows with holes, and rows that count more, less, or not at all."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from lowdim import PCA
from lowdim.errors import BadInput, BadParameter, LowdimError, MissingValues
from models.routes import each_route, each_solver, exact, fitted, spread

each_kind = pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["array", "csr"])


def same(one, other, tolerance=1e-10):
    """Two fits agree as design.md promises; scores and reconstructions follow."""
    np.testing.assert_allclose(one.mean_, other.mean_, atol=1e-13)  # rounding of numbers below 10
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=tolerance)
    np.testing.assert_allclose(one.explained_variance_ratio_, other.explained_variance_ratio_, rtol=tolerance)
    np.testing.assert_allclose(one.components_, other.components_, atol=tolerance)
    np.testing.assert_allclose(one.noise_variance_, other.noise_variance_, rtol=1e-8, atol=1e-14)  # a small difference


# -- 33: holes ---------------------------------------------------------------------------------------------------------


@each_route
@pytest.mark.parametrize(("hole", "word"), [(np.nan, "missing"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_33_holes_are_counted_by_column(route, hole, word):
    X = spread(60)
    X[3, 1] = X[50, 1] = X[50, 4] = hole
    # batches end at the first bad one
    counted = rf"1 value is {word}" if route[1] == "batches" else rf"3 values are {word}.*column 1:? 2, column 4:? 1"
    with pytest.raises(MissingValues, match=counted + r".*(60|\d) rows") as caught:
        fitted(route, X)
    assert isinstance(caught.value, (LowdimError, ValueError))


@each_solver
@pytest.mark.parametrize("where", ["row", "column", "first block", "everything"])
def test_33_whole_rows_and_columns_of_holes(solver, where):
    X = spread(60)
    X[{"row": np.s_[20], "column": np.s_[:, 2], "first block": np.s_[:10], "everything": np.s_[:]}[where]] = np.nan
    with pytest.raises(MissingValues, match=rf"{np.isnan(X).sum()} values are missing .* 60 rows"):
        PCA(svd_solver=solver).fit(X)


def test_33_both_kinds_of_holes_are_told_apart():
    frame = pd.DataFrame(spread(60), columns=list("abcde"))
    frame.loc[3, "b"] = np.nan
    frame.loc[4, "d"] = np.inf
    with pytest.raises(MissingValues, match=r"1 value is missing \(NaN\) \(b:? 1\) and 1 value is infinite.*\(d:? 1\)"):
        PCA().fit(frame)


@each_solver
def test_33_large_finite_values_are_no_holes(solver):
    X = spread(60)
    model = PCA(svd_solver=solver).fit(X * 1e150)
    # squares of 1e150 are near the end of float64, sums of them beyond: only the exponent may change
    np.testing.assert_allclose(model.explained_variance_, exact(X)[0] * 1e300, rtol=1e-10)
    np.testing.assert_allclose(model.components_, PCA(svd_solver=solver).fit(X).components_, atol=1e-10)
    tiny = PCA(svd_solver=solver).fit(X * 1e-150)
    np.testing.assert_allclose(tiny.explained_variance_, exact(X)[0] * 1e-300, rtol=1e-10)


def test_33_a_bad_batch_changes_nothing():
    X = spread(60)
    model = PCA().partial_fit(X[:30])
    with pytest.raises(MissingValues, match=r"5 values are missing .* 1 row"):
        model.partial_fit(np.full((1, 5), np.nan))
    same(model.partial_fit(X[30:]), PCA().fit(X))


@pytest.mark.parametrize("ask", ["transform", "score_samples", "score"])
@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_33_new_rows_with_holes_are_refused(ask, hole):
    model = PCA(2).fit(spread(60))
    X = spread(4)
    X[2, 3] = hole
    with pytest.raises(MissingValues, match=r"1 value is (missing|infinite) .*column 3:? 1.* 4 rows"):
        getattr(model, ask)(X)


@each_solver
@each_kind
@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_33_holes_in_rows_of_weight_zero_do_not_matter(solver, kind, hole):
    X, weight = spread(60), np.ones(60)
    expected = PCA(svd_solver="full").fit(np.delete(X, [0, 7, 59], axis=0))
    X[[0, 7, 59]] = hole
    weight[[0, 7, 59]] = 0
    same(PCA(svd_solver=solver).fit(kind(X), sample_weight=weight), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_33_holes_in_rows_of_weight_zero_of_a_frame_do_not_matter(frame):
    X, weight = spread(60), np.ones(60)
    expected = PCA().fit(np.delete(X, [0, 7, 59], axis=0))
    X[[0, 7, 59]] = np.nan
    weight[[0, 7, 59]] = 0
    columns = {name: X[:, j].copy() for j, name in enumerate("abcde")}  # separate arrays, read block by block
    same(PCA().fit(frame(columns), sample_weight=weight), expected)


# -- 35: weights -------------------------------------------------------------------------------------------------------


@each_solver
@each_kind
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"ddof": 0}, {"center": False}], ids=str)
def test_35_whole_weights_are_repetitions(solver, kind, settings):
    X, weight = spread(50), np.random.default_rng(35).integers(0, 4, 50)
    repeated = np.repeat(X, weight, axis=0)
    model = PCA(3, svd_solver=solver, **settings).fit(kind(X), sample_weight=weight)
    same(model, PCA(3, svd_solver="full", **settings).fit(repeated))
    np.testing.assert_allclose(model.singular_values_, PCA(3, **settings).fit(repeated).singular_values_, rtol=1e-10)


@pytest.mark.parametrize("k", [0.9, "mle", None])
def test_35_weights_count_in_every_rule(k):
    rng = np.random.default_rng(35)
    for _ in range(5):
        X = rng.standard_normal((25, 6)) * [3, 2, 2, 1.2, 1, 1]
        weight = rng.integers(1, 9, 25)
        assert (
            PCA(k).fit(X, sample_weight=weight).n_components_ == PCA(k).fit(np.repeat(X, weight, axis=0)).n_components_
        )


@each_solver
@each_kind
def test_35_rows_of_weight_zero_are_not_there(solver, kind):
    X, weight = spread(50), np.random.default_rng(35).uniform(0.5, 3, 50)
    weight[::3] = 0
    model = PCA(svd_solver=solver).fit(kind(X), sample_weight=weight)
    same(model, PCA(svd_solver="full").fit(X[weight > 0], sample_weight=weight[weight > 0]))


@each_solver
def test_35_weights_by_the_formula(solver):
    X, weight = spread(50) + 4, np.random.default_rng(35).uniform(0.5, 3, 50)
    mean = weight @ X / weight.sum()
    scatter = (X - mean).T * weight @ (X - mean)
    model = PCA(svd_solver=solver).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-13)  # rounding of 50 terms
    expected = np.linalg.eigvalsh(scatter / (weight.sum() - 1))[::-1]
    np.testing.assert_allclose(model.explained_variance_, expected, rtol=1e-10)  # condition 1e3 of eigvalsh


@each_solver
@pytest.mark.parametrize("factor", [1e-3, 7.3, 1e6])
def test_35_the_unit_of_the_weights_does_not_turn_the_axes(solver, factor):
    X, weight = spread(50), np.random.default_rng(35).uniform(0.5, 3, 50)
    one = PCA(svd_solver=solver, ddof=0).fit(X, sample_weight=weight)
    same(PCA(svd_solver=solver, ddof=0).fit(X, sample_weight=weight * factor), one)


def test_35_every_door_takes_the_weights():
    X, weight = spread(50), np.random.default_rng(35).integers(0, 4, 50)
    expected = PCA(3).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(PCA(3).fit_transform(X, sample_weight=weight), expected.transform(X))
    batches = PCA(3).partial_fit(X[:20], sample_weight=weight[:20]).partial_fit(X[20:], sample_weight=weight[20:])
    same(batches, expected)
    for given in (weight.tolist(), pd.Series(weight), weight.astype(np.float32)):
        same(PCA(3).fit(X, sample_weight=given), expected)
    same(PCA(3).fit(pd.DataFrame(X, columns=list("abcde")), sample_weight=weight), expected)
    same(PCA(3).fit(X, sample_weight=np.ones(50)), PCA(3).fit(X))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(49), r"shape \(49,\).* 50 rows"),
        (np.ones((50, 1)), r"shape \(50, 1\).* 50 rows"),
        (np.r_[np.ones(49), -1], r"-1.0 at row 49.* not negative"),
        (np.r_[np.nan, np.ones(49)], r"nan at row 0.* finite"),
        (np.zeros(50), r"(?i)every sample_weight is 0"),
        (["a"] * 50, r"sample_weight"),
    ],
    ids=["short", "column", "negative", "nan", "zeros", "text"],
)
def test_35_weights_that_cannot_be(weight, message):
    with pytest.raises(BadInput, match=message):
        PCA().fit(spread(50), sample_weight=weight)


def test_35_a_stream_has_no_row_count_to_match():
    with pytest.raises(BadInput, match=r"sample_weight .*stream of row blocks with 5 columns.*partial_fit"):
        PCA().fit(iter([spread(50)]), sample_weight=np.ones(50))


@each_solver
@each_kind
def test_35_column_weights_are_repetitions_of_columns(solver, kind):
    X, weight = spread(60), np.array([1, 3, 2, 0, 1])
    repeated = PCA(3, svd_solver="full").fit(np.repeat(X, weight, axis=1))
    model = PCA(3, svd_solver=solver, column_weight=weight).fit(kind(X))
    np.testing.assert_allclose(model.explained_variance_, repeated.explained_variance_, rtol=1e-10)  # design.md
    np.testing.assert_allclose(model.total_variance_, repeated.total_variance_, rtol=1e-12)  # rounding of a sum
    scores = repeated.transform(np.repeat(X, weight, axis=1))
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(scores), atol=1e-9
    )  # the sign rule sees other entries


@pytest.mark.parametrize("weight", [np.ones(4), [-1, 1, 1, 1, 1], [np.nan, 1, 1, 1, 1], np.zeros(5), "a"], ids=str)
def test_35_column_weights_that_cannot_be(weight):
    with pytest.raises(BadParameter, match=r"column_weight.* 0 for each of the 5 columns"):
        PCA(column_weight=weight).fit(spread(50))
