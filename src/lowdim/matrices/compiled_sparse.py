"""Compiled products of sparse rows, CSR of float64 or float32, with 1, 2, 4 or 8 vectors that lie side by side.

What an entry is multiplied with, and what it is added to, lies together: four vectors take hardly longer than one, and
a product with Xᵀ X meets each row once, while it is in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.runtime.native import Kernel, is_compiled
from lowdim.types import Floats

WIDTHS = (1, 2, 4, 8)
"""Numbers of vectors that there is code for."""

WIDEST = WIDTHS[-1]

_normal = Kernel(
    "csr_normal",
    "starts[n1]:index places[m]:index values[m]:real weight[n] shift[b] V[p,b] *out[p,b] *total[b]",
)

_times = Kernel("csr_times", "starts[n1]:index places[m]:index values[m]:real V[p,b] *out[n,b]")

_transposed = Kernel("csr_transposed_times", "starts[n1]:index places[m]:index values[m]:real U[n,b] *out[p,b]")

_column_sums = Kernel(
    "csr_column_sums",
    "starts[n1]:index places[m]:index values[m]:real weight[n] near[p] *sums[p,8]",
)


def takes_sparse(rows: Any) -> bool:
    """Whether there is code for such rows."""
    return (
        is_compiled()
        and rows.format == "csr"
        and rows.data.dtype in (np.float64, np.float32)
        and rows.indices.dtype == rows.indptr.dtype
    )


def side_by_side(Q: Floats) -> Floats:
    """(p, w) vectors in the rows of Q, (b, p), b of at most WIDEST, and as many zeros as there must be."""
    width = next(one for one in WIDTHS if one >= len(Q))
    V = np.zeros((Q.shape[1], width)) if len(Q) < width else np.empty((Q.shape[1], width))
    V[:, : len(Q)] = Q.T
    return V


def csr_normal(X: Any, weight: Floats, shift: Floats, V: Floats, out: Floats, total: Floats) -> None:
    """S = diag(weight) (X V − 1 shiftᵀ); out (p, b) += Xᵀ S and total (b,) += Σ S over rows, for V (p, b)."""
    _check(X, V, out)
    _normal(X.indptr, X.indices, X.data, weight, shift, V, out, total)


def csr_times(X: Any, V: Floats, out: Floats) -> None:
    """out (n, b) ← X V, for V (p, b)."""
    _check(X, V, out)
    _times(X.indptr, X.indices, X.data, V, out)


def csr_transposed_times(X: Any, U: Floats, out: Floats) -> None:
    """out (p, b) += Xᵀ U, for U (n, b)."""
    _check(X, U, out)
    _transposed(X.indptr, X.indices, X.data, U, out)


def csr_column_sums(X: Any, weight: Floats, near: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """All (p,), over what is stored, for x less `near`: Σ w, Σ w x and Σ w x², how many, and how many are not zero."""
    assert len(X.indptr) == len(weight) + 1
    assert X.shape[1] == len(near)
    sums = np.zeros((len(near), 8))
    _column_sums(X.indptr, X.indices, X.data, weight, near, sums)
    out = np.ascontiguousarray(sums.T)
    return out[0], out[1], out[2], out[3], out[4]


def _check(X: Any, one: Floats, other: Floats) -> None:
    """What a declaration cannot say: shapes that fit the matrix, vectors that lie side by side."""
    n, p = X.shape
    sides = {len(one), len(other)}
    assert sides <= {n, p}
    assert len(X.indptr) == n + 1
    assert one.shape[1] in WIDTHS
    assert one.flags.c_contiguous
    assert other.flags.c_contiguous
