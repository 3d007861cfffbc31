"""Compiled steps of non-negative least squares: sweeps over both factors, entries with weights, codes of rows.

Codes are found by cyclic coordinate descent, which tells which numbers are zero; now and then Newton's step for all
others together ends what single coordinates would take long for: the inner step of Lawson & Hanson 1974, "Solving least
squares problems". Neither ever raises the objective. `plain_steps` has the twins of all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.native import Kernel, scratch, scratches
from lowdim.types import Floats

Places = NDArray[np.int32] | NDArray[np.int64]

Stored = tuple[Places, Places, Floats, Floats, float]
"""What is known of X: starts, places and values of CSR, weights of these, and the weight u of all other entries."""

Given = tuple[Floats, Floats, float, float]
"""What a factor is solved for: the other, Ht (p, k); what zeros need of the whole of it; and penalties l1 and l2."""

WIDTH = 64
"""Samples at a time: their numbers stay in the nearest cache."""

STORED = "starts[n1]:index places[stored]:index values[stored] weights[stored] unstored first:int last:int"
"""Of declarations: what is stored, and rows first … last."""

_sweep = Kernel("sweep", "F[k,m] A[k,m] G[k,k] l1 l2 most:int still *out[k,m] *lanes[k,64]")

_extrapolate = Kernel("extrapolate", "after[k,m] before[k,m] ahead *out[k,m]")

_hals_steps = Kernel(
    "hals_steps",
    "X[tiles,p,64] *here[k,wide] *there[k,wide] *costs[most] *state[6] growth ceiling_growth square "
    "l1_W l2_W l1_H l2_H sweeps:int still *A[k,64] *lanes[k,64] *B[k,padded] *G[k,k] *inner[k,k]",
)

_descend_weighted_rows = Kernel(
    "descend_weighted_rows",
    f"{STORED} Ht[p,k] whole[k,k] l1 l2 W[n,k] sweeps:int *out[n,k] *losses[n] *H[k,longest] *rows[3,longest] "
    "*curves[k]",
)

_gradient_rows = Kernel(
    "gradient_rows",
    f"{STORED} W[n,k] Ht[p,k] counts:int *taken[n,k] *added[n,k] *sums[k]",
)

_least_squares_codes = Kernel(
    "least_squares_codes", "G[k,k] A[n,k] l1 l2 tol most:int *W[n,k] *residuals[n] *L[k,k] *rows[3,k]"
)

_weighted_least_squares_codes = Kernel(
    "weighted_least_squares_codes",
    f"{STORED} Ht[p,k] whole[k,k] l1 l2 tol most:int *W[n,k] *residuals[n] *G[k,k] *L[k,k] *rows[4,k]",
)


def sweep(
    F: Floats, A: Floats, G: Floats, l1: float, l2: float, out: Floats, most: int = 1, still: float = 0.0
) -> None:
    """out (k, m) ← F after sweeps over its k rows, each set to its best given the others: A = H Xᵀ, G = H Hᵀ.

    So many sweeps at most, until 64 samples together change by no more than a share `still` of what the first changed.
    """
    _sweep(F, A, G, l1, l2, most, still, out, scratch(len(F), WIDTH))


def extrapolate(new: Floats, old: Floats, ahead: float, out: Floats) -> None:
    """out ← max(new + ahead (new − old), 0)."""
    _extrapolate(new, old, ahead, out)


def tiled(X: Floats) -> Floats:
    """X (n, p) in tiles of 64 rows, (tiles, p, 64), the last filled up with zeros."""
    n, p = X.shape
    tiles = -(-n // WIDTH)
    made = scratch(tiles, p, WIDTH)
    whole = n // WIDTH
    made[:whole] = X[: whole * WIDTH].reshape(whole, WIDTH, p).transpose(0, 2, 1)
    made[whole:] = 0.0
    if whole < tiles:
        made[whole, :, : n - whole * WIDTH] = X[whole * WIDTH :].T
    return made


def hals_steps(
    tiles: Floats,
    here: Floats,
    there: Floats,
    costs: Floats,
    state: Floats,
    growth: tuple[float, float],
    square: float,
    penalties: tuple[float, float, float, float],
    sweeps: int,
    still: float,
) -> None:
    """Steps of both factors of `tiled` rows, extrapolated, as many as there are costs or up to the first refused one.

    `here` (k, wide) holds W, Wy, H and Hy of `Beyond` side by side, each filled up with zeros to whole tiles; those of
    the last accepted step are in `here` where the number of accepted steps is even, otherwise in `there`. state (6,):
    share, ceiling, whether the next step is plain, and the last objective, then how many were accepted, and made.
    """
    k, wide = here.shape
    samples = len(tiles) * WIDTH
    padded = wide // 2 - samples
    assert padded >= tiles.shape[1]
    assert padded % WIDTH == wide % 2 == 0
    assert here.flags.c_contiguous
    assert there.flags.c_contiguous
    room = scratches((k, WIDTH), (k, WIDTH), (k, padded), (k, k), (k, k))
    _hals_steps(tiles, here, there, costs, state, *growth, square, *penalties, sweeps, still, *room)


# Entries with weights. A row of W meets the stored entries of its row of X: what it needs of H is gathered once,
# (k, stored), and what is fitted there is kept up to date. Other entries have weight u and enter through sums over all
# of H.


def descend_weighted_rows(
    stored: Stored, first: int, last: int, given: Given, W: Floats, sweeps: int, out: Floats, losses: Floats
) -> None:
    """out ← W (n, k) after sweeps in which each coordinate goes to its best, rows first … last, for least squares.

    The whole is H Hᵀ, (k, k); losses[i] ← ½ Σ m (x − wh)² of the row.
    """
    longest = longest_row(stored[0], first, last)
    room = scratches((W.shape[1], longest), (3, longest), (W.shape[1],))
    _descend_weighted_rows(*stored, first, last, *given, W, sweeps, out, losses, *room)


def gradient_rows(
    stored: Stored, first: int, last: int, W: Floats, Ht: Floats, counts: bool, taken: Floats, added: Floats
) -> None:
    """What the gradient by W takes off, and what it adds, (n, k), where `added` holds that of zeros of weight u; for
    counts (β = 1) or least squares."""
    _gradient_rows(*stored, first, last, W, Ht, counts, taken, added, scratch(W.shape[1]))


def longest_row(starts: Places, first: int, last: int) -> int:
    """Stored entries of the longest row, and a few more that make whole lines of the cache: `gather` writes lines."""
    longest = int(np.diff(starts[first : last + 1]).max(initial=0))
    return -(-longest // 8) * 8


# Codes of rows, each to a tolerance of its own.


def least_squares_codes(
    G: Floats, A: Floats, l1: float, l2: float, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, of rows with A = X Hᵀ (n, k) and G = H Hᵀ (k, k), and the KKT residual of each."""
    k = len(G)
    _least_squares_codes(G, A, l1, l2, tol, most, W, residuals, scratch(k, k), scratch(3, k))


def weighted_least_squares_codes(
    stored: Stored, first: int, last: int, given: Given, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """The same for rows first … last of a CSR matrix with weights, each with a G of its own; whole = H Hᵀ."""
    k = W.shape[1]
    room = scratches((k, k), (k, k), (4, k))
    _weighted_least_squares_codes(*stored, first, last, *given, tol, most, W, residuals, *room)
