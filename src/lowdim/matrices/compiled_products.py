"""Compiled products and sums of dense rows, (n, p) of float64 or float32.

BLAS copies a matrix into its own order before it multiplies, which costs as much as a product with a few vectors.
Here both products of Q YᵀY meet six rows while they are in the cache, and nothing is copied.
"""

from __future__ import annotations

from lowdim.runtime.native import Kernel, scratch
from lowdim.types import Array, Floats

ROWS = 6
"""Rows at a time."""

_add_normal = Kernel("add_normal", "rows[n,p]:real center[p] weight[n] Q[b,p] *out[b,p] *scores[6,b]")

_add_sums = Kernel("add_sums", "rows[n,p]:real shift[p] *total[p] *squares[p]")


def add_normal(rows: Array, center: Floats, weight: Floats, Q: Floats, out: Floats) -> None:
    """out += Q Yᵀ diag(weight) Y for Y = rows − center, (n, p); Q and out are (b, p) with b a multiple of four."""
    assert len(Q) % 4 == 0
    _add_normal(rows, center, weight, Q, out, scratch(ROWS, len(Q)))


def add_sums(rows: Array, shift: Floats, total: Floats, squares: Floats) -> None:
    """total += Σ (x − shift) and squares += Σ (x − shift)² over rows (n, p), all (p,)."""
    _add_sums(rows, shift, total, squares)
