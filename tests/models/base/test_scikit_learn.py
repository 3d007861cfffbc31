"""Models are scikit-learn's estimators, and the same ones whether it was loaded before them, after them, or by them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lowdim.models.base.scikit_learn import Theirs, Transformer, Waiting

WITHOUT_IT = (
    "PCA",
    "IncrementalPCA",
    "TruncatedSVD",
    "ProbabilisticPCA",
    "KernelPCA",
    "NMF",
    "LogisticPCA",
    "GenotypePCA",
)
"""Models whose files do not load scikit-learn."""

SEEN = """
import json, inspect, sys
def described(kind):
    own = {}
    for one in kind.__mro__[:-1]:
        for name, member in vars(one).items():
            depth, inner = 0, member
            while hasattr(inner, "__wrapped__"):
                depth, inner = depth + 1, inner.__wrapped__
            own.setdefault(name, [one.__qualname__, type(member).__name__, depth])
    own = {name: told for name, told in own.items() if name not in ("__annotations__", "__slotnames__")}
    return [[one.__qualname__ for one in kind.__mro__], own, sorted(map(str, kind._sklearn_auto_wrap_output_keys))]
"""

BEGIN = "import numpy as np, sys, lowdim; X = np.arange(40.).reshape(10, 4) ** 1.5 % 7; model = lowdim.PCA(2).fit(X)\n"
LATE = BEGIN + "assert 'sklearn' not in sys.modules\n"
"""A program that fits before scikit-learn is loaded."""


def run(program: str) -> Any:
    """What a program prints at the end, as JSON, in a process of its own."""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


def test_classes_are_the_same_whichever_is_loaded_first():
    all_of_them = f"from lowdim import {', '.join(WITHOUT_IT)}\n"
    tell = f"print(json.dumps({{name: described(kind) for name, kind in globals().items() if name in {WITHOUT_IT}}}))"
    before = run(f"{SEEN}import sklearn.base\n{all_of_them}{tell}")
    after = run(f"{SEEN}{all_of_them}assert 'sklearn' not in sys.modules\nimport sklearn.base\n{tell}")
    amid = run(f"{SEEN}from lowdim import PCA, NMF\nimport sklearn.base\n{all_of_them}{tell}")
    assert before.keys() == set(WITHOUT_IT)
    assert before == after == amid


def test_what_scikit_learn_defines_waits_for_it_by_name():
    theirs = {
        name
        for one in (ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator)
        for kind in one.__mro__[:-1]
        for name in vars(kind)
        if not name.startswith("_") or name.startswith(("__sklearn", "_repr"))
    } - {"_repr_html_inner"}
    waiting = {name for name, member in vars(Waiting).items() if isinstance(member, Theirs)}
    assert waiting == {*theirs, "__repr__", "__dir__"}
    assert Waiting not in Transformer.__mro__


@pytest.mark.parametrize(
    "asked",
    [
        "model.set_params(n_components=1).get_params()['n_components'] == 1",
        "type(model.set_output(transform='pandas').transform(X)).__name__ == 'DataFrame'",
        "repr(lowdim.PCA(3, scale=True)) == 'PCA(n_components=3, scale=True)'",
        "callable(lowdim.PCA.get_params) and callable(lowdim.NMF.set_output)",
        "'<' in model._repr_html_() and 'text/plain' in model._repr_mimebundle_()",
        "lowdim.TruncatedSVD(2).__sklearn_clone__().n_components == 2",
    ],
)
def test_a_model_has_them_before_anybody_loaded_it(asked):
    assert run(f"{LATE}import json; found = {asked}; print(json.dumps([bool(found), 'sklearn' in sys.modules]))") == [
        True,
        True,
    ]


def test_a_program_that_loads_it_later_meets_estimators():
    program = f"""{LATE}
class Mine(lowdim.PCA):
    def transform(self, X):
        return np.asarray(super().transform(X)) * 2
mine = Mine(2).fit(X)
import pickle
kept = pickle.dumps(model)
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import json
finders = [type(one).__name__ for one in sys.meta_path]
loader = type(sys.modules["sklearn.base"].__spec__.loader).__name__
checks = [
    isinstance(model, BaseEstimator) and isinstance(model, TransformerMixin),
    issubclass(Mine, BaseEstimator) and isinstance(mine, TransformerMixin),
    type(clone(mine)) is Mine and clone(mine).n_components == 2,
    mine.set_output(transform="pandas").transform(X).columns.tolist() == ["mine0", "mine1"],
    make_pipeline(StandardScaler(), clone(model)).fit_transform(X).shape == (10, 2),
    "PCA(n_components=2)" in repr(make_pipeline(model)),
    (pickle.loads(kept).components_ == model.components_).all(),
    "Notice" not in finders and loader == "SourceFileLoader",
]
print(json.dumps([bool(one) for one in checks]))"""
    assert run(program) == [True] * 8


def test_errors_are_scikit_learns_though_it_was_not_loaded():
    program = f"""{LATE}
import json
told = []
for ask in (lambda: lowdim.PCA(2).transform(X), lambda: model.transform(X[:, :2])):
    try:
        ask()
    except Exception as error:
        told.append([type(error).__name__, str(error)])
print(json.dumps(told))"""
    (unfitted, why), (narrow, what) = run(program)
    assert unfitted == "NotFittedError"
    assert "PCA instance is not fitted yet" in why
    assert narrow == "WrongColumns"  # a ValueError, in scikit-learn's words and with advice
    assert what.startswith("X has 2 features, but PCA is expecting 4 features as input: ")


def test_an_import_that_fails_can_be_made_again():
    program = f"""{LATE}
import builtins, json
whole, told = builtins.__import__, []
def broken(name, *rest, **more):
    if name == "joblib":
        raise ImportError("no joblib today")
    return whole(name, *rest, **more)
builtins.__import__ = broken
try:
    import sklearn.base
except ImportError as error:
    told.append(str(error))
builtins.__import__ = whole
for name in [name for name in sys.modules if name.startswith("sklearn")]:
    del sys.modules[name]
from sklearn.base import BaseEstimator
print(json.dumps([told, isinstance(model, BaseEstimator)]))"""
    assert run(program) == [["no joblib today"], True]
