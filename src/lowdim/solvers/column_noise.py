"""Whether columns have the same variance beyond some components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.beyond import Beyond

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
    kurtosis: float = 0.0
    """Excess kurtosis of the entries, each column in its own unit: 0 of a normal law, 3 of Laplace's."""


def column_noise(found: Beyond, centered: bool = True) -> ColumnNoise:
    """Compare variances of the columns of rows (n, p) less their k leading components.

    With strong components the rest is (I − UUᵀ) E (I − VVᵀ), where E is the noise. Of column j, of whose direction a
    share h_j = Σ v_j² lies along them, it has n − 1 − k degrees of freedom and the variance σ² (1 − h_j). So estimates
    of σ² by single columns vary by (2 + κ)/(n − 1 − k), relative to σ⁴: by 2 for a normal law, and by more where its
    excess kurtosis κ is above 0 (Box 1953; estimated of all columns together, as Layard 1973 does). A component that
    was missed, spread over the columns, hardly moves them: they are about noise, not about whether k was right.
    """
    n, p = found.rest.shape
    degrees = n - centered - found.k
    if degrees < 3 or p - found.k < 3:
        return ColumnNoise(np.ones(p), 0.0, 0.0)
    shares, left = found.shares, found.told
    rest = found.rest[:, left]
    squares = np.einsum("ij,ij->j", rest, rest)
    variances = squares / (degrees * (1 - shares[left]))
    level = float(variances.mean())
    m = len(variances)
    if m < 3 or level <= 0:
        return ColumnNoise(np.ones(p), 0.0, 0.0)
    spread = max(2 + _excess_kurtosis(rest, squares), 2.0) / degrees
    observed = float(variances.var(ddof=1)) / level**2
    # the variance of a variance of m that are χ²: 2/(m − 1), and 12/degrees more by their own kurtosis
    error = np.sqrt(2 / (m - 1) + 12 / (degrees * m))
    z = (observed / spread - 1) / error
    units = np.sqrt(np.where(squares > 0, squares, 1.0))
    tails = _excess_kurtosis(rest / units, (squares > 0).astype(float))
    return ColumnNoise(variances, max(0.0, observed - spread), z, tails)


def _excess_kurtosis(rest: Floats, squares: Floats) -> float:
    """κ that the columns share, from Σ m₄ / Σ m₂²: with m₂² = σ⁴ (1 + (2 + κ)/n) on average, as m₂ varies too."""
    n = len(rest)
    ratio = n * float((rest**4).sum() / (squares @ squares))
    return (ratio * (1 + 2 / n) - 3) / max(1 - ratio / n, 0.1)
