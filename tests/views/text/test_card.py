"""Cards: the record's numbers, words that are text whatever they hold, and scikit-learn's own look before a fit."""

from __future__ import annotations

import io
import sys
import warnings
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim.errors import LowdimWarning
from lowdim.models.base.output import overview_of
from lowdim.views.overview import Glance
from lowdim.views.text.card import card_text, sparkline
from lowdim.views.text.facts import fit_facts
from lowdim.views.text.lines import percent

X = lowdim.datasets.wine().values
Y = np.repeat([0, 1, 2], 60)[:178]
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
CALLS = np.random.default_rng(1).integers(0, 3, (40, 60)).astype(float)

FITS: dict[str, Any] = {
    "PCA": lambda: lowdim.PCA(3, scale=True).fit(X),
    "PCA, all": lambda: lowdim.PCA(svd_solver="full").fit(X),
    "PCA, holes": lambda: lowdim.PCA(2, scale=True, missing="ppca").fit(HOLES),
    "ProbabilisticPCA": lambda: lowdim.ProbabilisticPCA(2, scale=True).fit(HOLES),
    "ProbabilisticPCA, closed": lambda: lowdim.ProbabilisticPCA(2, scale=True).fit(X),
    "PPCAMixture": lambda: lowdim.PPCAMixture(2, 2, scale=True).fit(X),
    "KernelPCA": lambda: lowdim.KernelPCA(3, kernel="rbf", scale=True).fit(X),
    "NMF": lambda: lowdim.NMF(3).fit(X),
    "LogisticPCA": lambda: lowdim.LogisticPCA(2).fit(X.mean(axis=0) < X),
    "Autoencoder": lambda: lowdim.Autoencoder(2, hidden=(4,), max_iter=5).fit(X),
    "Autoencoder, linear": lambda: lowdim.Autoencoder(2, hidden=(), loss="mse").fit(X),
    "VectorQuantizer": lambda: lowdim.VectorQuantizer(4).fit(X),
    "PCRegression": lambda: lowdim.PCRegression(2, cv=3, repeats=1).fit(X[:, 1:], X[:, 0]),
    "PCRegression, holes": lambda: lowdim.PCRegression(2, missing="ppca", cv=None).fit(HOLES[:, 1:], X[:, 0]),
    "GenotypePCA": lambda: lowdim.GenotypePCA(2).fit(CALLS),
    "Recogniser": lambda: lowdim.Recogniser(4, scale=True).fit(X, Y),
}
"""Every model, fitted; what it warns of is no matter here."""

HOSTILE = '<script>alert("1")</script>&amp;'


@cache
def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        return FITS[name]()


