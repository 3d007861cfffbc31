"""Whether columns have the same variance beyond some components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnNoise:
    """Variances of columns beyond some components."""

    variances: Floats
    """(p,) of each column whose noise can be told; those that the components take up whole are left out."""
    unequal: float
    """Square of the coefficient of variation of the variances, less what equal ones have by accident."""
    z: float
    """How far that is from equal ones, in standard deviations."""


NOTHING_LEFT = 0.01
"""Share of a column's direction that components have to leave, for its noise to be told."""


def column_noise(Y: Floats, k: int, centered: bool = True) -> ColumnNoise:
    """Compare variances of the columns of Y (n, p) less its k leading components.

    With strong components the rest is (I − UUᵀ) E (I − VVᵀ), where E is the noise. Of column j, of whose direction a
    share h_j = Σ v_j² lies along them, it has n − 1 − k degrees of freedom and the variance σ² (1 − h_j). So estimates
    of σ² by single columns vary by (2 + κ)/(n − 1 − k), relative to σ⁴: by 2 for a normal law, and by more where its
    excess kurtosis κ is above 0 (Box 1953; estimated of all columns together, as Layard 1973 does). A component that
    was missed, spread over the columns, hardly moves them: they are about noise, not about whether k was right.
    """
    n, p = Y.shape
    degrees = n - centered - k
    if degrees < 3 or p - k < 3:
        return ColumnNoise(np.ones(p), 0.0, 0.0)
    rest, shares = _without_components(Y, k)
    left = shares < 1 - NOTHING_LEFT
    squares = np.einsum("ij,ij->j", rest[:, left], rest[:, left])
    variances = squares / (degrees * (1 - shares[left]))
    level = float(variances.mean())
    m = len(variances)
    if m < 3 or level <= 0:
        return ColumnNoise(np.ones(p), 0.0, 0.0)
    spread = max(2 + _excess_kurtosis(rest[:, left], squares), 2.0) / degrees
    observed = float(variances.var(ddof=1)) / level**2
    # the variance of a variance of m that are χ²: 2/(m − 1), and 12/degrees more by their own kurtosis
    error = np.sqrt(2 / (m - 1) + 12 / (degrees * m))
    return ColumnNoise(variances, max(0.0, observed - spread), (observed / spread - 1) / error)


def _excess_kurtosis(rest: Floats, squares: Floats) -> float:
    """κ that the columns share, from Σ m₄ / Σ m₂²: with m₂² = σ⁴ (1 + (2 + κ)/n) on average, as m₂ varies too."""
    n = len(rest)
    ratio = n * float((rest**4).sum() / (squares @ squares))
    return (ratio * (1 + 2 / n) - 3) / max(1 - ratio / n, 0.1)


def _without_components(Y: Floats, k: int) -> tuple[Floats, Floats]:
    """(n, p) the rows less k components, and (p,) the share of each column's direction that they take up."""
    if k == 0:
        return Y, np.zeros(Y.shape[1])
    if len(Y) < Y.shape[1]:
        U = np.linalg.eigh(Y @ Y.T)[1][:, -k:]
        V = np.linalg.qr(Y.T @ U)[0]
    else:
        V = np.linalg.eigh(Y.T @ Y)[1][:, -k:]
    return Y - (Y @ V) @ V.T, (V**2).sum(axis=1)
