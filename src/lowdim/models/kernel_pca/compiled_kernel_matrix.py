"""Compiled products with a kernel matrix that is never there: tiles of it are made, used, and overwritten.

A tile of 192 × 192 entries stays in the cache of one core; making it again for each product takes as long as reading
it from memory would. The same code runs in float32 and in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.native import Kernel, scratch
from lowdim.types import Array, Floats

TILE = 192
"""Rows of a tile."""

STEP = 4
"""Columns that differences are taken of, and vectors that are multiplied, at a time: as many as the registers hold.
Both are filled up with zeros to a multiple of it."""

GAUSSIAN, GAUSSIAN_APART, LAPLACIAN, POLYNOMIAL = range(4)
"""How a tile is made: the second takes differences where products would lose digits."""

_add_strips = Kernel(
    "add_strips",
    "kind:int rows[t,p,192]:real heights[t,192]:real scale shift power:int n:int strips[m]:int64 Q[t,b,192]:real "
    "*out[t,b,192] *sums[t,192] summed:int *tile[192,192]:real *part[b,192]:real",
    gives=True,
)


def add_strips(
    kind: int,
    rows: Array,
    heights: Array,
    scale: float,
    shift: float,
    power: int,
    n: int,
    strips: NDArray[np.int64],
    Q: Array,
    out: Floats,
    sums: Floats,
    summed: bool,
) -> float:
    """Add strips of Q K to out and, with `summed`, of K's row sums to sums; gives their part of K's sum of squares.

    rows is (tiles, p, TILE), the transpose of each tile of rows, p a multiple of STEP. heights is (tiles, TILE), what
    a Gaussian's exponent has of one row alone; scale and shift come before the power. Q is (tiles, b, TILE), b a
    multiple of STEP; out has its shape, sums that of heights. A strip holds the tiles from the left to the diagonal;
    those above the diagonal are their transposes.
    """
    assert rows.shape[1] % STEP == 0
    assert Q.shape[1] % STEP == 0
    tile, part = scratch(TILE, TILE, dtype=rows.dtype), scratch(Q.shape[1], TILE, dtype=rows.dtype)
    return float(_add_strips(kind, rows, heights, scale, shift, power, n, strips, Q, out, sums, summed, tile, part))
