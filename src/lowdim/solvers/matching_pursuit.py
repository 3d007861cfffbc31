"""Sparse solutions one column at a time, and the number of non-zeros up to which that is sure to work."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import orthogonal_mp

Floats = NDArray[np.float64]

AT_ONCE = 1_000
"""Columns whose cosines with all others are held at once."""


def coherence(A: Floats) -> float:
    """The largest |cosine| of the angle between two columns; columns of zeros have none."""
    lengths = np.linalg.norm(A, axis=0)
    even = A[:, lengths > 0] / lengths[lengths > 0]
    largest = 0.0
    for start in range(0, even.shape[1], AT_ONCE):
        cosines = np.abs(even[:, start : start + AT_ONCE].T @ even)
        each = np.arange(len(cosines))
        cosines[each, start + each] = 0.0  # of a column with itself
        largest = max(largest, float(cosines.max()))
    return min(1.0, largest)


def guaranteed_sparsity(shape: tuple[int, int], alike: float) -> int:
    """The largest k below (1 + 1/coherence)/2, for a matrix of this shape.

    A solution of Ay = b with so few non-zeros is the only one (Donoho & Elad 2003), and is found by orthogonal matching
    pursuit and, if columns have one length, by basis pursuit (Tropp 2004, "Greed is good").
    """
    most = min(shape)
    if alike <= np.finfo(float).eps * max(shape):
        return most  # orthogonal columns: rounding is all that they have in common
    return min(most, math.ceil((1 + 1 / alike) / 2 * (1 - 1e-12)) - 1)


def matching_pursuit(A: Floats, b: Floats, noise: float) -> Floats:
    """Add the column nearest to what is left and solve for all again, until what is left is no longer than `noise`.

    Pati, Rezaiifar & Krishnaprasad 1993. Columns are compared by angle, so that their lengths do not matter.
    """
    y = np.zeros(A.shape[1])
    if np.linalg.norm(b) <= noise:
        return y
    lengths = np.linalg.norm(A, axis=0)
    some = lengths > 0
    size = float(np.linalg.norm(b))
    with warnings.catch_warnings():
        # "Orthogonal matching pursuit ended prematurely": the residual says so
        warnings.simplefilter("ignore", RuntimeWarning)
        y[some] = orthogonal_mp(A[:, some] / lengths[some], b / size, tol=(noise / size) ** 2, precompute=False)
    on = y != 0
    y[on] = np.linalg.lstsq(A[:, on], b)[0]  # once more, by an orthogonal factorisation and not from AᵀA
    return y
