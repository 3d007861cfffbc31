"""The compiled half-step of multiplicative updates for dense rows. Imported only where there are rows enough to pay."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ANY_ORDER = {"reassoc", "contract", "nsz"}

TINY = 1e-300


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def update_rows(
    X: Floats,
    before: Floats,
    y: Floats,
    H: Floats,
    sums: Floats,
    l2: float,
    floor: Floats,
    ahead: float,
    height: int,
    W: Floats,
    Wy: Floats,
    total: Floats,
) -> float:
    """W ← y · (X / yH) Hᵀ / sums, Wy ← W + ahead (W − before)₊, total (k, p) ← Wyᵀ (X / WyH), `height` rows at a time.

    All (n, k) but for X (n, p), H (k, p), sums (k,) and floor (n, 1). Gives ⟨gradient, W − before⟩.
    """
    n, k = y.shape
    p = X.shape[1]
    across = np.ascontiguousarray(H.T)
    ratio, taken, part = np.empty((height, p)), np.empty((height, k)), np.empty((k, p))
    total[:] = 0.0
    uphill = 0.0
    for first in range(0, n, height):
        last = min(first + height, n)
        r, t = ratio[: last - first], taken[: last - first]
        _ratio(X[first:last], y[first:last], H, r)
        np.dot(r, across, t)
        for i in range(last - first):
            row = first + i
            for c in range(k):
                added = max(sums[c] + l2 * y[row, c], TINY)
                new = max(y[row, c] * t[i, c] / added, floor[row, 0])
                change = new - before[row, c]
                uphill += (added - t[i, c]) * change
                W[row, c] = new
                Wy[row, c] = new + ahead * max(change, 0.0)
        _ratio(X[first:last], Wy[first:last], H, r)
        np.dot(Wy[first:last].T, r, part)
        total += part
    return uphill


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _ratio(X: Floats, W: Floats, H: Floats, out: Floats) -> None:
    """out ← X / (W H); 0 / 0 is 0."""
    np.dot(W, H, out)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = X[i, j] / max(out[i, j], TINY)
