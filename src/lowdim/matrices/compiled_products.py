"""Compiled products and sums, for matrices so large that loading the compiler pays. Imported only where they are used.

BLAS copies a matrix into its own order before it multiplies, which costs as much as a product with a few vectors.
Here both products of Q YᵀY meet six rows while they are in the cache, and nothing is copied.
"""

from __future__ import annotations

import numba
import numpy as np

from lowdim.types import Array, Floats

# Only where one sum runs along a row may its terms be taken in another order, as vector units need it. Elsewhere that
# would let the compiler add x and take the shift off afterwards, and lose the digits that the shift is there to keep.
ANY_ORDER = {"reassoc", "contract", "nsz"}
IN_ORDER = {"contract"}

ROWS = 6
"""Rows at a time: as many as the registers hold while two results are updated."""


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def add_normal(rows: Array, center: Floats, weight: Floats, Q: Floats, out: Floats) -> None:
    """out += Q Yᵀ diag(weight) Y for Y = rows − center, (n, p); Q and out are (b, p) with b a multiple of four."""
    n, b = len(rows), len(Q)
    scores = np.zeros((ROWS, b))
    for start in range(0, n, ROWS):
        last = n - 1  # past the end the last row stands in, with scores of zero
        r0, r1, r2 = rows[start], rows[min(start + 1, last)], rows[min(start + 2, last)]
        r3, r4, r5 = rows[min(start + 3, last)], rows[min(start + 4, last)], rows[min(start + 5, last)]
        for q in range(0, b, 4):
            _scores_of_two(r0, r1, center, Q, q, scores, 0)
            _scores_of_two(r2, r3, center, Q, q, scores, 2)
            _scores_of_two(r4, r5, center, Q, q, scores, 4)
        for i in range(ROWS):
            factor = weight[start + i] if start + i < n else 0.0
            for q in range(b):
                scores[i, q] *= factor
        for q in range(0, b, 2):
            _add_to_two(r0, r1, r2, r3, r4, r5, center, scores, q, out[q], out[q + 1])


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def add_sums(rows: Array, shift: Floats, total: Floats, squares: Floats) -> None:
    """total += Σ (x − shift) and squares += Σ (x − shift)² over rows (n, p), all (p,)."""
    for i in range(len(rows)):
        x = rows[i]
        for j in range(len(shift)):
            apart = x[j] - shift[j]
            total[j] += apart
            squares[j] += apart * apart


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _scores_of_two(x: Array, y: Array, center: Floats, Q: Floats, q: int, scores: Floats, row: int) -> None:
    """Scores of two rows on four vectors: eight sums, as many as keep the multipliers busy."""
    q0, q1, q2, q3 = Q[q], Q[q + 1], Q[q + 2], Q[q + 3]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    for j in range(len(center)):
        u, v = x[j] - center[j], y[j] - center[j]
        a0 += u * q0[j]
        a1 += u * q1[j]
        a2 += u * q2[j]
        a3 += u * q3[j]
        b0 += v * q0[j]
        b1 += v * q1[j]
        b2 += v * q2[j]
        b3 += v * q3[j]
    scores[row, q], scores[row, q + 1], scores[row, q + 2], scores[row, q + 3] = a0, a1, a2, a3
    scores[row + 1, q], scores[row + 1, q + 1], scores[row + 1, q + 2], scores[row + 1, q + 3] = b0, b1, b2, b3


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def _add_to_two(
    r0: Array,
    r1: Array,
    r2: Array,
    r3: Array,
    r4: Array,
    r5: Array,
    center: Floats,
    scores: Floats,
    q: int,
    z0: Floats,
    z1: Floats,
) -> None:
    """Add six rows, times their scores, to two results."""
    a0, a1, a2 = scores[0, q], scores[1, q], scores[2, q]
    a3, a4, a5 = scores[3, q], scores[4, q], scores[5, q]
    b0, b1, b2 = scores[0, q + 1], scores[1, q + 1], scores[2, q + 1]
    b3, b4, b5 = scores[3, q + 1], scores[4, q + 1], scores[5, q + 1]
    for j in range(len(center)):
        c = center[j]
        x0, x1, x2, x3, x4, x5 = r0[j] - c, r1[j] - c, r2[j] - c, r3[j] - c, r4[j] - c, r5[j] - c
        z0[j] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5
        z1[j] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5
