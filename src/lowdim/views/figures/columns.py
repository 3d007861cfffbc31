"""What columns, or rows, have to do with the components: a circle, a map, bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit
from lowdim.results.names import column_names
from lowdim.views.figures.scores import axis_titles

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Circle:
    """Correlations of columns with two components; those that the plane shows best first."""

    names: tuple[str, ...]
    ends: Floats
    """(m, 2)"""
    cos2: Floats
    """(m,) squared lengths: the share of a column's variance that lies in the plane."""
    titles: tuple[str, ...]
    left_out: int
    """Columns that the plane shows less well."""


@dataclass(frozen=True, eq=False)
class LoadingsMap:
    """Loadings of several components: entries of the axes, times the standard deviation along them."""

    names: tuple[str, ...]
    """Of the columns, in the order of the data."""
    values: Floats
    """(m, k)"""
    titles: tuple[str, ...]
    """Of the components."""
    left_out: int
    """Columns with smaller loadings."""


@dataclass(frozen=True, eq=False)
class Bars:
    """Numbers of columns or rows, largest first."""

    names: tuple[str, ...]
    heights: Floats
    """(m,)"""
    lines: tuple[float, ...]
    """What all would have if they shared alike."""
    title: str
    """What the numbers are."""
    left_out: int
    """Smaller ones."""
    what: str
    """What has them: columns or rows."""


def circle(fit: LinearFit, correlations: Floats, axes: Sequence[int], most: int, prefix: str = "PC") -> Circle:
    """Correlations (p, k) in the plane of two axes, counted from 1, of the `most` columns that it shows best."""
    ends = correlations[:, [axis - 1 for axis in axes]]
    cos2 = (ends**2).sum(axis=1)
    order = np.argsort(-cos2, kind="stable")
    order = order[cos2[order] > 0]
    chosen, names = order[:most], column_names(fit)
    titles = axis_titles(prefix, axes, fit.shares)
    left = len(order) - len(chosen)
    return Circle(tuple(names[j] for j in chosen), ends[chosen], cos2[chosen], tuple(titles), left)


def loadings_map(fit: LinearFit, axes: Sequence[int], most: int, prefix: str = "PC") -> LoadingsMap:
    """Loadings v √λ along these axes, of the `most` columns with the largest, in the order of the data."""
    chosen_axes = [axis - 1 for axis in axes]
    values = fit.components[chosen_axes].T * fit.strengths[chosen_axes]
    chosen = np.sort(np.argsort(-np.abs(values).max(axis=1), kind="stable")[:most])
    names = column_names(fit)
    titles = axis_titles(prefix, axes, None)
    return LoadingsMap(tuple(names[j] for j in chosen), values[chosen], tuple(titles), len(values) - len(chosen))


def component_bars(fit: LinearFit, axis: int, most: int, prefix: str = "PC") -> Bars:
    """Entries of one component, largest magnitude first; the lines are ±1/√p, where all columns would share alike."""
    even = 1 / np.sqrt(fit.n_columns)
    (title,) = axis_titles(prefix, [axis], fit.shares)
    return bars(column_names(fit), fit.components[axis - 1], (-even, even), f"entry of {title}", most, "column")


def bars(
    names: Sequence[str], heights: Floats, lines: Sequence[float], title: str, most: int, what: str = "column"
) -> Bars:
    """The `most` largest magnitudes; values that are not known count as none."""
    known = np.nan_to_num(heights)
    chosen = np.argsort(-np.abs(known), kind="stable")[:most]
    left = len(known) - len(chosen)
    return Bars(tuple(names[j] for j in chosen), known[chosen], tuple(lines), title, left, what)


def joint_contributions(shares: Floats, variances: Floats, axes: Sequence[int]) -> Floats:
    """(m,) share of each column or row (m, k) in the variance of these axes together.

    The mean of its shares, weighted by the variances, as factoextra's fviz_contrib has it.
    """
    chosen = [axis - 1 for axis in axes]
    weight = variances[chosen]
    total = float(weight.sum())
    return np.asarray(np.nan_to_num(shares[:, chosen]) @ (weight / total if total > 0 else np.zeros_like(weight)))
