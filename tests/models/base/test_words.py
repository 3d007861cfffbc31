"""Settings that are words: their types, their documentation and the check at run time know the same ones."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import sklearn

import lowdim
from lowdim.errors import BadParameter

MODELS = [getattr(lowdim, name) for name in lowdim.__all__ if hasattr(getattr(lowdim, name), "fit")]

NEEDED: dict[str, dict[str, Any]] = {"PPCAMixture": {"n_clusters": 2, "n_components": 1}}

ROWS = np.random.default_rng(0).integers(0, 3, size=(12, 4)).astype(float)


def words_of(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [word for word in get_args(annotation) if isinstance(word, str)]
    return [word for part in get_args(annotation) for word in words_of(part)]


def settings() -> list[tuple[Any, str, list[str]]]:
    found = []
    for model in MODELS:
        hints = get_type_hints(model.__init__)
        found += [(model, name, words_of(hint)) for name, hint in hints.items() if words_of(hint)]
    return found


SETTINGS = settings()


def named(given: Any) -> str:
    return given.__name__ if isinstance(given, type) else str(given) if isinstance(given, str) else "words"


def test_there_are_many():
    assert len(SETTINGS) > 35
    assert len({model for model, _, _ in SETTINGS}) >= 10


@pytest.mark.parametrize(("model", "name", "words"), SETTINGS, ids=named)
def test_the_documentation_has_the_same_words(model, name, words):
    described = re.search(rf"^    (?:\w+, )*{name}(?:, \w+)*( : .*)?$((?:\n        .*)*)", model.__doc__, re.MULTILINE)
    assert described
    listed = set(re.findall(r'"([^"]+)"', described[1] or ""))
    # settings that are there for scikit-learn's sake alone are described together, without their words
    assert listed == set(words) or (described[1] is None and "as in scikit-learn" in described[2])


@pytest.mark.parametrize(("model", "name", "words"), SETTINGS, ids=named)
def test_the_fit_refuses_other_words_and_names_these(model, name, words):
    estimator = model(**NEEDED.get(model.__name__, {})).set_params(**{name: "no such word"})
    target = np.arange(12.0) if model is lowdim.PCRegression else np.arange(12) % 2
    with pytest.raises(BadParameter) as refusal:
        sklearn.clone(estimator).fit(ROWS, target)
    missing = [word for word in words if f"'{word}'" not in str(refusal.value)]
    assert not missing, str(refusal.value)
