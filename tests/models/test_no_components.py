"""n_components=0: a mean, and a variance that is the same in all directions, as in scikit-learn."""

import inspect

import numpy as np
import pytest
import sklearn.decomposition
from scipy.stats import multivariate_normal
from sklearn.model_selection import cross_val_score

import lowdim
from lowdim import PCA, IncrementalPCA, Recogniser
from lowdim.errors import BadParameter, WrongShape

IRIS = lowdim.datasets.iris().values
WAYS = [{"svd_solver": name} for name in ("auto", "full", "covariance_eigh", "arpack", "randomized", "gram", "tsqr")]
WAYS += [{"whiten": True}, {"center": True}]


@pytest.fixture(scope="module")
def model():
    return PCA(0).fit(IRIS)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_it_is_scikit_learns(way):
    ours, theirs = PCA(0, **way).fit(IRIS), sklearn.decomposition.PCA(0, svd_solver="full").fit(IRIS)
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_")
    for name in (*names, "noise_variance_", "n_components_"):
        # solvers sum the squares of all values in other orders
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
    assert ours.transform(IRIS).shape == (150, 0)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-12)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-12)
    np.testing.assert_allclose(ours.score_samples(IRIS), theirs.score_samples(IRIS), rtol=1e-12)


def test_it_is_a_round_gaussian(model):
    law = multivariate_normal(IRIS.mean(axis=0), IRIS.var(axis=0, ddof=1).mean() * np.eye(4))
    np.testing.assert_allclose(model.score_samples(IRIS), law.logpdf(IRIS), rtol=1e-12)


@pytest.mark.parametrize("scale", [False, True])
def test_columns_may_be_scaled(scale):
    model = PCA(0, scale=scale).fit(IRIS)
    variances = IRIS.var(axis=0, ddof=1)
    expected = np.diag(variances) if scale else variances.mean() * np.eye(4)
    np.testing.assert_allclose(model.get_covariance(), expected, rtol=1e-12, atol=1e-12)


def test_the_best_number_of_components_may_be_none():
    noise = np.random.default_rng(0).normal(size=(100, 5))
    scores = [cross_val_score(PCA(k), noise).mean() for k in range(5)]
    assert int(np.argmax(scores)) == 0


def test_batches_have_none_either():
    model = PCA(0).partial_fit(IRIS[:60]).partial_fit(IRIS[60:])
    assert model.components_.shape == (0, 4)
    np.testing.assert_allclose(model.noise_variance_, PCA(0).fit(IRIS).noise_variance_, rtol=1e-12)
    assert IncrementalPCA(0).fit(IRIS).n_components_ == 0
    assert model.merge(model).n_components_ == 0


def test_a_file_gives_it_back(model, tmp_path):
    model.save(tmp_path / "none.lowdim")
    again = lowdim.load(tmp_path / "none.lowdim")
    assert again.n_components_ == 0
    assert again.score(IRIS) == model.score(IRIS)
    assert repr(again) == repr(model)


def test_looking_at_it_works_or_says_what_is_needed(model, tmp_path):
    assert "0 components that keep 0.0 %" in repr(model)
    assert "0 components" in model.explain()
    assert "0 components" in model._repr_html_()
    model.report(tmp_path / "with.html", IRIS)
    model.report(tmp_path / "without.html")
    for name in ("eigenvalues", "components", "loadings", "correlations", "column_cos2", "drivers", "compression"):
        model.table(name)
    for name in ("scores", "row_cos2", "outliers", "limits"):
        model.table(name, IRIS)
    assert PCA(0).set_output(transform="pandas").fit_transform(IRIS).shape == (150, 0)
    for name in model.plot.names():
        figure = getattr(model.plot, name)
        if name != "outliers":  # which needs none: how far rows are from the mean
            with pytest.raises(BadParameter, match=r"0 components|picture_shape"):
                figure(IRIS) if "X" in inspect.signature(figure).parameters else figure()
    for what in (lambda: model.uncertainty(IRIS), lambda: model.biplot(IRIS), lambda: model.low_rank(IRIS, 1)):
        with pytest.raises(BadParameter, match=r"no components|at least 1"):
            what()
    with pytest.raises(WrongShape, match="0 feature"):  # as scikit-learn
        model.inverse_transform(np.empty((3, 0)))


def test_holes_and_faces_need_some():
    holed = IRIS.copy()
    holed[0, 0] = np.nan
    with pytest.raises(BadParameter, match=r"PCA\(n_components=0\).*from 1.*values are missing"):
        PCA(0, missing="ppca").fit(holed)
    with pytest.raises(BadParameter, match=r"Recogniser\(n_components=0\)"):
        Recogniser(0).fit(IRIS, np.arange(150) % 3)


def test_attributes_may_be_emptied():
    model = PCA(2).fit(IRIS)
    model.components_ = model.components_[:0]
    assert model.transform(IRIS).shape == (150, 0)
    assert model.certificate_.word != "certified"
    assert "components_ was assigned" in model.explain()
    # a mean is rounded once or twice, about another shift
    np.testing.assert_allclose(PCA(-0).fit(IRIS).mean_, PCA(2).fit(IRIS).mean_, rtol=4 * np.finfo(float).eps)
    model = PCA(0).fit(IRIS)
    model.mean_[:] += 1
    assert model.certificate_.word != "certified"
