"""Compiled sweeps of hierarchical alternating least squares. Imported only where there are rows enough to pay for it.

Factors are stored by component, (k, m): 64 samples are taken at a time, whose numbers stay in the nearest cache, and
the innermost loop runs over samples, so that no sum has to be taken across a vector unit.
"""

from __future__ import annotations

import numba
import numpy as np

from lowdim.types import Floats

LANES = 64
"""Samples at a time."""

IN_ORDER = {"contract"}


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def sweep(F: Floats, A: Floats, G: Floats, l1: float, l2: float, out: Floats) -> None:
    """out (k, m) ← F after one sweep over its k rows, each set to its best given the others: A = H Xᵀ, G = H Hᵀ."""
    k, m = F.shape
    lanes = np.empty((k, LANES))
    total = np.empty(LANES)
    for start in range(0, m, LANES):
        width = min(LANES, m - start)
        for t in range(k):
            for c in range(width):
                lanes[t, c] = F[t, start + c]
            for c in range(width, LANES):
                lanes[t, c] = 0.0
        for t in range(k):
            curve = G[t, t] + l2
            if curve <= 0.0:  # nothing depends on it: a number that is penalised only costs
                if l1 > 0.0:
                    for c in range(width):
                        lanes[t, c] = 0.0
                continue
            _add_rows(G[t], lanes, total)
            for c in range(width):
                moved = lanes[t, c] + (A[t, start + c] - l1 - total[c] - l2 * lanes[t, c]) / curve
                lanes[t, c] = max(moved, 0.0)
        for t in range(k):
            for c in range(width):
                out[t, start + c] = lanes[t, c]


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def _add_rows(g: Floats, lanes: Floats, total: Floats) -> None:
    """total ← Σ g[s] lanes[s], four rows at a time."""
    k = len(g)
    for c in range(LANES):
        total[c] = 0.0
    for s in range(0, k - 3, 4):
        a, b, d, e = g[s], g[s + 1], g[s + 2], g[s + 3]
        for c in range(LANES):
            total[c] += a * lanes[s, c] + b * lanes[s + 1, c] + d * lanes[s + 2, c] + e * lanes[s + 3, c]
    for s in range(k // 4 * 4, k):
        a = g[s]
        for c in range(LANES):
            total[c] += a * lanes[s, c]


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def extrapolate(new: Floats, old: Floats, ahead: float, out: Floats) -> None:
    """out ← max(new + ahead (new − old), 0)."""
    for t in range(new.shape[0]):
        for c in range(new.shape[1]):
            out[t, c] = max(new[t, c] + ahead * (new[t, c] - old[t, c]), 0.0)
