"""Fitted attributes that somebody assigned: read-outs that can be set, and records made of what was given.

Code that was written for scikit-learn restores a model from arrays, drops components or turns their signs by assigning
attributes one after the other, in any order. So each is kept as it was given, and a record is made of all of them when
one is needed; attributes that were not assigned stay what the fit made them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from lowdim import __version__
from lowdim.errors import WrongShape
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.results.certificate import uncertified
from lowdim.results.record import LinearFit, Provenance, said_of
from lowdim.types import Floats

Value = TypeVar("Value")

MADE_BY = "assigned"
"""In place of a solver, where nothing was fitted."""


class Assignable(Generic[Value]):
    """A read-out of a fit that can be assigned, as scikit-learn's fitted attributes can; used as a decorator."""

    def __init__(self, read: Callable[[Any], Value]):
        self._read = read
        self.__doc__ = read.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, model: None, owner: type) -> Self: ...

    @overload
    def __get__(self, model: object, owner: type) -> Value: ...

    def __get__(self, model: object | None, owner: type) -> Self | Value:
        if model is None:
            return self
        given: dict[str, Any] = getattr(model, "_assigned", {})
        found: Value = given[self._name] if self._name in given else self._read(model)
        return found

    def __set__(self, model: Any, value: Any) -> None:
        model._assign(self._name, value)


def as_given(name: str, value: Any) -> Any:
    """An assigned value as it is kept: arrays of float64 as they are, so that they can still be changed in place."""
    if value is None or name in ("n_components_", "n_samples_", "n_samples_seen_"):
        return value
    numbers = np.asarray(value, dtype=np.float64)
    return numbers if numbers.ndim else float(numbers)


def linear_record(record: LinearFit | None, given: Mapping[str, Any], owner: str) -> LinearFit:
    """The record of a fit, or of none, with the attributes that were assigned in its place."""
    components = _known(record, given, "components_", owner)
    if np.ndim(components) != 2:
        raise WrongShape(f"{owner}.components_ has shape {np.shape(components)}, but must have one row a component.")
    p = components.shape[1]
    vectors = {name: _vector(record, given, name, owner, p) for name in ("mean_", "scale_")}
    variances = _along(record, given, "explained_variance_", components)
    singular = _along(record, given, "singular_values_", components)
    n = _rows(record, given, variances, singular)
    if np.isnan(singular).any() and not np.isnan(variances).any() and n > 0:
        singular = np.sqrt(np.maximum(variances, 0.0) * max(1, n - 1))
    total = _total(record, given, variances, p)
    note = said_of(tuple(sorted(given)), "assigned")
    made = Provenance("unknown data", MADE_BY, "attributes were assigned", 0, 0, "unknown", (("lowdim", __version__),))
    known: dict[str, Any] = {
        "mean": vectors["mean_"],
        "scale": vectors["scale_"],
        "components": components,
        "variances": variances,
        "singular_values": singular,
        "total_variance": total,
        "n_rows": n,
        "spectrum": None,
        "certificate": uncertified(components, variances, total, MADE_BY, note),
    }
    if record is None:
        return LinearFit(**known, column_weight=None, weight=float(n), ddof=1, provenance=made)
    if isinstance(record, LatentFit):
        noise = float(given.get("noise_variance_", record.noise))
        known |= {"noise": noise, "spread": None, "ascent": None}
    if isinstance(record, GenotypeFit):
        known["shrinkage"] = _matched(record, record.shrinkage, components)
        if len(components) != record.k:  # tests are of the axes of the fit, one after the other
            known |= dict.fromkeys(("statistics", "p_values", "effective_snps"), np.zeros(0))
    return replace(record, **known)


def _known(record: LinearFit | None, given: Mapping[str, Any], name: str, owner: str) -> Any:
    """What was assigned, or what the fit made."""
    if name in given:
        return given[name]
    if record is None:
        raise AttributeError(
            f"{owner}.{name} is not known: {' and '.join(sorted(given))} {'was' if len(given) == 1 else 'were'} "
            f"assigned to a model that is not fitted, so assign {name} too, or call fit."
        )
    return getattr(record, name.removesuffix("_"))


def _vector(record: LinearFit | None, given: Mapping[str, Any], name: str, owner: str, p: int) -> Floats:
    """(p,) the mean or the scale; numbers stand for all columns, and no mean for zeros."""
    if name == "scale_" and record is None and name not in given:
        return np.ones(p)
    values = _known(record, given, name, owner)
    if values is None or np.ndim(values) == 0:
        return np.full(p, float(name == "scale_") if values is None else float(values))
    if np.shape(values) != (p,):
        raise WrongShape(
            f"{owner}.{name} has shape {np.shape(values)}, but components_ has {p:,} columns: assign both alike."
        )
    return np.asarray(values)


def _along(record: LinearFit | None, given: Mapping[str, Any], name: str, components: Floats) -> Floats:
    """(k,) numbers of the components: those assigned, if they are as many, else the fit's; NaN where nobody knows."""
    values, k = given.get(name), len(components)
    if values is not None and len(values) == k:
        return np.asarray(values)
    if record is None:
        return np.full(k, np.nan)
    fitted = record.variances if name == "explained_variance_" else record.singular_values
    return fitted if len(fitted) == k else _matched(record, fitted, components)


def _matched(record: LinearFit, values: Floats, components: Floats) -> Floats:
    """(k,) the numbers (m,) that go with components which are the fit's, or turned round; NaN for others."""
    if len(values) != record.k or components.shape[1] != record.n_columns:
        return np.full(len(components), np.nan)
    places = [np.flatnonzero((np.abs(record.components) == np.abs(row)).all(axis=1)) for row in components]
    return np.array([values[place[0]] if len(place) else np.nan for place in places])


def _rows(record: LinearFit | None, given: Mapping[str, Any], variances: Floats, singular: Floats) -> int:
    """How many rows the fit was made from: assigned, or told by variances and singular values; 0: nobody knows."""
    told = given.get("n_samples_", given.get("n_samples_seen_"))
    if told is not None:
        return int(told)
    if record is not None:
        return record.n_rows
    if len(variances) and variances[0] > 0 and singular[0] > 0:
        return round(float(singular[0] ** 2 / variances[0])) + 1  # explained_variance_ = singular_values_² / (n − 1)
    return 0


def _total(record: LinearFit | None, given: Mapping[str, Any], variances: Floats, p: int) -> float:
    """The variance of all columns together, from whatever tells it; at least that of the components."""
    held, k = float(variances.sum()), len(variances)
    ratios = given.get("explained_variance_ratio_")
    if given.get("total_variance_") is not None:
        total = float(given["total_variance_"])
    elif given.get("noise_variance_") is not None and p > k:  # eq. 8 of Tipping & Bishop 1999, turned round
        total = held + float(given["noise_variance_"]) * (p - k)
    elif ratios is not None and len(ratios) == k and ratios.sum() > 0:
        total = held / float(ratios.sum())
    else:
        total = held if record is None else record.total_variance
    return total if np.isnan(held) else max(total, held)
