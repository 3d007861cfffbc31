"""Traps 36–39 of research/field.md §D: what callers rely on beside the numbers."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowdim import PCA
from lowdim.errors import BadParameter, CannotMerge, NeedsAnotherPass, WrongShape
from models.routes import SOLVERS, each_route, each_solver, fitted, spread

OPTIONS = [
    {},
    {"n_components": 0.9},
    {"n_components": "mle"},
    {"whiten": True},
    {"scale": True},
    {"center": False},
    {"scale": np.arange(1.0, 6)},
    {"column_weight": np.arange(1.0, 6)},
    {"scale": True, "whiten": True, "n_components": 3, "ddof": 0},
    {"copy": False},
]

# -- 36: fit then transform, or both at once ---------------------------------------------------------------------------


KINDS = {"array": np.asarray, "csr": scipy.sparse.csr_array, "frame": pd.DataFrame}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    ("solver", "kind"), [*((s, "array") for s in SOLVERS), ("auto", "csr"), ("lanczos", "csr"), ("auto", "frame")]
)
def test_36_fit_transform_is_fit_then_transform(solver, kind, options):
    X = KINDS[kind](spread(40) + 3)
    model = PCA(svd_solver=solver, **options)
    together = clone(model).fit_transform(X)
    apart = model.fit(X).transform(X)
    np.testing.assert_array_equal(together, apart)
    halves = np.concatenate([model.transform(X[:13]), model.transform(X[13:])])
    np.testing.assert_allclose(halves, apart, rtol=0, atol=1e-12)  # rounding: blocks are cut elsewhere


def test_36_a_stream_cannot_be_read_twice():
    with pytest.raises(NeedsAnotherPass, match=r"(?i)once|again"):
        PCA(2).fit_transform(iter([spread(20)]))
    with pytest.raises(NeedsAnotherPass, match=r"svd_solver='full'.*once.*covariance_eigh"):
        PCA(2, svd_solver="full").fit(iter([spread(20)]))


# -- 37: parameters, copies, names -------------------------------------------------------------------------------------


def test_37_the_constructor_checks_and_changes_nothing():
    wrong = {"n_components": -3, "svd_solver": "?", "tol": "x", "ddof": -1, "scale": "y", "random_state": 1.5}
    model = PCA(**wrong)
    assert {name: model.get_params()[name] for name in wrong} == wrong
    for name, value in wrong.items():
        with pytest.raises(BadParameter, match=rf"{name}={value!r}"):
            PCA(**{name: value}).fit(spread(20))
    assert model.set_params(n_components=2).n_components == 2
    with pytest.raises(ValueError, match="components"):
        model.set_params(components=2)


def test_37_fitting_leaves_the_parameters_alone():
    scale = np.arange(1.0, 6)
    model = PCA(0.9, tol=1e-6, scale=scale, random_state=3)
    before = model.get_params()
    model.fit(spread(20))
    assert model.get_params() is not before
    assert all(model.get_params()[name] is value for name, value in before.items())
    copy = clone(model)
    assert copy.n_components == 0.9
    with pytest.raises(NotFittedError):
        copy.transform(spread(5))


@each_route
def test_37_pickled_and_parallel_models_give_the_same_bits(route):
    X = spread(40)
    model = fitted(route, X, n_components=3)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.transform(X), model.transform(X))
    np.testing.assert_array_equal(copy.certificate_.upper, model.certificate_.upper)
    if route[1] == "batches":
        np.testing.assert_array_equal(
            copy.partial_fit(X[:9]).explained_variance_, model.partial_fit(X[:9]).explained_variance_
        )


def test_37_joblib_gives_the_same_bits():
    X = spread(40)
    here = PCA(3).fit_transform(X)
    for there in Parallel(n_jobs=2, prefer="threads")(delayed(PCA(3).fit_transform)(X) for _ in range(4)):
        np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_37_set_output(kind, frame):
    X = pd.DataFrame(spread(20), columns=list("abcde"), index=range(100, 120))
    scores = PCA(3).set_output(transform=kind).fit_transform(X)
    assert isinstance(scores, frame)
    assert list(scores.columns) == ["pca0", "pca1", "pca2"]  # scikit-learn's names, not padded
    np.testing.assert_array_equal(np.asarray(scores), PCA(3).fit_transform(X))
    if kind == "pandas":
        assert list(scores.index) == list(X.index)
    pipeline = make_pipeline(StandardScaler(), PCA(11)).set_output(transform="pandas")
    assert pipeline.fit_transform(np.random.default_rng(0).random((20, 12))).columns[-1] == "pca10"


def test_37_names_are_remembered_and_compared():
    X = pd.DataFrame(spread(20), columns=list("abcde"))
    model = PCA(2).fit(X)
    assert list(model.feature_names_in_) == list("abcde")
    assert model.n_features_in_ == 5
    for ask in (model.transform, model.score_samples, PCA(2).partial_fit(X).partial_fit):
        with pytest.raises(ValueError, match=r"(?i)feature names.*order"):
            ask(X[list("bacde")])
        with pytest.raises(ValueError, match=r"(?i)feature names.*\n.*\n.*z"):
            ask(X.rename(columns={"a": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X.to_numpy())


# -- 38: about the training mean ---------------------------------------------------------------------------------------


@each_route
def test_38_new_rows_are_taken_about_the_training_mean(route):
    X = spread(60) + np.array([10, 0, -5, 3, 100])
    model = fitted(route, X, n_components=3)
    new = X[:7] + 1
    expected = (new - X.mean(axis=0)) @ model.components_.T
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-11)  # rounding of numbers near 100
    np.testing.assert_allclose(model.transform(X.mean(axis=0, keepdims=True)), 0, atol=1e-11)
    np.testing.assert_allclose(model.inverse_transform(np.zeros((1, 3)))[0], X.mean(axis=0), atol=1e-12)


def test_38_widths_are_checked_in_both_directions():
    model = PCA(2).fit(spread(20))
    with pytest.raises(WrongShape, match=r"3 columns.* 2 components"):
        model.inverse_transform(np.ones((4, 3)))
    with pytest.raises(WrongShape, match="1D array"):
        model.inverse_transform(np.ones(2))
    for ask in (model.transform, model.score, model.score_samples):
        with pytest.raises(ValueError, match=r"4 features.* 5 features"):
            ask(np.ones((3, 4)))


@pytest.mark.parametrize("ask", ["transform", "inverse_transform", "score", "score_samples"])
def test_38_a_model_that_is_not_fitted_says_so(ask):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(PCA(), ask)(spread(5))
    for name in ("components_", "mean_", "explained_variance_", "certificate_"):
        assert not hasattr(PCA(), name)


# -- 39: fitting again, going on, merging ------------------------------------------------------------------------------


def test_39_a_second_fit_starts_afresh():
    first = pd.DataFrame(spread(20), columns=list("abcde"))
    second = np.random.default_rng(39).standard_normal((30, 3))
    model = PCA().fit(first).fit(second)
    np.testing.assert_array_equal(model.components_, PCA().fit(second).components_)
    assert model.n_samples_ == 30
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(PCA().partial_fit(spread(9)).fit(second).mean_, PCA().fit(second).mean_)


@each_solver
def test_39_partial_fit_goes_on_from_a_fit_that_kept_its_scatter(solver):
    X = spread(60)
    model = PCA(3, svd_solver=solver).fit(X[:40]).partial_fit(X[40:])
    expected = PCA(3).fit(X)
    np.testing.assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-10)  # design.md
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-10)
    assert model.n_samples_ == 60


def test_39_a_fit_of_many_columns_without_a_scatter_cannot_go_on():
    X = np.random.default_rng(39).standard_normal((30, 201))  # from 201 columns on only covariance_eigh keeps it
    with pytest.raises(CannotMerge, match=r"scatter.*full SVD.*covariance_eigh"):
        PCA(svd_solver="full").fit(X).partial_fit(X)
    with pytest.raises(CannotMerge, match="full SVD"):
        PCA(3).partial_fit(X).merge(PCA(3, svd_solver="full").fit(X))
    kept = PCA(3, svd_solver="covariance_eigh").fit(X[:20]).partial_fit(X[20:])
    np.testing.assert_allclose(kept.explained_variance_, PCA(3).fit(X).explained_variance_, rtol=1e-10)  # design.md


def test_39_batches_of_another_width_are_refused():
    X = spread(20)
    model = PCA(2).partial_fit(X)
    with pytest.raises(ValueError, match=r"3 features.* 5 features"):
        model.partial_fit(X[:, :3])
    np.testing.assert_array_equal(model.components_, PCA(2).partial_fit(X).components_)


def test_39_too_many_components_are_found_out_when_asked_for():
    with pytest.raises(BadParameter, match=r"n_components=6.* 5 columns"):
        PCA(6).partial_fit(spread(20))
    few = PCA(4).partial_fit(spread(3))
    with pytest.raises(BadParameter, match=r"n_components=4.*3 rows × 5 columns"):
        few.transform(spread(3))


def test_39_merging_is_fitting_all_rows():
    X = spread(60) + 7
    parts = [PCA(3).partial_fit(rows) for rows in np.array_split(X, 4)]
    before = parts[0].explained_variance_.copy()
    merged = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    expected = PCA(3).fit(X)
    np.testing.assert_allclose(merged.explained_variance_, expected.explained_variance_, rtol=1e-10)  # design.md
    np.testing.assert_allclose(merged.components_, expected.components_, atol=1e-10)
    np.testing.assert_array_equal(parts[0].explained_variance_, before)
    with pytest.raises(CannotMerge, match=r"5 columns.* 4"):
        merged.merge(PCA(3).partial_fit(X[:, :4]))


def test_39_rows_are_counted_exactly_beyond_32_bits():
    X = spread(50)
    model = PCA(ddof=0).partial_fit(X)
    for _ in range(33):
        model = model.merge(model)
    assert model.n_samples_ == 50 * 2**33
    # doubling is exact, so only the rounding of 33 merges is left
    np.testing.assert_allclose(model.explained_variance_, PCA(ddof=0).fit(X).explained_variance_, rtol=1e-12)
