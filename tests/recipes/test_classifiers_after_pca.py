"""Classifiers after PCA are scikit-learn's pipelines with ours inside: searches, folds, frames, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import decomposition
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim import PCA, ProbabilisticPCA

DIGITS = lowdim.datasets.digits()
X, Y = DIGITS.values[:600], DIGITS.labels[:600]

CLASSIFIERS = {
    "Gaussian naive Bayes": GaussianNB(),
    "k-NN": KNeighborsClassifier(3),
    "logistic": LogisticRegression(max_iter=300),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_it_scores_as_scikit_learns_pca_does(name: str) -> None:
    """The same axes up to sign, which none of the three sees."""
    ours = cross_val_score(make_pipeline(PCA(15), StandardScaler(), CLASSIFIERS[name]), X, Y, cv=3)
    peer = make_pipeline(decomposition.PCA(15, svd_solver="full"), StandardScaler(), CLASSIFIERS[name])
    np.testing.assert_allclose(ours, cross_val_score(peer, X, Y, cv=3), atol=1 / 200)  # one row of a fold of 200


def test_a_search_chooses_components_inside_the_folds() -> None:
    pipe = Pipeline([("pca", PCA()), ("bayes", GaussianNB())])
    search = GridSearchCV(pipe, {"pca__n_components": [2, 10, 0.9], "pca__whiten": [False, True]}, cv=3).fit(X, Y)
    assert search.best_params_["pca__n_components"] != 2
    assert search.best_estimator_["pca"].n_samples_ == len(X)
    assert clone(search.best_estimator_).get_params()["pca__n_components"] == search.best_params_["pca__n_components"]


def test_rows_with_holes_are_classified_through_probabilistic_pca() -> None:
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    pipe = make_pipeline(ProbabilisticPCA(10, max_iter=20), GaussianNB())
    assert cross_val_score(pipe, holes, Y, cv=3).mean() > 0.75  # without holes .87; chance is .1


def test_frames_go_through_with_names() -> None:
    wine = lowdim.datasets.wine()
    frame = wine.to_pandas()
    pipe = make_pipeline(PCA(3, scale=True), GaussianNB()).set_output(transform="pandas")
    pipe.fit(frame, wine.labels)
    between = pipe[:-1].transform(frame)
    assert isinstance(between, pd.DataFrame)
    assert list(between) == list(pipe[:-1].get_feature_names_out())
    assert pipe.score(frame, wine.labels) > 0.9


def test_weights_are_routed_to_pca() -> None:
    """Rows of weight 0 leave no trace: the axes are those of the other rows."""
    weight = np.where(np.arange(len(X)) < 300, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pca = PCA(5).set_fit_request(sample_weight=True)
        bayes = GaussianNB().set_fit_request(sample_weight=True)
        pipe: Any = make_pipeline(pca, bayes).fit(X, Y, sample_weight=weight)
    alone = PCA(5).fit(X[:300])
    # the same sums in another order
    np.testing.assert_allclose(pipe["pca"].components_, alone.components_, atol=1e-8)
