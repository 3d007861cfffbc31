"""Compiled products, sums and scatters of dense rows, (n, p) of float64, float32 or, scatters, of whole bytes.

BLAS copies a matrix into its own order before it multiplies, which costs as much as a product with a few vectors.
Here both products of Q YᵀY meet six rows while they are in the cache, and nothing more is copied than these. A scatter
does need BLAS's own order, but what it writes can be converted and shifted on the way, and does for both factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.runtime.native import Kernel, is_compiled, level, scratch
from lowdim.types import Array, Floats

ROWS = 6
"""Rows at a time."""

LANES = 8
"""Vectors are filled up with zeros to a multiple of so many numbers."""

_add_normal = Kernel("add_normal", "rows[n,p]:real center[p] low[p] weight[n] Q[b,w] *out[b,w] *six[6,w] *scores[6,b]")

_scores = Kernel("scores", "rows[n,p]:real center[p] Q[b,w] *out[n,k]:real *six[6,w] *scores[6,b]", gives=True)

_add_sums = Kernel("add_sums", "rows[n,p]:real shift[p] *total[p] *squares[p]")

_add_scatter = Kernel("add_scatter", "rows[n,p]:real shift[p] *panel[m] *sums[p] *total[p] *scatter[p,p] height:int")

_add_exact_scatter = Kernel(
    "add_exact_scatter",
    "rows[n,p]:small shift[p]:int16 *panel[m]:int16 *sums[p]:int32 *total[p] *scatter[p,p] height:int",
)

_mirror = Kernel("mirror", "*scatter[p,p]")

PANEL_ROWS = 128
"""Rows of float64 that a tile of a scatter takes up at a time: three strips of so many stay in a cache of 32 kB."""

PANEL_BYTE_ROWS = 512
"""The same of bytes."""

MIRROR_ROWS = 256
"""Rows of a matrix whose lower half is filled at a time, so that both halves stay in cache."""

WIDEST_STRIP = 16
"""Columns."""


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


def takes_scatter(rows: Any) -> bool:
    """Whether a scatter of such rows is compiled: of bytes everywhere, as it is exact; of float64 and float32 from AVX2
    on, where it takes 0.4 to 0.9 of the time of copies and OpenBLAS's kernels for AVX2, with AVX-512 0.4."""
    if not is_compiled() or not isinstance(rows, np.ndarray) or rows.strides[1] != rows.itemsize:
        return False
    return rows.dtype in (np.int8, np.uint8, np.bool_) or (level() in ("v3", "v4") and takes(rows))


def scatter_speed(dtype: Any) -> float:
    """Rows times columns squared that a second forms the scatter of, on two cores of 2024."""
    if not is_compiled():
        return BLAS_SPEED
    if dtype in (np.int8, np.uint8, np.bool_):
        return 3 * COMPILED_SPEEDS.get(level() or "", BLAS_SPEED)
    return COMPILED_SPEEDS.get(level() or "", BLAS_SPEED)


BLAS_SPEED = 70e9

COMPILED_SPEEDS = {"v4": 140e9, "v3": 80e9}


def add_scatter(rows: Array, shift: Floats, total: Floats, scatter: Floats) -> None:
    """total += Σ (x − shift), (p,), and scatter += Σ (x − shift)(x − shift)ᵀ, (p, p), in its upper half, beside which
    the lower one is written to as well.

    Sums of PANEL_ROWS rows are added to what is there; of bytes, whose shift must be whole and one of theirs, all is
    exact as long as no sum of squares exceeds 2⁵³.
    """
    p = len(shift)
    if rows.itemsize > 1:
        _add_scatter(_aligned(rows), shift, scratch(_panel(p, PANEL_ROWS)), scratch(p), total, scatter, PANEL_ROWS)
        return
    rows = rows.view(np.uint8) if rows.dtype == np.bool_ else rows
    panel = scratch(_panel(p, PANEL_BYTE_ROWS), dtype=np.int16)
    sums = scratch(p, dtype=np.int32)
    _add_exact_scatter(rows, shift.astype(np.int16), panel, sums, total, scatter, PANEL_BYTE_ROWS)


def mirror(scatter: Floats) -> None:
    """Fill the lower half of a symmetric matrix (p, p) from the upper one, in place."""
    if is_compiled():
        _mirror(scatter)
        return
    for start in range(0, len(scatter), MIRROR_ROWS):
        rows = slice(start, start + MIRROR_ROWS)
        scatter[rows, :start] = scatter[:start, rows].T
        square = scatter[rows, rows]
        square[:] = np.triu(square) + np.triu(square, 1).T


def _panel(p: int, rows: int) -> int:
    """Numbers of a panel: whole strips, with a line of the cache between each and the next."""
    return -(-p // WIDEST_STRIP) * WIDEST_STRIP * (rows + 2)
