"""Every setting of every model that is a flag or a word is checked, whatever else the fit would have done."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lowdim
from laws import for_each
from lowdim.errors import BadInput, BadParameter

MODELS = [found for name in lowdim.__all__ if isinstance(found := getattr(lowdim, name), type)]

X = np.random.default_rng(0).integers(0, 2, (30, 6)).astype(float)
"""Rows that every model takes: flags are counts, calls, and not negative."""

FLAGS = [
    (kind, name)
    for kind in MODELS
    for name, parameter in inspect.signature(kind).parameters.items()
    if isinstance(parameter.default, bool)
]

WORDS = [
    (kind, name)
    for kind in MODELS
    for name, parameter in inspect.signature(kind).parameters.items()
    if isinstance(parameter.default, str)
]


def test_the_lists_hold_what_they_should():
    assert all(issubclass(kind, BaseEstimator) for kind in MODELS)
    assert (lowdim.PCA, "center") in FLAGS
    assert (lowdim.PCA, "missing") in WORDS
    assert (lowdim.KernelPCA, "scale") in PLANNED


@pytest.mark.parametrize("given", ["no", "yes", "zca", "", 1, None, [True]], ids=repr)
@for_each("kind, name", FLAGS)
def test_a_flag_is_true_or_false(kind, name, given):
    with pytest.raises(BadParameter, match=rf"{kind.__name__}\({name}=.*must be .*"):
        kind(**{name: given}).fit(X, X[:, 0])


PLANNED = [
    (kind, name)
    for kind, name in FLAGS
    if inspect.signature(kind).parameters[name].annotation == "bool"
    and "X" in inspect.signature(kind.explain).parameters
    and kind is not lowdim.PCRegression  # which tells no plan
]


@for_each("kind, name", PLANNED)
def test_a_flag_is_checked_before_a_plan_is_told(kind, name):
    with pytest.raises(BadParameter, match=rf"{kind.__name__}\({name}='no'\): {name} must be True or False"):
        kind(**{name: "no"}).explain(X)


@pytest.mark.parametrize("given", [np.True_, np.False_], ids=repr)
def test_flags_of_numpy_are_flags(given):
    lowdim.PCA(whiten=given, center=given, copy=given).fit(X)


@pytest.mark.parametrize("given", ["nonsense", "", "Auto "], ids=repr)
@for_each("kind, name", WORDS)
def test_a_word_is_one_of_those_known(kind, name, given):
    with pytest.raises(BadParameter, match=rf"{kind.__name__}\({name}=.*must be .*"):
        kind(**{name: given}).fit(X, X[:, 0])


EVERY = [(kind, name) for kind in MODELS for name in inspect.signature(kind).parameters]

FREE = {(lowdim.Recogniser, "unknown"), (lowdim.Autoencoder, "checkpoint"), (lowdim.ProbabilisticPCA, "checkpoint")}
"""Settings that may be any text: what nobody is called, and the name of a file."""


NONSENSE = [
    (kind, name, given)
    for kind, name in EVERY
    for given in ("nonsense", object(), ({},))
    if (kind, name) not in FREE or (name == "checkpoint" and not isinstance(given, str))
]


@for_each("kind, name, given", NONSENSE)
def test_nothing_takes_nonsense(kind, name, given):
    with pytest.raises(BadParameter, match=name):
        kind(**{name: given}).fit(X, X[:, 0])


def test_settings_are_checked_again_when_rows_are_added_or_transformed():
    model = lowdim.PCA(2).partial_fit(X)
    with pytest.raises(BadParameter, match=r"PCA\(whiten='yes'\): whiten must be True or False"):
        model.set_params(whiten="yes").transform(X)
    with pytest.raises(BadParameter, match=r"PCA\(whiten='yes'\): whiten must be True or False"):
        model.partial_fit(X)


def test_a_wrong_word_is_found_where_it_would_not_have_mattered():
    with pytest.raises(BadParameter, match=r"PCA\(missing='pcca'\): missing must be 'error' or 'ppca'"):
        lowdim.PCA(missing="pcca").fit(X)  # no value is missing
    with pytest.raises(BadParameter, match=r"PCA\(missing='pcca'\)"):
        lowdim.PCA(missing="pcca").partial_fit(X)


def test_an_empty_path_is_no_folder():
    with pytest.raises(BadInput, match="An empty text was given as a path"):
        lowdim.PCA().fit("")
