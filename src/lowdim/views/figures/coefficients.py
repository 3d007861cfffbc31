"""Coefficients of a regression, with what is known of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.regression import RegressionFit

Floats = NDArray[np.float64]

GIVEN_AXES = "as if the axes were known, which these rows do not tell"


@dataclass(frozen=True)
class Coefficients:
    """Of one response."""

    names: tuple[str, ...]
    """(q,) columns, as they are drawn …"""
    columns: NDArray[np.intp]
    """(q,) … and which of the data's they are, from 0."""
    values: Floats
    lower: Floats
    upper: Floats
    """(q,) ends of the intervals; NaN where no degrees of freedom are left."""
    places: Floats | None
    """(q,) numbers that the columns' names are, such as wavelengths, where they rise; None: names are no numbers."""
    response: str
    level: float
    left_out: int
    unit: str
    """Of a column: what the response changes by a coefficient for."""
    basis: str = ""
    """What the intervals rest on."""

    @property
    def clear(self) -> NDArray[np.bool_]:
        """(q,) whether an interval leaves zero out."""
        return np.asarray((self.lower > 0) | (self.upper < 0))


def coefficients(
    names: Sequence[str],
    values: Floats,
    lower: Floats,
    upper: Floats,
    response: str,
    level: float,
    most: int | None = None,
    spreads: Floats | None = None,
) -> Coefficients:
    """All coefficients in the columns' order, if the names are numbers that rise; else the `most` largest of them.

    With the columns' standard deviations (p,) as `spreads`, coefficients are for one of these. Columns differ in their
    units, so "largest" is by how many half-widths an interval is away from zero.
    """
    if spreads is not None:
        values, lower, upper = (np.asarray(part) * spreads for part in (values, lower, upper))
    unit = "unit" if spreads is None else "standard deviation"
    places = _numbers(names)
    order = np.arange(len(values))
    if places is None and most is not None and len(values) > most:
        half = np.maximum((upper - lower) / 2, np.finfo(float).tiny)
        sizes = np.where(np.isfinite(half), np.abs(values) / half, np.abs(values))
        order = np.sort(np.argsort(-sizes, kind="stable")[:most])
    middle, low, high = (np.asarray(part, dtype=np.float64)[order] for part in (values, lower, upper))
    shown = tuple(str(names[int(j)]) for j in order)
    return Coefficients(shown, order, middle, low, high, places, response, level, len(values) - len(order), unit)


def fit_coefficients(
    fit: RegressionFit,
    response: int,
    table: Mapping[str, Any],
    level: float,
    most: int | None = None,
    standardised: bool = False,
) -> Coefficients:
    """Those of a response, from 0, of a fit, from its table of coefficients, which begins with the intercept."""
    values, lower, upper, basis = shown_ends(fit, response, table, level)
    spreads = column_spreads(fit) if standardised else None
    names = list(table["column"])[1:]
    found = coefficients(names, values[1:], lower[1:], upper[1:], fit.names[response], level, most, spreads)
    return replace(found, basis=basis)


def shown_ends(
    fit: RegressionFit, response: int, table: Mapping[str, Any], level: float
) -> tuple[Floats, Floats, Floats, str]:
    """(p + 1,) coefficients of the table and the ends that are drawn, and what these rest on: where the table has no
    intervals, those that take the axes for known, which are called so."""
    head = "" if fit.m == 1 else f"{fit.names[response]} "
    values, lower, upper = (np.asarray(table[head + part]) for part in ("coefficient", "lower", "upper"))
    if np.isfinite(lower).any():
        return values, lower, upper, fit.basis
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.asarray(table[f"{head}std_err_given_axes"])
    return values, values - reach, values + reach, GIVEN_AXES


def column_spreads(fit: RegressionFit) -> Floats | None:
    """(p,) standard deviations of the columns in the data's units; None where the record does not know them."""
    known = fit.axes.column_variances
    return None if known is None else np.sqrt(known)


def _numbers(names: Sequence[str]) -> Floats | None:
    """The numbers that names are, or hold beside a unit ("900 nm"), if there are enough of them and they rise."""
    if len(names) < 12 or not all(str(name)[:1].isdigit() for name in names):
        return None
    try:
        found = np.array([float("".join(c for c in str(name) if c.isdigit() or c in ".-")) for name in names])
    except ValueError:
        return None
    units = {"".join(c for c in str(name) if not (c.isdigit() or c in ".- ")) for name in names}
    return found if len(units) == 1 and (np.diff(found) > 0).all() else None
