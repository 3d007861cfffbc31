"""Compiled scalar Newton steps for the Kullback–Leibler divergence: complete rows, entries with weights, codes of rows.

A row of W meets only the stored entries of its row of X. What it needs of H is gathered once, (k, stored), and used in
every sweep; what is fitted at those entries is kept up to date. Nothing is larger than the longest row. `plain_steps`
has the twins of all of them.
"""

from __future__ import annotations

from lowdim.models.nmf.solvers.compiled_least_squares import STORED, Given, Places, Stored, longest_row
from lowdim.runtime.native import Kernel, scratches
from lowdim.types import Floats

SIDE = 16
"""Samples side by side."""

_newton_rows = Kernel(
    "newton_rows",
    "starts[n1]:index places[stored]:index values[stored] first:int last:int W[n,k] Ht[p,k] added[k] l2 sweeps:int "
    "jointly:int with_losses:int *out[n,k] *losses[n] *H[k,longest] *rows[5,longest] *G[k,k] *small[3,k]",
)

_newton_dense_rows = Kernel(
    "newton_dense_rows",
    "X[n,p] W[n,k] H[k,p] added[k] l2 sweeps:int jointly:int with_losses:int *out[n,k] *losses[n] *rows[4,p] "
    "*G[k,k] *small[3,k]",
)

_newton_dense_columns = Kernel(
    "newton_dense_columns",
    "Y[p,n] W[n,k] H[k,p] added[k] l2 sweeps:int jointly:int with_losses:int *out[n,k] *losses[n] *fitted[pside] "
    "*small[kside] *G[gside]",
)

_taken_rows = Kernel(
    "taken_rows",
    "starts[n1]:index places[stored]:index values[stored] first:int last:int W[n,k] Ht[p,k] *out[n,k] *losses[n] "
    "*H[k,longest] *rows[1,longest]",
)

_newton_weighted_rows = Kernel(
    "newton_weighted_rows",
    f"{STORED} Ht[p,k] whole[k] l1 l2 W[n,k] sweeps:int *out[n,k] *losses[n] *H[k,longest] *rows[5,longest] *added[k]",
)

_newton_codes = Kernel(
    "newton_codes",
    f"{STORED} Ht[p,k] whole[k] l1 l2 tol most:int *W[n,k] *residuals[n] *H[k,longest] *rows[5,longest] *curve[k,k] "
    "*L[k,k] *small[4,k]",
)


def newton_rows(
    starts: Places,
    places: Places,
    values: Floats,
    first: int,
    last: int,
    W: Floats,
    Ht: Floats,
    added: Floats,
    l2: float,
    sweeps: int,
    jointly: bool,
    with_losses: bool,
    out: Floats,
    losses: Floats,
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps, rows first … last; losses[i] ← Σ x log(x / wh) − x there,
    if wanted, otherwise 0.

    X is CSR; Ht (p, k); `added` (k,) are the sums of H's rows with the l1 penalty. Damped where a step would be too
    long, so that no step raises the objective (Hien & Gillis 2021, "Algorithms for nonnegative matrix factorization
    with the Kullback–Leibler divergence", algorithm SN).

    With `jointly` all coordinates of a row move once together after their sweeps, d, to about the least of their common
    quadratic model g·d + ½ dᵀGd, no number losing more than a share SAFE_STEP of itself: nothing fitted then falls by
    more. As −log(1 − z) ≤ z + z² for a fall by such a share z, the objective changes by at most g·d + dᵀGd, and d is
    cut to where that is not above zero. At the least of the model it never is, as g·d ≤ −dᵀGd there.
    """
    k, longest = W.shape[1], longest_row(starts, first, last)
    room = scratches((k, longest), (5, longest), (k, k), (3, k))
    _newton_rows(
        starts, places, values, first, last, W, Ht, added, l2, sweeps, jointly, with_losses, out, losses, *room
    )


def newton_dense_rows(
    X: Floats,
    W: Floats,
    H: Floats,
    added: Floats,
    l2: float,
    sweeps: int,
    jointly: bool,
    with_losses: bool,
    out: Floats,
    losses: Floats,
) -> None:
    """The same for dense rows X (m, p), which all see the same H (k, p)."""
    k = len(H)
    room = scratches((4, X.shape[1]), (k, k), (3, k))
    _newton_dense_rows(X, W, H, added, l2, sweeps, jointly, with_losses, out, losses, *room)


def newton_dense_columns(
    Y: Floats,
    W: Floats,
    H: Floats,
    added: Floats,
    l2: float,
    sweeps: int,
    jointly: bool,
    with_losses: bool,
    out: Floats,
    losses: Floats,
) -> None:
    """The same for Y = Xᵀ (p, m), 16 samples side by side: where rows are short, sums along them take longer."""
    k, p = H.shape
    room = scratches((4 * SIDE * p,), (4 * SIDE * k,), (SIDE * k * (k + 1) // 2,))
    _newton_dense_columns(Y, W, H, added, l2, sweeps, jointly, with_losses, out, losses, *room)


def taken_rows(
    starts: Places,
    places: Places,
    values: Floats,
    first: int,
    last: int,
    W: Floats,
    Ht: Floats,
    out: Floats,
    losses: Floats,
) -> None:
    """out[i] ← Σ x / wh · h over the stored entries of rows first … last: what the gradient by W takes off; losses[i]
    as above."""
    longest = longest_row(starts, first, last)
    room = scratches((W.shape[1], longest), (1, longest))
    _taken_rows(starts, places, values, first, last, W, Ht, out, losses, *room)


# Entries with weights.


def newton_weighted_rows(
    stored: Stored, first: int, last: int, given: Given, W: Floats, sweeps: int, out: Floats, losses: Floats
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps, rows first … last, for the Kullback–Leibler divergence.

    The whole are the sums of H's rows, (k,). Zeros only cost what is fitted to them: of stored entries those
    above zero are gathered, the others are met once. losses[i] ← Σ m (x log(x / wh) − x + wh) of the row.
    """
    k, longest = W.shape[1], longest_row(stored[0], first, last)
    room = scratches((k, longest), (5, longest), (k,))
    _newton_weighted_rows(*stored, first, last, *given, W, sweeps, out, losses, *room)


# Codes of rows, each to a tolerance of its own.


def newton_codes(
    stored: Stored, first: int, last: int, given: Given, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, for the Kullback–Leibler divergence; whole (k,) are the sums of H's rows."""
    k, longest = W.shape[1], longest_row(stored[0], first, last)
    room = scratches((k, longest), (5, longest), (k, k), (k, k), (4, k))
    _newton_codes(*stored, first, last, *given, tol, most, W, residuals, *room)
