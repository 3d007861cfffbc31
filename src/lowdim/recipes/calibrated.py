"""Standard deviations that keep their word: brought to scale by the errors on values that were hidden."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INSIDE, WIDTHS = 0.95, 1.959964
"""Share of true values that ± so many standard deviations should hold: that of a normal distribution."""

LEAST_IN_BIN, MOST_BINS = 200, 20
LEAST = 30
"""Hidden values below which the model's own standard deviations are left as they are."""


def calibrated(deviations: Floats, hidden: Floats, errors: Floats) -> Floats:
    """Standard deviations times factors learnt on hidden values, of which `hidden` (m,) is what the model said.

    The variance of a mean of overlapping patches is not that of one patch, and groups of filled patches look surer than
    they are. So hidden values are sorted by the standard deviation that was given for them, and in each of up to 20
    bins the factor is taken with which ± 1.96 of them hold 95 % of the errors (m,); between bins it is interpolated.
    """
    if len(hidden) < LEAST:
        return deviations
    order = np.argsort(hidden, kind="stable")
    bins = np.array_split(order, max(1, min(MOST_BINS, len(order) // LEAST_IN_BIN)))
    tiny = 1e-9 * max(float(hidden.max()), 1e-300)
    at = np.array([np.median(hidden[rows]) for rows in bins])
    wide = np.array([np.quantile(np.abs(errors[rows]) / (hidden[rows] + tiny), INSIDE) for rows in bins]) / WIDTHS
    factors: Floats = np.interp(deviations, at, wide)
    return deviations * factors
