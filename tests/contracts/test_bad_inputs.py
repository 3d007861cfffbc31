"""Whatever is passed to a model is fitted, or refused by an error of lowdim's; and never changed.

Models and their parameters come from the registry, so that a new one is tried without a line here. A part of each
table is tried quickly, all of it under `slow`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from badinputs import DATA, MODELS, SETTINGS, TARGETS, VALUES, digest, model_of, rows, settings_of
from lowdim.errors import LowdimError

EVERY = 9
"""One case in so many is tried quickly."""


def outcome(work: Callable[[], Any], case: str, wrong: list[str]) -> Any:
    """What it gives; None where it is refused in words. What else is raised is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work()
        except LowdimError as error:
            if len(str(error)) < 30 or len(str(error)) > 3_000:
                wrong.append(f"{case}: says {str(error)[:100]!r}")
        except Exception as error:
            wrong.append(f"{case}: {type(error).__name__}: {str(error)[:150]}")
    return None


def fit(name: str, X: Any, **settings: Any) -> Any:
    model = model_of(name, **settings)
    if name not in TARGETS:
        return model.fit(X)
    shape = getattr(X, "shape", ())
    n = shape[0] if isinstance(shape, tuple) and shape else 30
    return model.fit(X, TARGETS[name](n))


def refuse_broken(model: Any, case: str, wrong: list[str]) -> None:
    """A fit is shown, and what it found are numbers."""
    repr(model)
    found = getattr(model, "components_", None)
    if found is not None and not np.isfinite(np.asarray(found)).all():
        wrong.append(f"{case}: fitted components that are not finite")


def try_data(name: str, called: str, wrong: list[str]) -> None:
    case = f"{name}, {called}"
    data = DATA[called]()
    before = digest(data)
    model = outcome(lambda: fit(name, data), case, wrong)
    if model is not None:
        outcome(lambda: refuse_broken(model, case, wrong), case, wrong)
    if digest(data) != before:
        wrong.append(f"{case}: changed what came")


def try_rows_of_fitted(model: Any, name: str, called: str, wrong: list[str]) -> None:
    """The same data given to a model that was fitted on others."""
    for ask in ("transform", "predict", "score", "score_samples"):
        if hasattr(model, ask):
            data = DATA[called]()
            before = digest(data)
            outcome(lambda ask=ask, data=data: getattr(model, ask)(data), f"{name}.{ask}, {called}", wrong)
            if digest(data) != before:
                wrong.append(f"{name}.{ask}, {called}: changed what came")
            return


def try_setting(name: str, parameter: str, called: str, wrong: list[str]) -> None:
    case = f"{name}({parameter}={called})"
    X = rows()
    before = digest(X)
    model = outcome(lambda: fit(name, X, **{parameter: VALUES[called]()}), case, wrong)
    if model is not None:
        outcome(lambda: refuse_broken(model, case, wrong), case, wrong)
    if digest(X) != before:
        wrong.append(f"{case}: changed what came")


def told(wrong: list[str]) -> None:
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong)


def part(cases: list[Any], name: str, every: int) -> list[Any]:
    """Some of the cases: others for each model, so that all are tried by some."""
    return cases[MODELS.index(name) % every :: every]


def try_all(name: str, every: int, tally: Any) -> None:
    wrong: list[str] = []
    names, settings = part(list(DATA), name, every), part(settings_of(name), name, every)
    for called in names:
        try_data(name, called, wrong)
    model = fit(name, rows())
    for called in names:
        try_rows_of_fitted(model, name, called, wrong)
    for parameter, called in settings:
        try_setting(name, parameter.name, called, wrong)
    tally(4, 2 * len(names), "data × estimators")
    tally(4, len(settings), "values × parameters")
    told(wrong)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_some_of_it_is_fitted_or_refused(name, tally, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try_all(name, EVERY, tally)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_all_of_it_is_fitted_or_refused(name, tally, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try_all(name, 1, tally)


def test_every_model_has_rows_and_a_target_here():
    assert set(SETTINGS) | set(TARGETS) <= set(MODELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in MODELS:
            fit(name, rows())
