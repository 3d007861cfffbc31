"""Compiled products and sums of dense rows, (n, p) of float64 or float32.

BLAS copies a matrix into its own order before it multiplies, which costs as much as a product with a few vectors.
Here both products of Q YᵀY meet six rows while they are in the cache, and nothing more is copied than these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.runtime.native import Kernel, is_compiled, scratch
from lowdim.types import Array, Floats

ROWS = 6
"""Rows at a time."""

LANES = 8
"""Vectors are filled up with zeros to a multiple of so many numbers."""

_add_normal = Kernel("add_normal", "rows[n,p]:real center[p] low[p] weight[n] Q[b,w] *out[b,w] *six[6,w] *scores[6,b]")

_scores = Kernel("scores", "rows[n,p]:real center[p] Q[b,w] *out[n,k]:real *six[6,w] *scores[6,b]", gives=True)

_add_sums = Kernel("add_sums", "rows[n,p]:real shift[p] *total[p] *squares[p]")


def takes(rows: Any) -> bool:
    """Whether there is compiled code for such rows: numbers of one row lie side by side."""
    return (
        is_compiled()
        and isinstance(rows, np.ndarray)
        and rows.dtype in (np.float64, np.float32)
        and rows.strides[1] == rows.itemsize
        and rows.strides[0] % rows.itemsize == 0
    )


def _aligned(rows: Array) -> Array:
    """Rows that begin at a multiple of their numbers' size, which those of a message need not; a piece at a time, they
    are copied, so that the bits of a result do not depend on how rows came."""
    return rows if rows.flags.aligned else rows.copy()


def add_normal(rows: Array, center: Floats, low: Floats, weight: Floats, Q: Floats, out: Floats) -> None:
    """out += Q Yᵀ diag(weight) Y for Y = (rows − center) − low, (n, p).

    Q and out are (b, w): b a multiple of four, w of LANES, as `filled` makes them; Q has zeros from its column p on.
    """
    assert len(Q) % 4 == 0
    assert Q.shape[1] % LANES == 0
    assert Q.shape[1] >= rows.shape[1]
    _add_normal(_aligned(rows), center, low, weight, Q, out, scratch(ROWS, Q.shape[1]), scratch(ROWS, len(Q)))


def scores_of(rows: Array, center: Floats, V: Floats) -> Array | None:
    """(rows − center) Vᵀ, (n, k), in the type of the rows; None where a score is not finite."""
    k = len(V)
    Q, out = filled(V), np.empty((len(rows), k), rows.dtype)
    found: float = _scores(_aligned(rows), center, Q, out, scratch(ROWS, Q.shape[1]), scratch(ROWS, len(Q)))
    return out if found == 0.0 else None


def filled(Q: Floats) -> Floats:
    """A copy of vectors (b, p) as `add_normal` takes them, filled up with zeros."""
    b, p = Q.shape
    made = scratch(-(-b // 4) * 4, -(-p // LANES) * LANES)
    made[:b, :p] = Q
    made[b:] = 0.0
    made[:, p:] = 0.0
    return made


def add_sums(rows: Array, shift: Floats, total: Floats, squares: Floats) -> None:
    """total += Σ (x − shift) and squares += Σ (x − shift)² over rows (n, p), all (p,)."""
    _add_sums(_aligned(rows), shift, total, squares)
