"""Sparse solutions one column at a time, and the number of non-zeros up to which that is sure to work."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import orthogonal_mp

Floats = NDArray[np.float64]


def coherence(A: Floats) -> float:
    """The largest |cosine| of the angle between two columns; columns of zeros have none."""
    lengths = np.linalg.norm(A, axis=0)
    even = A[:, lengths > 0] / lengths[lengths > 0]
    cosines = np.abs(even.T @ even)
    np.fill_diagonal(cosines, 0.0)
    return float(min(1.0, cosines.max())) if cosines.size else 0.0


def guaranteed_sparsity(A: Floats) -> int:
    """The largest k below (1 + 1/coherence)/2.

    A solution of Ay = b with so few non-zeros is the only one (Donoho & Elad 2003), and is found by orthogonal matching
    pursuit and, if columns have one length, by basis pursuit (Tropp 2004, "Greed is good").
    """
    alike = coherence(A)
    most = int(min(A.shape))
    if alike <= np.finfo(float).eps * max(A.shape):
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
