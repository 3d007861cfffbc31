"""What a linear fit says about rows: their contributions to the components, and how well these show them.

Rows come as scores t (n, k) and squared lengths ‖y‖² (n,) of what was centred, scaled and weighted by column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit

Floats = NDArray[np.float64]


def contributions(scores: Floats, weight: Floats | None) -> Floats:
    """(n, k) w t² / Σ w t²: the share of each row in the variance along each axis; NaN where nothing varies."""
    squares = scores**2 if weight is None else weight[:, None] * scores**2
    total = squares.sum(axis=0)
    return np.asarray(np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0))


def sums_of_squares(fit: LinearFit) -> Floats:
    """(k,) Σ w t² over the rows of the fit."""
    return fit.variances * (fit.weight - fit.ddof)


def squared_cosines(scores: Floats, lengths: Floats) -> Floats:
    """(n, k) t² / ‖y‖²: of the squared distance of a row from the centre, the share along each axis.

    NaN for a row at the centre, which has no direction.
    """
    squares = scores**2
    there = lengths[:, None] > 0
    return np.divide(squares, lengths[:, None], out=np.full_like(squares, np.nan), where=there)


def t_squared(scores: Floats, variances: Floats) -> Floats:
    """(n,) Σ t²/λ over the components given: the squared distance from the centre in standard deviations."""
    return np.asarray((scores**2 / variances).sum(axis=1))


def squared_residuals(scores: Floats, lengths: Floats) -> Floats:
    """(n,) ‖y − ŷ‖²: the squared distance from the space of the components."""
    return np.asarray(np.maximum(lengths - (scores**2).sum(axis=1), 0.0))
