"""Loadings turned until each column belongs to few of them: varimax, and promax, which lets the factors correlate.

Varimax turns two columns of loadings at a time by the angle that is best for them, in closed form, until no angle is
left (Kaiser 1958, "The varimax criterion for analytic rotation in factor analysis"). Promax then fits the rotated
loadings to their own powers, which are near zero where they are small (Hendrickson & White 1964, "Promax: a quick
method for rotation to oblique simple structure").
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STILL = 1e-11
"""Angle, in radians, below which two columns of loadings are as they should be."""

SWEEPS = 1000


def varimax(loadings: Floats, normalize: bool) -> Floats:
    """(k, k) orthogonal matrix by which loadings (p, k) have the largest variance of their squares in each column.

    With `normalize` every column of the data counts alike, however much of it the components hold (Kaiser's
    normalisation): its loadings are divided by their length first.
    """
    k = loadings.shape[1]
    turned = loadings / _lengths(loadings) if normalize else loadings.copy()
    matrix = np.eye(k)
    for _ in range(SWEEPS):
        largest = 0.0
        for pair in combinations(range(k), 2):
            angle = _best_angle(turned[:, pair])
            largest = max(largest, abs(angle))
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            turned[:, pair] = turned[:, pair] @ turn
            matrix[:, pair] = matrix[:, pair] @ turn
        if largest <= STILL:
            break
    return matrix


def promax(loadings: Floats, normalize: bool, power: float) -> Floats:
    """(k, k) matrix by which loadings (p, k) become those of correlated factors of variance one."""
    orthogonal = varimax(loadings, normalize)
    turned = loadings @ orthogonal
    target = np.sign(turned) * np.abs(turned) ** power
    oblique = np.linalg.lstsq(turned, target, rcond=None)[0]
    # factors are z inverse(U)ᵀ for uncorrelated z, so their variances are the diagonal of inverse(UᵀU)
    spread = np.linalg.inv(oblique.T @ oblique).diagonal()
    return np.asarray(orthogonal @ (oblique * np.sqrt(spread)))


def _best_angle(pair: Floats) -> float:
    """The angle in the plane of two columns (p, 2) where the variance of their squares is largest."""
    x, y = pair.T
    u, v = x * x - y * y, 2 * x * y
    rows = len(pair)
    across = 2 * (u @ v - u.sum() * v.sum() / rows)
    along = u @ u - v @ v - (u.sum() ** 2 - v.sum() ** 2) / rows
    # where the criterion does not change with the angle, rounding would turn it for ever
    flat = np.hypot(across, along) <= 1e-14 * float(u @ u + v @ v)
    return 0.0 if flat else float(np.arctan2(across, along)) / 4


def _lengths(loadings: Floats) -> Floats:
    """(p, 1) lengths of the rows; one where they are zero."""
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    return np.where(lengths > 0, lengths, 1.0)
