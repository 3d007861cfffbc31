"""How much nearer to the middle new rows fall than those that the axes were found from (Lee, Zou & Wright 2010)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shrinkage(variances: Floats, noise: float, ratio: float) -> Floats:
    """(k,) factor of scores of new rows; 0 where the axis is no more than noise gives.

    `ratio` is that of columns to rows, γ, and `noise` the variance of one column. A sample variance d, in units of the
    noise, belongs to a variance l of the population with d = l (1 + γ / (l − 1)) (Baik & Silverstein 2006), and new
    scores are (l − 1) / (l + γ − 1) times as long (Lee, Zou & Wright 2010, theorem 2).
    """
    d = variances / noise
    half = (d + 1 - ratio) / 2
    seen = d > (1 + np.sqrt(ratio)) ** 2
    spike = half + np.sqrt(np.maximum(half**2 - d, 0.0))
    factor: Floats = np.divide(spike - 1, spike + ratio - 1, out=np.zeros_like(d), where=seen)
    return factor
