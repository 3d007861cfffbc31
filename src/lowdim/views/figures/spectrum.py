"""How much of the variance each component has, and all of them up to there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.results.linear import LinearFit
from lowdim.results.uncertainty import Intervals, Uncertainty

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scree:
    """Shares of the variance, one by one and added up."""

    shares: Floats
    cumulative: Floats
    reached: int | None
    """Fewest components that reach the wanted share, if these do."""
    wanted: float
    share_ends: Floats | None = None
    """(2, k) lower and upper ends of intervals for the shares."""
    cumulative_ends: Floats | None = None
    """(2, k) of the shares added up."""
    level: float | None = None
    """Of the intervals."""


def scree(fit: LinearFit, wanted: float = 0.9, intervals: Uncertainty | None = None) -> Scree:
    """Shares of each component, and where they reach `wanted` of the variance; with what `uncertainty` gave, intervals.

    Any record with `shares` will do.
    """
    if not 0 < wanted <= 1:
        raise BadParameter.of("plot", "wanted", wanted, "a share of the variance, such as 0.9")
    cumulative = np.cumsum(fit.shares)
    reached = cumulative >= wanted - 1e-12
    first = int(np.argmax(reached)) + 1 if reached.any() else None
    if intervals is None:
        return Scree(fit.shares, cumulative, first, wanted)
    one, all_up_to = (_ends(intervals, name, len(fit.shares)) for name in ("shares", "cumulative"))
    return Scree(fit.shares, cumulative, first, wanted, one, all_up_to, intervals.level)


def _ends(found: Uncertainty, name: str, k: int) -> Floats | None:
    """(2, k) ends of intervals, if there are such."""
    known: Intervals | None = found.intervals.get(name)
    if known is None:
        return None
    if known.lower.shape != (k,):
        raise BadParameter(
            f"intervals has {len(known.lower)} components, but the model has {k}: pass what its uncertainty(X) gave."
        )
    return np.stack([known.lower, known.upper])
