"""Compiled products with a kernel matrix that is never there: tiles of it are made, used, and overwritten.

A tile of 192 × 192 entries stays in the cache of one core; making it again for each product takes as long as reading
it from memory would. The same code runs in float32 and in float64. Imported only where it is used.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.compiled_exponentials import two_to
from lowdim.types import Array, Floats

ANY_ORDER = {"reassoc", "contract", "nsz"}
IN_ORDER = {"contract"}

TILE = 192
"""Rows of a tile."""

STEP = 4
"""Columns that differences are taken of, and vectors that are multiplied, at a time: as many as the registers hold.
Both are filled up with zeros to a multiple of it."""

GAUSSIAN, GAUSSIAN_APART, LAPLACIAN, POLYNOMIAL = range(4)
"""How a tile is made: the second takes differences where products would lose digits."""


@numba.njit(nogil=True, cache=True)
def add_strips(
    kind: int,
    rows: Array,
    others: Array,
    heights: Array,
    factors: Array,
    power: int,
    n: int,
    strips: NDArray[np.int64],
    Q: Array,
    out: Floats,
    sums: Floats,
    summed: bool,
) -> float:
    """Add strips of Q K to out and, with `summed`, of K's row sums to sums; gives their part of K's sum of squares.

    rows is (tiles, TILE, p); others is the same or, where differences are taken, each tile of it transposed. heights
    is (tiles, TILE), what a Gaussian's exponent has of one row alone; factors are the scale and the shift that come
    before the power. Q is (tiles, b, TILE), b a multiple of STEP; out has its shape, sums that of heights. A strip
    holds the tiles from the left to the diagonal; those above the diagonal are their transposes.
    """
    tile = np.empty((TILE, TILE), rows.dtype)
    spare = np.empty(TILE, rows.dtype)
    part = np.empty(Q.shape[1:], rows.dtype)
    squares = 0.0
    for i in strips:
        left = n - i * TILE
        tall = min(TILE, (left + 3) // 4 * 4)  # of the last rows there may be few
        low = tile[:tall]
        for j in range(i + 1):
            make_tile(kind, rows[i][:tall], others[j], heights[i], heights[j], factors, power, low, spare)
            blank(low, left, n - j * TILE)
            if summed:
                square = add_sums(low, spare, sums[i], sums[j], i != j)
                squares += square if i == j else 2.0 * square
            times_transposed(Q[j], low, part)
            add(part, out[i])
            if i != j:
                times(Q[i], low, part)
                add(part, out[j])
    return squares


@numba.njit(nogil=True, cache=True)
def make_tile(
    kind: int,
    rows: Array,
    others: Array,
    down: Array,
    right: Array,
    factors: Array,
    power: int,
    tile: Array,
    spare: Array,
) -> None:
    """Kernel of rows (h, p) with others, (TILE, p), or (p, TILE) where differences are taken, to tile (h, TILE)."""
    if kind == GAUSSIAN:
        np.dot(rows, others.T, tile)
        add_heights(tile, down, right)
        two_to(tile, spare)
    elif kind == POLYNOMIAL:
        np.dot(rows, others.T, tile)
        raise_to(tile, factors[0], factors[1], power, spare)
    else:
        for i in range(len(tile)):
            if kind == GAUSSIAN_APART:
                squared_apart(rows[i], others, factors[0], tile[i])
            else:
                absolute_apart(rows[i], others, factors[0], tile[i])
        two_to(tile, spare)


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def add_heights(tile: Array, down: Array, right: Array) -> None:
    """tile + down + right: exponents −|x − y|² / 2 from products x · y."""
    nothing = tile.dtype.type(0)
    for i in range(len(tile)):
        row, height = tile[i], down[i]
        for j in range(TILE):
            row[j] = min(row[j] + (height + right[j]), nothing)  # rounding must not make a distance negative


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def squared_apart(x: Array, others: Array, scale: Any, row: Array) -> None:
    """scale |x − y|², from differences; scaled afterwards, since close numbers have exact differences."""
    row[:] = 0
    for c in range(0, len(x), STEP):
        x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        y0, y1, y2, y3 = others[c], others[c + 1], others[c + 2], others[c + 3]
        for j in range(TILE):
            d0, d1, d2, d3 = x0 - y0[j], x1 - y1[j], x2 - y2[j], x3 - y3[j]
            row[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
    for j in range(TILE):
        row[j] *= scale


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def absolute_apart(x: Array, others: Array, scale: Any, row: Array) -> None:
    """scale Σ|x − y|."""
    row[:] = 0
    for c in range(0, len(x), STEP):
        x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        y0, y1, y2, y3 = others[c], others[c + 1], others[c + 2], others[c + 3]
        for j in range(TILE):
            row[j] += (abs(x0 - y0[j]) + abs(x1 - y1[j])) + (abs(x2 - y2[j]) + abs(x3 - y3[j]))
    for j in range(TILE):
        row[j] *= scale


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def raise_to(tile: Array, scale: Any, shift: Any, power: int, base: Array) -> None:
    """(scale · tile + shift)^power, for a whole power of one or more."""
    for i in range(len(tile)):
        row = tile[i]
        for j in range(TILE):
            row[j] = base[j] = scale * row[j] + shift
        for _ in range(power - 1):
            for j in range(TILE):
                row[j] *= base[j]


@numba.njit(nogil=True, cache=True)
def blank(tile: Array, rows: int, columns: int) -> None:
    """Zeros past the last row of the data."""
    if rows < len(tile):
        tile[rows:] = 0
    if columns < TILE:
        tile[:, columns:] = 0


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def add_sums(tile: Array, columns: Array, left: Floats, top: Floats, both: bool) -> float:
    """Add row sums to left and, with `both`, column sums to top; gives the sum of squares."""
    squares = 0.0
    columns[:] = 0
    for i in range(len(tile)):
        row = tile[i]
        total = square = row.dtype.type(0)
        for j in range(TILE):
            total += row[j]
            square += row[j] * row[j]
            columns[j] += row[j]
        left[i] += total
        squares += square
    if both:
        for j in range(TILE):
            top[j] += columns[j]
    return squares


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def times(Q: Array, tile: Array, out: Array) -> None:
    """Q tile, (b, TILE): four rows of the tile times two vectors at a time. BLAS is slower for so few vectors."""
    out[:] = 0
    for i in range(0, len(tile), 4):
        t0, t1, t2, t3 = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
        for q in range(0, len(Q), 2):
            a0, a1, a2, a3 = Q[q, i], Q[q, i + 1], Q[q, i + 2], Q[q, i + 3]
            b0, b1, b2, b3 = Q[q + 1, i], Q[q + 1, i + 1], Q[q + 1, i + 2], Q[q + 1, i + 3]
            x, y = out[q], out[q + 1]
            for j in range(TILE):
                x[j] += (a0 * t0[j] + a1 * t1[j]) + (a2 * t2[j] + a3 * t3[j])
                y[j] += (b0 * t0[j] + b1 * t1[j]) + (b2 * t2[j] + b3 * t3[j])


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def times_transposed(Q: Array, tile: Array, out: Array) -> None:
    """Q tileᵀ, (b, TILE): two rows of the tile times four vectors at a time."""
    out[:] = 0
    for i in range(0, len(tile), 2):
        t0, t1 = tile[i], tile[i + 1]
        for q in range(0, len(Q), STEP):
            q0, q1, q2, q3 = Q[q], Q[q + 1], Q[q + 2], Q[q + 3]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = tile.dtype.type(0)
            for j in range(TILE):
                u, v = t0[j], t1[j]
                a0 += u * q0[j]
                a1 += u * q1[j]
                a2 += u * q2[j]
                a3 += u * q3[j]
                b0 += v * q0[j]
                b1 += v * q1[j]
                b2 += v * q2[j]
                b3 += v * q3[j]
            out[q, i], out[q + 1, i], out[q + 2, i], out[q + 3, i] = a0, a1, a2, a3
            out[q, i + 1], out[q + 1, i + 1], out[q + 2, i + 1], out[q + 3, i + 1] = b0, b1, b2, b3


@numba.njit(nogil=True, cache=True)
def add(part: Array, out: Floats) -> None:
    """out += part, in float64."""
    for i in range(len(part)):
        for j in range(part.shape[1]):
            out[i, j] += part[i, j]
