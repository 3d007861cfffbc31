"""Forged model files: golden ones, changed, with right sums. What opens is used, and must answer in numbers."""

from __future__ import annotations

import copy
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from answers import METHODS

from lowdim.errors import LowdimError
from lowdim.models.base.output import overview_of
from lowdim.results.container import Document
from lowdim.types import Array
from lowdim.views.text.facts import fit_facts

Change = Callable[[Array, np.random.Generator], Array]


def _set_one(value: float) -> Change:
    def change(array: Array, rng: np.random.Generator) -> Array:
        changed = array.copy()
        if array.size:
            changed.flat[rng.integers(array.size)] = value
        return changed

    return _on_floats(change)


def _on_floats(change: Change) -> Change:
    """Of whole numbers and bytes another number."""

    def either(array: Array, rng: np.random.Generator) -> Array:
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                return np.asarray(change(array, rng), dtype=array.dtype)
        changed = array.copy()
        if array.size:
            changed.flat[rng.integers(array.size)] = rng.integers(0, 256 if array.dtype == np.uint8 else 2**62)
        return changed

    return either


def _permuted(array: Array, rng: np.random.Generator) -> Array:
    return rng.permutation(array.copy(), axis=int(rng.integers(array.ndim))) if array.ndim else array


CHANGES: dict[str, Change] = {
    "twice as large": _on_floats(lambda array, rng: array * 2),
    "a hair larger": _on_floats(lambda array, rng: array * (1 + 1e-7)),
    "all zero": lambda array, rng: np.zeros_like(array),
    "one zero": _set_one(0.0),
    "negated": _on_floats(lambda array, rng: -array),
    "one negated": _on_floats(
        lambda array, rng: np.where(rng.random(array.shape) < 1 / max(array.size, 1), -array, array)
    ),
    "NaN": _set_one(math.nan),
    "infinite": _set_one(math.inf),
    "one tiny": _set_one(5e-324),
    "all tiny": _on_floats(lambda array, rng: np.full_like(array, 5e-324)),
    "one huge": _set_one(1e300),
    "all huge": _on_floats(lambda array, rng: np.full_like(array, 1e300)),
    "times 1e-160": _on_floats(lambda array, rng: array * 1e-160),
    "times 1e160": _on_floats(lambda array, rng: array * 1e160),
    "permuted": _permuted,
    "cut": lambda array, rng: array[:-1],
    "emptied": lambda array, rng: array[:0],
    "longer": lambda array, rng: np.concatenate([array, array[-1:]]) if array.ndim else array,
    "all alike": lambda array, rng: np.broadcast_to(array[:1], array.shape).copy() if array.ndim else array,
    "turned": lambda array, rng: array.T.copy(),
    "flat": lambda array, rng: array.ravel(),
    "a number": lambda array, rng: array.ravel()[:1].reshape(()) if array.size else array,
    "column": lambda array, rng: array.reshape(-1, 1),
    "float32": lambda array, rng: array.astype(np.float32),
    "float64": lambda array, rng: array.astype(np.float64),
    "int64": lambda array, rng: np.nan_to_num(array).astype(np.int64),
    "uint8": lambda array, rng: array.view(np.uint8) if array.ndim == 1 else np.zeros(array.shape, np.uint8),
}
"""What is done to an array."""

STRANGE: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 10**6, 2**62, 2**63, -1.5, 0.5, 1.5, 1e-320, 1e-160, 1e160, 1e300, 1e307),
    *("", "auto", "array", "x" * 10_000, "\x1b]0;x\x07\x00", {}, {"a": 1}),
    *([], [0], [0, 0], [99], [[]], [[0, 1]], [[0], [0]], [[1, 0]], [None, 1]),
]
"""What stands in place of a fact."""


