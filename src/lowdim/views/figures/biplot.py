"""Rows and columns in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit
from lowdim.results.names import column_names

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Biplot:
    """Rows and columns in one picture: the inner product of a row's and a column's point is the (scaled) entry, as far
    as these components show it."""

    rows: Floats
    """(n, k)"""
    columns: Floats
    """(p, k)"""
    names: tuple[str, ...]
    """Of the columns."""
    shares: Floats
    """(k,) of the variance, along each axis."""
    scaling: str
    """Where the lengths of the axes went, in words."""


@dataclass(frozen=True)
class Arrows:
    """The columns of a biplot that are drawn, longest first."""

    names: tuple[str, ...]
    ends: Floats
    """(m, 2) where arrows end: points of the columns times the stretch."""
    stretch: float
    """Times that arrows are longer than the points of the columns, so that both can be seen."""
    left_out: int
    """Shorter ones."""


def biplot(fit: LinearFit, scores: Floats, alpha: float, convention: str = "singular") -> Biplot:
    """Rows U Sᵃ and columns V S¹⁻ᵃ of scores U S (n, k) (Gabriel 1971).

    alpha = 1 shows distances between rows as they are, 0 covariances of columns as angles, ½ shares them out. S are the
    singular values; for R's `biplot(prcomp(X), scale=1 - alpha)` the standard deviations times √n, and with its
    `pc.biplot=TRUE` ("prcomp_pc") lengths of columns at alpha = 0 are standard deviations.
    """
    k, n = scores.shape[1], fit.weight
    deviations = np.sqrt(fit.variances[:k] * (n - fit.ddof) / max(n - 1, 1))  # R divides by n − 1
    sizes = fit.singular_values[:k] if convention == "singular" else deviations * np.sqrt(n)
    stretch = sizes ** (1.0 - alpha)
    if convention == "prcomp_pc":
        stretch = stretch / np.sqrt(n)
    real = stretch > 0
    rows = np.divide(scores, stretch, out=np.zeros_like(scores), where=real)
    what = {"singular": "singular values", "prcomp": "R's sdev √n", "prcomp_pc": "R's sdev √n, columns over √n"}
    words = f"rows U S^{alpha:g}, columns V S^{1 - alpha:g}, S: {what[convention]}"
    return Biplot(rows, fit.components[:k].T * stretch, column_names(fit), fit.shares[:k], words)


def arrows(found: Biplot, axes: Sequence[int], most: int = 15) -> Arrows:
    """The `most` longest columns in the plane of two axes, counted from 1.

    They are stretched, to a round number of times, to reach nearly as far as the rows do.
    """
    plane = [axis - 1 for axis in axes]
    ends = found.columns[:, plane]
    lengths = np.linalg.norm(ends, axis=1)
    order = [j for j in np.argsort(-lengths, kind="stable") if lengths[j] > 0]
    chosen = np.array(order[:most], dtype=np.intp)
    reach = float(np.linalg.norm(found.rows[:, plane], axis=1).max(initial=0.0))
    longest = float(lengths.max(initial=0.0))
    stretch = _round(0.9 * reach / longest) if longest > 0 and reach > 0 else 1.0
    return Arrows(tuple(found.names[j] for j in chosen), ends[chosen] * stretch, stretch, len(order) - len(chosen))


def _round(number: float) -> float:
    """To two digits, as the figure says it."""
    return float(f"{number:.2g}")
