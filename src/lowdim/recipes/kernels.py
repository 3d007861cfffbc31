"""Compiled loops over patches: distances to those around, groups of them cut out, and groups laid back.

Imported only where they are used, because loading the compiler takes a moment.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Places = NDArray[np.int64]

ANY_ORDER = {"reassoc", "contract", "nsz"}


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def distances(planes: Singles, top: int, lefts: Places, width: int, reach: int, out: Singles) -> None:
    """Squared distances of the patches at (top, lefts) to all at most `reach` pixels away, infinite off the picture.

    planes is (c, height, width), out (len(lefts), (2 reach + 1)²). All references move together by one displacement at
    a time, so that the innermost loops run along rows of the picture.
    """
    channels, height, length = planes.shape
    side = 2 * reach + 1
    columns, sums = np.empty(length, np.float32), np.empty(length, np.float32)
    out[:] = np.inf
    for dy in range(max(-reach, -top), min(reach, height - width - top) + 1):
        for dx in range(-reach, reach + 1):
            first, last = max(0, -dx), min(length, length - dx)
            n = last - first
            if n < width:
                continue
            columns[:n] = 0
            for c in range(channels):
                for i in range(width):
                    here, there = planes[c, top + i, first:last], planes[c, top + dy + i, first + dx : last + dx]
                    for x in range(n):
                        apart = here[x] - there[x]
                        columns[x] += apart * apart
            n += 1 - width
            sums[:n] = columns[:n]
            for j in range(1, width):
                for x in range(n):
                    sums[x] += columns[x + j]
            place = (dy + reach) * side + dx + reach
            for r in range(len(lefts)):
                if first <= lefts[r] < first + n:
                    out[r, place] = sums[lefts[r] - first]


@numba.njit(nogil=True, cache=True)
def gather(planes: Floats, tops: Places, lefts: Places, width: int, out: Floats) -> None:
    """Patches of planes (c, height, width) at places (groups, n), to out (groups, c, n, width²)."""
    groups, n = tops.shape
    for g in range(groups):
        for c in range(len(planes)):
            for m in range(n):
                for i in range(width):
                    for j in range(width):
                        out[g, c, m, i * width + j] = planes[c, tops[g, m] + i, lefts[g, m] + j]


@numba.njit(nogil=True, cache=True)
def scatter(
    values: Floats, variances: Floats, weights: Floats, tops: Places, lefts: Places, width: int, out: Any
) -> None:
    """Add groups at places (groups, n) to out (3, c, height, width): weights, weighted values and second moments.

    values is (groups, c, n, width²); variances and weights, the same for all patches of a group, (groups, c, width²).
    """
    groups, n = tops.shape
    for g in range(groups):
        for c in range(values.shape[1]):
            for m in range(n):
                for i in range(width):
                    for j in range(width):
                        entry, y, x = i * width + j, tops[g, m] + i, lefts[g, m] + j
                        value, weight = values[g, c, m, entry], weights[g, c, entry]
                        out[0, c, y, x] += weight
                        out[1, c, y, x] += weight * value
                        out[2, c, y, x] += weight * (variances[g, c, entry] + value * value)