def paths_of(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all leaves and branches of facts."""
    for key in facts if isinstance(facts, dict) else range(len(facts)) if isinstance(facts, list) else ():
        yield (*path, key)
        yield from paths_of(facts[key], (*path, key))


def with_fact(facts: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The same with something else at that place; `...`: with nothing there."""
    changed = copy.deepcopy(facts)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def at(facts: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        facts = facts[key]
    return facts


def values_for(value: Any) -> list[Any]:
    """What a fact is replaced by."""
    near: list[Any] = []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        near = [value + 1, value - 1, value * 2, -value, value * (1 + 1e-7)]
    if isinstance(value, list):
        near = [value[:-1], value + value[-1:], value[::-1], [*value, 0]]
    return [..., *near, *STRANGE]


@dataclass(frozen=True)
class Forgery:
    """A document that says what nobody wrote."""

    words: str
    make: Callable[[], Document]


def forgeries(document: Document, seed: int = 0) -> Iterator[Forgery]:
    """Every change of every array, and every replacement of every fact."""

    def with_array(name: str, change: Change | None, number: int) -> Document:
        arrays = {other: array for other, array in document.arrays.items() if other != name}
        if change is not None:
            arrays[name] = change(np.asarray(document.arrays[name]), np.random.default_rng([seed, number]))
        return replace(document, arrays=arrays)

    def with_value(path: tuple[Any, ...], value: Any) -> Document:
        return replace(document, facts=with_fact(document.facts, path, value))

    for number, name in enumerate(sorted(document.arrays)):
        for word, change in CHANGES.items():
            yield Forgery(f"{name} {word}", partial(with_array, name, change, number))
        yield Forgery(f"{name} left out", partial(with_array, name, None, number))
    for path in paths_of(document.facts):
        for value in values_for(at(document.facts, path)):
            words = f"{'.'.join(map(str, path))} = {value!r:.60}"
            yield Forgery(words, partial(with_value, path, value))


# What a model that opened is asked.

ASKED = (*METHODS, "score")


def ask(model: Any, rows: Any) -> dict[str, Any]:
    """What the model answers, or the exception that it raises."""
    asked: dict[str, Callable[[], Any]] = {
        "repr": lambda: repr(model),
        "card": lambda: model._as_html(),
        "explain": lambda: model.explain(),
        "overview": lambda: fit_facts(overview_of(model.fit_)),
    }
    asked |= {name: lambda name=name: getattr(model, name)(rows) for name in ASKED if hasattr(model, name)}
    if hasattr(model, "inverse_transform"):
        asked["inverse_transform"] = lambda: model.inverse_transform(model.transform(rows))
    known = [name for name in dir(type(model)) if name.endswith("_") and not name.startswith("_")]
    asked |= {name: lambda name=name: getattr(model, name) for name in known}
    for name in tables_of(model):
        asked[f"table {name}"] = lambda name=name: model.table(name)
        asked[f"table {name} of rows"] = lambda name=name: model.table(name, rows)
    if hasattr(model, "partial_fit"):
        asked["partial_fit"] = lambda: copy.deepcopy(model).partial_fit(rows).transform(rows)
    found = {}
    for name, one in asked.items():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found[name] = one()
            except Exception as error:
                found[name] = error
    return found


def tables_of(model: Any) -> list[str]:
    """Names of its tables, as the error says them that asks for another."""
    try:
        model.table("?")
    except LowdimError as error:
        return re.findall(r"'(\w+)'", str(error).partition(":")[2] or str(error))
    except AttributeError:
        pass
    return []


NO_NUMBER = {"NMF": ("sparseness_", "overview", "explain", "table parts", "table parts of rows")}
"""Answers that say NaN where a part is all zero, which has no sparseness."""


def _has_empty_part(model: Any) -> bool:
    return hasattr(model, "components_") and bool((np.asarray(model.components_) == 0).all(axis=1).any())


def wrong(model: Any, answers: Mapping[str, Any], honest: Mapping[str, Any]) -> list[str]:
    """Which answers are no answers: foreign errors, and numbers that are none where the honest file's are.

    Densities, distances and tables may be infinite: a row that is far enough away has no density.
    """
    found = []
    empty = NO_NUMBER.get(type(model).__name__, ()) if _has_empty_part(model) else ()
    for name, answer in answers.items():
        usual = honest.get(name)
        if isinstance(answer, Exception):
            unknown = isinstance(answer, AttributeError) and name.endswith("_")  # as `hasattr` asks
            if not isinstance(answer, LowdimError) and not unknown and type(answer) is not type(usual):
                found.append(f"{name}: {type(answer).__name__}: {answer}")
        elif name in empty:
            continue
        elif isinstance(answer, str):
            if re.search(r"\b(nan|inf)\b", answer) and not re.search(r"\b(nan|inf)\b", str(usual)):
                found.append(f"{name}: says nan or inf")
        elif not numbers(answer, name) and (usual is None or isinstance(usual, Exception) or numbers(usual, name)):
            found.append(f"{name}: no numbers")
    return found


MAY_BE_INFINITE = ("table", "score", "distances", "intervals", "deviances", "novelty", "decision_function")


def numbers(answer: Any, name: str) -> bool:
    """Whether all numbers of an answer are numbers, and finite unless the answer may be infinite."""
    if isinstance(answer, Mapping):
        return all(numbers(answer[key], name) for key in answer)
    if isinstance(answer, (list, tuple)):
        return all(numbers(one, name) for one in answer)
    if hasattr(answer, "columns") and hasattr(answer, "to_numpy"):
        return all(numbers(np.asarray(answer[key]), name) for key in answer.columns)
    if isinstance(answer, (float, np.ndarray, np.floating)) and np.asarray(answer).dtype.kind == "f":
        return not np.isnan(answer).any() and (name.startswith(MAY_BE_INFINITE) or bool(np.isfinite(answer).all()))
    return True
