"""What keeping k components costs and loses: numbers and bytes against the original, error for each k."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit


def compression(fit: LinearFit, itemsize: int, centered: bool, scaled: bool) -> dict[str, NDArray[Any]]:
    """Columns of the table, one row for each k = 1 … K.

    k components of n × p numbers need n k scores, k p axes, and the p means (and p scales) if there are any: lecture
    5's six points on a line through the origin are 6 + 3 = 9 numbers in place of 18.
    """
    n, p = fit.n_rows, len(fit.mean)
    k = np.arange(1, fit.k + 1)
    numbers = k * (n + p) + p * (centered + scaled)
    left = np.maximum(fit.total_variance - np.cumsum(fit.variances), 0.0)
    relative = np.sqrt(left / fit.total_variance) if fit.total_variance > 0 else np.zeros(fit.k)
    return {
        "k": k,
        "numbers": numbers,
        "bytes": numbers * itemsize,
        "of_original": numbers / (n * p),
        "squared_error": left * (fit.weight - fit.ddof),
        "relative_error": relative,
    }
