"""Limits for the distance of a row within the space of the components (Hotelling's T²) and from it (Q, or SPE).

Rows are taken for normal. Then T² of the rows of a fit is a Beta variable, exactly and for any number of components,
as the scores of normal rows are turned in all directions alike (Tracy, Young & Mason 1992, "Multivariate control charts
for individual observations", give it for all p). For new rows it is an F variable where all components are kept, or the
axes are known; that they are estimated makes it an approximation, good where n is much larger than p. So are the limits
of Q: rows of the fit lie nearer to its space than new ones do, by about 2k/n of their squared distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lowdim.results.certificate import counted

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limit:
    """A law of a statistic, and the value that it exceeds with probability 1 − level."""

    law: str
    """In words."""
    value: float
    p_values: Floats
    """(n,) probability of so large a value."""


def t2_limit(t2: Floats, k: int, n: float, level: float, training: bool) -> Limit:
    """Limit of T² with k components of n rows; variances divide by n − 1."""
    if training:
        free = (n - k - 1) / 2
        if free <= 0:  # scores of n − 1 components say nothing about a row: T² is (n − 1)²/n for all of them
            return Limit(
                f"none: {counted(k, 'component')} of {n:g} rows leave no freedom", np.nan, np.full(len(t2), np.nan)
            )
        law, unit = stats.beta(k / 2, free), (n - 1) ** 2 / n
        return Limit(f"(n − 1)²/n Beta({k / 2:g}, {free:g}), rows of the fit", unit * law.ppf(level), law.sf(t2 / unit))
    if n <= k:
        return Limit(
            f"none: there must be more than {k} rows for {counted(k, 'component')}", np.nan, np.full(len(t2), np.nan)
        )
    law, unit = stats.f(k, n - k), k * (n * n - 1) / (n * (n - k))
    return Limit(f"k(n² − 1)/(n(n − k)) F({k}, {n - k:g}), new rows", unit * law.ppf(level), law.sf(t2 / unit))


def box_limit(q: Floats, first: float, second: float, level: float, source: str) -> Limit:
    """g χ²(h) with the mean `first` and the variance 2 `second` of Q (Box 1954; Nomikos & MacGregor 1995).

    From the spectrum these are Σ λ and Σ λ² of the variances left out.
    """
    if not (first > 0 and second > 0):
        return Limit("none: the components hold all the variance", np.nan, np.full(len(q), np.nan))
    g, h = second / first, first**2 / second
    return Limit(f"g χ²(h), g = {g:.4g}, h = {h:.4g}, {source}", g * stats.chi2.ppf(level, h), stats.chi2.sf(q / g, h))


def jackson_limit(q: Floats, left: Floats, level: float) -> Limit:
    """A power of Q that is nearly normal, from all variances left out (Jackson & Mudholkar 1979, "Control procedures
    for residuals associated with principal component analysis")."""
    first, second, third = (float((left**power).sum()) for power in (1, 2, 3))
    if not (first > 0 and second > 0):
        return Limit("none: the components hold all the variance", np.nan, np.full(len(q), np.nan))
    power = 1 - 2 * first * third / (3 * second**2)
    if power <= 0:
        raise ValueError(power)
    centre = 1 + second * power * (power - 1) / first**2
    spread = np.sqrt(2 * second * power**2) / first
    value = first * max(centre + spread * float(stats.norm.ppf(level)), 0.0) ** (1 / power)
    return Limit(
        f"Jackson–Mudholkar, power {power:.4g}, from the whole spectrum",
        value,
        stats.norm.sf(((q / first) ** power - centre) / spread),
    )
