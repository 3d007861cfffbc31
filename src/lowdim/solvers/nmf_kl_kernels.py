"""Compiled scalar Newton steps for the Kullback–Leibler divergence of sparse rows. Imported only where it pays.

A row of W meets only the stored entries of its row of X. What it needs of H is gathered once, (k, stored), and used in
every sweep; what is fitted at those entries is kept up to date. Nothing is larger than the longest row.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int32] | NDArray[np.int64]

ANY_ORDER = {"reassoc", "contract", "nsz"}

TINY = 1e-300

NEAR = 0.683802
"""Length λ of a Newton step, in the local norm, up to which it lowers a self-concordant function: the root of
λ² + λ + log(1 − λ), as in Hien & Gillis 2021."""


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
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
    out: Floats,
    losses: Floats,
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps, rows first … last; losses[i] ← Σ x log(x / wh) − x there.

    X is CSR; Ht (p, k); `added` (k,) are the sums of H's rows with the l1 penalty. Damped where a step would be too
    long, so that no step raises the objective (Hien & Gillis 2021, "Algorithms for nonnegative matrix factorization
    with the Kullback–Leibler divergence", algorithm SN).
    """
    k = W.shape[1]
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    H = np.empty((k, longest))
    fitted = np.empty(longest)
    inverse = np.empty(longest)
    for i in range(first, last):
        begin, count = starts[i], starts[i + 1] - starts[i]
        x = values[begin : begin + count]
        w = out[i]
        w[:] = W[i]
        for e in range(count):
            h = Ht[places[begin + e]]
            for t in range(k):
                H[t, e] = h[t]
        _fit(H, w, count, fitted)
        if _hopeless(x, fitted):
            _lift(x, added, w)
            _fit(H, w, count, fitted)
        curve_bound = 0.0
        for e in range(count):
            inverse[e] = 1.0 / fitted[e]
            curve_bound = max(curve_bound, 1.0 / x[e])
        for _ in range(sweeps):
            for t in range(k):
                _newton(x, H[t], fitted, inverse, w, t, added[t], l2, curve_bound)
        losses[i] = _loss(x, fitted)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _newton(
    x: Floats,
    h: Floats,
    fitted: Floats,
    inverse: Floats,
    w: Floats,
    t: int,
    added: float,
    l2: float,
    curve_bound: float,
) -> None:
    """One coordinate of one row: w[t], what is fitted, and one over it, so that only a change costs divisions."""
    taken = 0.0
    curve = l2
    for e in range(len(x)):
        share = h[e] * inverse[e]
        part = x[e] * share
        taken += part
        curve += part * share
    slope = added + l2 * w[t] - taken
    if curve <= 0.0:  # nothing stored depends on it: what is fitted to zeros only costs
        if added > 0.0:
            w[t] = 0.0
        return
    target = max(w[t] - slope / curve, 0.0)
    change = target - w[t]
    if change < 0.0:
        length = np.sqrt(curve_bound * curve) * -change
        if length > NEAR:
            change /= 1.0 + length
    if change == 0.0:
        return
    w[t] += change
    for e in range(len(x)):
        fitted[e] = max(fitted[e] + change * h[e], TINY)
        inverse[e] = 1.0 / fitted[e]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
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
    k = W.shape[1]
    for i in range(first, last):
        w, total = W[i], out[i]
        total[:] = 0.0
        lost = 0.0
        for at in range(starts[i], starts[i + 1]):
            h, x = Ht[places[at]], values[at]
            fit = 0.0
            for t in range(k):
                fit += w[t] * h[t]
            share = x / max(fit, TINY)
            lost += x * np.log(share) - x
            for t in range(k):
                total[t] += share * h[t]
        losses[i] = lost


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _fit(H: Floats, w: Floats, count: int, fitted: Floats) -> None:
    """fitted ← w H at the stored entries."""
    for e in range(count):
        fitted[e] = 0.0
    for t in range(len(w)):
        weight = w[t]
        if weight != 0.0:
            for e in range(count):
                fitted[e] += weight * H[t, e]
    for e in range(count):
        fitted[e] = max(fitted[e], TINY)


@numba.njit(nogil=True, cache=True)
def _hopeless(x: Floats, fitted: Floats) -> bool:
    """Whether something stored is fitted by nothing, from where Newton's steps would take for ever."""
    for e in range(len(x)):  # noqa: SIM110  compiled code has no generators
        if fitted[e] <= 1e-12 * x[e]:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def _lift(x: Floats, added: Floats, w: Floats) -> None:
    """Add to every component a hundredth of an equal share of the row."""
    total = 0.0
    for e in range(len(x)):
        total += x[e]
    for t in range(len(w)):
        if added[t] > 0.0:
            w[t] += 0.01 * total / (len(w) * added[t])


@numba.njit(nogil=True, cache=True)
def _loss(x: Floats, fitted: Floats) -> float:
    """Σ x log(x / fitted) − x."""
    total = 0.0
    for e in range(len(x)):
        total += x[e] * np.log(x[e] / fitted[e]) - x[e]
    return total