class Balanced(HTMLParser):
    """Tags that are open, and all that were met; closing another than the last is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.met.add(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.met.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(html: str) -> Balanced:
    reader = Balanced()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def kept_of(fit: Any) -> str:
    """What a fit keeps, as a person says it, found without the card."""
    for name in ("explained", "kept"):
        if isinstance(getattr(fit, name, None), float):
            return percent(getattr(fit, name))
    fit = getattr(fit, "space", fit)
    if hasattr(fit, "axes") and hasattr(fit, "picked"):
        return percent(float(fit.axes.shares[fit.picked].sum()))
    if hasattr(fit, "loadings"):
        return f"{fit.bic:.6g}"
    return percent(float(fit.shares.sum())) if hasattr(fit, "shares") else f"{fit.k} codes"


@pytest.mark.parametrize("name", FITS)
def test_a_card_says_what_the_record_holds(name):
    model = fitted(name)
    fit, seen = model.fit_, overview_of(model.fit_)
    holes = int(getattr(fit, "missing", 0))
    said = [repr(model), model._repr_html_()]
    for text in said:
        assert f"{fit.n_rows} rows × {fit.n_columns} columns" in text
        assert kept_of(fit) in text
        assert seen.trust.word in text
        assert (f"columns, {holes} values missing" in text) == (holes > 0)
    assert seen.missing == holes
    assert seen.trust.reached == fit.reached
    assert (seen.trust.word == "untrusted") == (not seen.trust.reached)
    assert fit_facts(seen)["certificate"]["word"] == seen.trust.word
    shown = clone(model)
    assert repr(model).startswith(repr(shown) + "\n")
    assert "\n" not in repr(model).split("→")[0].removeprefix(repr(shown)).strip()
    assert max(map(len, repr(model).splitlines())) <= 88


@pytest.mark.parametrize("name", FITS)
def test_a_card_is_small_and_calls_nobody(name):
    html = fitted(name)._repr_html_()
    assert len(html.encode()) <= 6000
    met = read(html).met
    assert not met & {"script", "link", "img", "iframe", "object", "base"}
    for word in ("http", "url(", "@import", "javascript", "onload", "onclick"):
        assert word not in html.lower()
    bundle = fitted(name)._repr_mimebundle_()
    assert bundle == {"text/plain": repr(fitted(name)), "text/html": html}


def test_an_em_that_was_stopped_is_not_trusted():
    with pytest.warns(lowdim.errors.NotConverged):
        model = lowdim.ProbabilisticPCA(2, scale=True, max_iter=2).fit(HOLES)
    assert "accuracy  untrusted: EM was stopped" in repr(model)
    assert "2, NOT converged" in repr(model)
    assert '<b class="bad"' in model._repr_html_()


def test_pca_of_rows_with_holes_says_how_em_ended():
    assert "accuracy  reached: EM stood still" in repr(fitted("PCA, holes"))
    assert fitted("PCA, holes").certificate_.word == "reached"


def test_labels_from_data_stay_text():
    frame = pd.DataFrame(X[:, -3:] * [1, 1, 1e6], columns=["a", "b", HOSTILE])
    swamped = lowdim.PCA(1).fit(frame)
    assert HOSTILE in repr(swamped)  # as the column that holds all of the variance
    response = lowdim.PCRegression(1, cv=None).fit(X[:, 1:], pd.Series(X[:, 0], name=HOSTILE))
    someone = lowdim.Recogniser(2, max_distance=0.5, unknown=HOSTILE).fit(X, Y.astype(str))
    for model in (swamped, response, someone):
        html = model._repr_html_()
        assert "<script" not in html
        assert "script" not in read(html).met
        assert "alert(" in "".join(read(html).text)


@pytest.mark.parametrize(
    "model",
    [
        lowdim.PCA(),
        lowdim.PCA(
            3, scale=True, whiten=True, svd_solver="covariance_eigh", tol=1e-7, random_state=12345, memory="1GB"
        ),
        lowdim.NMF(2, beta_loss="kullback-leibler"),
        lowdim.PPCAMixture(2, 3),
        lowdim.PCRegression(scale=np.arange(1.0, 61.0)),
    ],
)
def test_before_a_fit_a_model_looks_as_scikit_learn_shows_it(model):
    plain = type(type(model).__name__, (type(model),), {"__repr__": BaseEstimator.__repr__})(**model.get_params())
    assert repr(model) == repr(plain)  # also where lines are broken
    assert "sk-top-container" in model._repr_html_()
    assert "lowdim-card" not in model._repr_html_()
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_inside_others_a_fitted_model_is_one_line():
    model = make_pipeline(StandardScaler(), lowdim.PCA(2))
    before = repr(model)
    assert repr(model.fit(X)) == before
    search = GridSearchCV(
        make_pipeline(lowdim.PCRegression(cv=3, repeats=1)), {"pcregression__n_components": [1, 2]}, cv=2
    )
    before = repr(search)
    assert repr(search.fit(X[:, 1:], X[:, 0])) == before
    assert "rows ×" not in repr(search.best_estimator_)
    assert "PCA" in model._repr_html_()


def test_scikit_learns_setting_for_plain_text_is_kept():
    model = fitted("PCA")
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}


def test_showing_a_model_computes_nothing():
    model = lowdim.PCA(2).partial_fit(X)
    assert repr(model) == repr(clone(model))
    assert model._record is None
    assert model.fit_.k == 2
    assert "2 components" in repr(model)


def test_blocks_are_as_high_as_their_numbers():
    heights = np.array([1.0, 0.9, 0.8, 0.7, 0.55, 0.45, 0.3, 0.2, 0.0])
    assert sparkline(Glance(heights, 9, "")) == "██▇▆▅▄▃▂▁"
    assert sparkline(Glance(heights, 2, "")) == "██│▇▆▅▄▃▂▁"
    assert len(sparkline(Glance(np.ones(500), 500, ""))) == 25  # and a sign that there are more
    assert len(sparkline(Glance(np.ones(500), 3, "", falls=True))) == 24


def test_lines_are_no_wider_than_asked():
    for width in (60, 88):
        text = card_text("PCA()", overview_of(fitted("Recogniser").fit_), width)
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_print_of_a_model_never_fails_for_its_letters(monkeypatch, encoding):
    model = lowdim.PCA(2).fit(lowdim.datasets.wine().values)
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    print(model)
    out.flush()
    said = out.buffer.getvalue().decode("ascii")
    assert "178 rows x 13 columns -> 2 components" in said
    assert "?" not in said


def test_the_noise_of_a_mixture_is_a_range():
    model = lowdim.PPCAMixture(2, 1, random_state=0).fit(lowdim.datasets.wine().values[:, :4])
    low, high = sorted(np.sqrt(model.fit_.noise))
    assert f"standard deviation {low:.4g} to {high:.4g} in every column" in repr(model)
