"""Compiled scalar Newton steps for the Kullback–Leibler divergence of sparse rows. Imported only where it pays.

A row of W meets only the stored entries of its row of X. What it needs of H is gathered once, (k, stored), and used in
every sweep; what is fitted at those entries is kept up to date. Nothing is larger than the longest row.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats

Places = NDArray[np.int32] | NDArray[np.int64]

ANY_ORDER = {"reassoc", "contract", "nsz"}

TINY = 1e-150
"""What a fit is never let fall below: one over it can still be multiplied by any part without leaving the range."""

NEAR = 0.683802
"""Length λ of a Newton step, in the local norm, up to which it lowers a self-concordant function: the root of
λ² + λ + log(1 − λ), as in Hien & Gillis 2021; so −log(1 − z) ≤ z + z² up to z = λ."""


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
    with_losses: bool,
    out: Floats,
    losses: Floats,
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps, rows first … last; losses[i] ← Σ x log(x / wh) − x there,
    if wanted.

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
        begin, end = starts[i], starts[i + 1]
        count = end - begin
        x = values[begin:end]
        w = out[i]
        w[:] = W[i]
        gather(Ht, places[begin:end], H)
        fit(H, w, count, fitted)
        if _hopeless(x, fitted):
            _lift(x, added, w)
            fit(H, w, count, fitted)
        _descend(x, H, added, l2, sweeps, w, fitted, inverse)
        if with_losses:
            losses[i] = _loss(x, fitted)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def newton_dense_rows(
    X: Floats,
    W: Floats,
    H: Floats,
    added: Floats,
    l2: float,
    sweeps: int,
    with_losses: bool,
    out: Floats,
    losses: Floats,
) -> None:
    """The same for dense rows X (m, p), which all see the same H (k, p)."""
    m, p = X.shape
    fitted, inverse = np.empty(p), np.empty(p)
    for i in range(m):
        w = out[i]
        w[:] = W[i]
        fit(H, w, p, fitted)
        if _hopeless(X[i], fitted):
            _lift(X[i], added, w)
            fit(H, w, p, fitted)
        _descend(X[i], H, added, l2, sweeps, w, fitted, inverse)
        if with_losses:
            losses[i] = _loss(X[i], fitted)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _descend(
    x: Floats, H: Floats, added: Floats, l2: float, sweeps: int, w: Floats, fitted: Floats, inverse: Floats
) -> None:
    """Sweeps over the coordinates of one row. What one changes of the fit is written down while the next looks at it:
    a coordinate costs one pass with one division an entry, and one without where nothing changed."""
    least = np.inf
    for e in range(len(x)):
        if x[e] > 0.0:
            least = min(least, x[e])
    change, before = 0.0, 0
    for sweep in range(sweeps):
        for t in range(len(w)):
            if change != 0.0 or (sweep == 0 and t == 0):
                taken, curve = _moved_sums(x, H[before], change, H[t], fitted, inverse)
            else:
                taken, curve = _sums(x, H[t], inverse)
            change, before = _newton(w[t], added[t] - taken + l2 * w[t], curve + l2, added[t], least), t
            w[t] = max(w[t] + change, 0.0)
    if change != 0.0:
        for e in range(len(x)):
            fitted[e] = max(fitted[e] + change * H[before, e], TINY)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _newton(w: float, slope: float, curve: float, added: float, least: float) -> float:
    """What a damped Newton step adds to one coordinate."""
    if curve <= 0.0:  # nothing stored depends on it: what is fitted to zeros only costs
        return -w if added > 0.0 else 0.0
    change = max(-slope / curve, -w)
    if change < 0.0:
        length = np.sqrt(curve / least) * -change
        if length > NEAR:
            change /= 1.0 + length
    return change


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _moved_sums(
    x: Floats, moved: Floats, change: float, h: Floats, fitted: Floats, inverse: Floats
) -> tuple[float, float]:
    """Add change · moved to the fit, and give Σ x h / fit and Σ x (h / fit)²."""
    taken = curve = 0.0
    for e in range(len(x)):
        fit = max(fitted[e] + change * moved[e], TINY)
        over = 1.0 / fit
        fitted[e] = fit
        inverse[e] = over
        share = h[e] * over
        part = x[e] * share
        taken += part
        curve += part * share
    return taken, curve


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _sums(x: Floats, h: Floats, inverse: Floats) -> tuple[float, float]:
    """Σ x h / fit and Σ x (h / fit)²."""
    taken = curve = 0.0
    for e in range(len(x)):
        share = h[e] * inverse[e]
        part = x[e] * share
        taken += part
        curve += part * share
    return taken, curve


@numba.njit(nogil=True, cache=True)
def gather(Ht: Floats, places: Places, H: Floats) -> None:
    """H (k, stored) ← rows of Ht, four at a time: single numbers would each be written to another line of the cache."""
    k, count = Ht.shape[1], len(places)
    whole = count // 4 * 4
    for e in range(0, whole, 4):
        a, b, c, d = Ht[places[e]], Ht[places[e + 1]], Ht[places[e + 2]], Ht[places[e + 3]]
        for t in range(k):
            H[t, e] = a[t]
            H[t, e + 1] = b[t]
            H[t, e + 2] = c[t]
            H[t, e + 3] = d[t]
    for e in range(whole, count):
        for t in range(k):
            H[t, e] = Ht[places[e], t]


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
def fit(H: Floats, w: Floats, count: int, fitted: Floats) -> None:
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
        if x[e] > 0.0 and fitted[e] <= 1e-12 * x[e]:
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
        if x[e] > 0.0:
            total += x[e] * np.log(x[e] / fitted[e]) - x[e]
    return total
