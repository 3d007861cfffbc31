"""The record of a linear model that is made of assigned attributes: `model.components_ = …`, with or without a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim import __version__
from lowdim.errors import WrongShape
from lowdim.models.base.estimator import MADE_BY
from lowdim.results.certificate import blank_certificate
from lowdim.results.record import LinearFit, Provenance, describe_change
from lowdim.types import Floats


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
    note = describe_change(tuple(sorted(given)), "assigned")
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
        "certificate": blank_certificate(components, variances, total, MADE_BY, note),
    }
    if record is None:
        return LinearFit(**known, column_weight=None, weight=float(n), ddof=1, provenance=made)
    return record.with_assigned(known, given)


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
    return fitted if len(fitted) == k else record.values_of(components, fitted)


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
