"""Distances between rows, right also where rows lie far from the origin or close to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Floats = NDArray[np.float64]

LOST = 1e-13
"""Squared distances may be wrong by this share of `matters` before they are computed from differences."""


def squared_distances(rows: Floats, others: Floats, matters: float = 1.0) -> Floats:
    """(m, n) squared Euclidean distances between rows (m, p) and others (n, p).

    |x − y|² = |x|² − 2 x·y + |y|² is one product, but loses the digits that |x|² and |y|² share. Both sides are moved
    to the middle of `others` first; where that leaves norms so large that an error of `LOST · matters` could arise,
    differences are taken instead, which is slower and always right.
    """
    if len(others) == 0 or len(rows) == 0:
        return np.zeros((len(rows), len(others)))
    middle = others.mean(axis=0)
    A, B = rows - middle, others - middle
    a, b = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    if np.finfo(float).eps * (a.max() + b.max()) > LOST * matters:
        return np.asarray(cdist(rows, others, "sqeuclidean"))
    squares = A @ (-2 * B.T)
    squares += a[:, None]
    squares += b
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def absolute_distances(rows: Floats, others: Floats) -> Floats:
    """(m, n) sums of absolute differences."""
    return np.asarray(cdist(rows, others, "cityblock"))
