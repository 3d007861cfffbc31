"""Columns that took no part in a fit, beside its components: correlations of numbers, barycentres of categories.

All is about the mean and with the variances (dividing by n) of the rows that are given (Lebart, Morineau & Piron 1995,
"Statistique exploratoire multidimensionnelle", §1.1 and §2.2; FactoMineR prints the same numbers).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def correlations(values: Floats, scores: Floats, weight: Floats) -> Floats:
    """(k,) of a column (n,) with scores (n, k), over the rows where it is known."""
    known = np.isfinite(values)
    share = weight[known] / weight[known].sum()
    x = values[known] - share @ values[known]
    t = scores[known] - share @ scores[known]
    spread = np.sqrt((share @ x**2) * (share @ t**2))
    covariance = (share * x) @ t
    return np.asarray(np.divide(covariance, spread, out=np.zeros_like(covariance), where=spread > 0))


@dataclass(frozen=True)
class Categories:
    """One categorical column beside k components."""

    names: list[str]
    weight: Floats
    """(c,) of the rows in each category."""
    barycentres: Floats
    """(c, k) mean scores."""
    v_tests: Floats
    """(c, k) their distance from the mean of all rows in standard errors of a draw without return: beyond ±1.96 a
    category lies off the centre at 5 %, if it was drawn from these rows by chance."""
    cosines: Floats
    """(c, k) squared: the share of its squared distance from the centre that lies along each axis."""
    eta2: Floats
    """(k,) share of the variance of the scores that lies between the categories."""


def categories(names: list[str], codes: NDArray[np.intp], scores: Floats, weight: Floats, means: Floats) -> Categories:
    """The categories of rows with these codes, −1 where there is none; `means` (c,) are squared lengths of the
    barycentres in all dimensions."""
    known = codes >= 0
    member = codes[known]
    w, t = weight[known], scores[known]
    total = float(w.sum())
    centre = w @ t / total
    variances = w @ (t - centre) ** 2 / total
    inside = np.bincount(member, w, len(names)).astype(np.float64)
    sums = np.stack([np.bincount(member, w * column, len(names)) for column in t.T], axis=1)
    barycentres = sums / inside[:, None]
    apart = barycentres - centre
    error = np.sqrt(variances * ((total - inside) / ((total - 1) * inside))[:, None]) if total > 1 else 0 * apart
    between = inside @ apart**2 / total
    return Categories(
        names,
        inside,
        barycentres,
        np.divide(apart, error, out=np.full_like(apart, np.nan), where=error > 0),
        np.divide(barycentres**2, means[:, None], out=np.full_like(apart, np.nan), where=means[:, None] > 0),
        np.divide(between, variances, out=np.full_like(between, np.nan), where=variances > 0),
    )
