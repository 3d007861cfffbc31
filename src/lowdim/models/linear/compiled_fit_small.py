"""Compiled: all arithmetic of a fit of a small array, in one call: mean and scatter, eigenpairs and their errors.

On a hundred rows NumPy needs longer to begin each of some eighty operations than to do them, and LAPACK works on
matrices of tens of columns as it does on thousands. The plain twin is `fit_small.find_plainly`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.matrices.compiled_products import takes
from lowdim.runtime.native import Kernel, scratch
from lowdim.solvers.solver import SIGN_TIE
from lowdim.types import Array, Floats

STRETCH = 128
"""Rows that are summed at a time."""

_fit_small = Kernel(
    "fit_small",
    "rows[n,p]:real every:int terms spacing least_spread range tie *scatter[p,p] *columns[5,p] *components[k,p] "
    "*pairs[5,k] *facts[6] *work[room]",
    gives=True,
)


def compute_pairs(
    rows: Array, k: int, every: int, terms: float, spacing: float, least_spread: float, limit: float
) -> tuple[Floats, Floats, Floats, Floats, list[float]] | None:
    """Scatter (p, p), columns (5, p), components (k, p), pairs (5, k) and facts of rows (n, p).

    For each column: its mean, what float64 leaves over of that, the error of its square, its square about the mean,
    and, of all columns, an eigenvalue. For each component: its eigenvalue, residual, rounding, tilt, and what the
    rounding of the data moves it by. Facts are the sums of eigenvalues, of errors and of squares of what means leave
    over, the largest error of a product, the largest square, and the largest entry of |V Vᵀ − I|.

    The shift is the mean of every so many rows; each sum has so many terms. None where a square is not within the
    limits, or not larger than a share of its column's squared mean, or where eigenvalues were not found.
    """
    if not takes(rows) or not rows.flags.aligned:
        rows = rows.copy(order="C")
    p = rows.shape[1]
    scatter, columns, components = np.empty((p, p)), np.empty((5, p)), np.empty((k, p))
    pairs, facts = np.empty((5, k)), np.empty(6)
    work = scratch(_room(p))
    found: Any = _fit_small(
        rows, every, terms, spacing, least_spread, limit, SIGN_TIE, scatter, columns, components, pairs, facts, work
    )
    return (scatter, columns, components, pairs, facts.tolist()) if found else None


def _room(p: int) -> int:
    """Numbers that the kernel needs to work in for p columns."""
    padded = -(-p // 8) * 8
    step = padded if padded % 16 else padded + 8
    return step * (12 + padded + max(STRETCH, 2 * padded))
