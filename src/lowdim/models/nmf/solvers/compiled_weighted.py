"""Compiled half-steps for entries with weights. Imported only where there are rows enough to pay for it.

A row of W meets the stored entries of its row of X: what it needs of H is gathered once, (k, stored), and what is
fitted there is kept up to date. Entries that are not stored have weight u and enter through sums over all of H.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from lowdim.models.nmf.solvers.compiled_newton import ANY_ORDER, NEAR, TINY, fit, gather
from lowdim.types import Floats

Places = NDArray[np.int32] | NDArray[np.int64]

LOST = 1e-12
"""Share of a sum over all of H below which what is left after taking off missing entries is rounding."""


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def descend_rows(
    starts: Places,
    places: Places,
    values: Floats,
    weights: Floats,
    unstored: float,
    first: int,
    last: int,
    W: Floats,
    Ht: Floats,
    whole: Floats,
    l1: float,
    l2: float,
    sweeps: int,
    out: Floats,
    losses: Floats,
) -> None:
    """out ← W (n, k) after sweeps in which each coordinate goes to its best, rows first … last, for least squares.

    X is CSR, Ht (p, k), whole (k, k) = H Hᵀ; losses[i] ← ½ Σ m (x − wh)² of the row.
    """
    k = W.shape[1]
    longest = longest_row(starts, first, last)
    H, fitted, net, pull = np.empty((k, longest)), np.empty(longest), np.empty(longest), np.empty(longest)
    for i in range(first, last):
        begin, count = starts[i], starts[i + 1] - starts[i]
        x, m = values[begin : begin + count], weights[begin : begin + count]
        w = out[i]
        w[:] = W[i]
        gather(Ht, places[begin : begin + count], H)
        fit(H, w, count, fitted)
        for e in range(count):
            net[e] = m[e] - unstored
            pull[e] = net[e] * fitted[e] - m[e] * x[e]
        for _ in range(sweeps):
            for t in range(k):
                _to_its_best(H[t], net[:count], pull, w, t, whole[t], unstored, l1, l2)
        fit(H, w, count, fitted)
        lost = 0.5 * unstored * _quadratic(whole, w)
        for e in range(count):
            lost += 0.5 * (m[e] * (x[e] - fitted[e]) ** 2 - unstored * fitted[e] ** 2)
        losses[i] = lost


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _to_its_best(
    h: Floats, net: Floats, pull: Floats, w: Floats, t: int, whole: Floats, unstored: float, l1: float, l2: float
) -> None:
    """w[t] given all others; pull = (m − u) wh − m x at stored entries goes with it."""
    slope, curve = l1 + l2 * w[t], l2
    for e in range(len(net)):
        slope += pull[e] * h[e]
        curve += net[e] * h[e] * h[e]
    if unstored > 0.0:
        curve += unstored * whole[t]
        for s in range(len(w)):
            slope += unstored * whole[s] * w[s]
    if curve <= LOST * unstored * whole[t]:  # nothing that is known depends on it
        change = -w[t] if l1 > 0.0 else 0.0
    else:
        change = max(w[t] - slope / curve, 0.0) - w[t]
    if change != 0.0:
        w[t] += change
        for e in range(len(net)):
            pull[e] += change * net[e] * h[e]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def newton_rows(
    starts: Places,
    places: Places,
    values: Floats,
    weights: Floats,
    unstored: float,
    first: int,
    last: int,
    W: Floats,
    Ht: Floats,
    whole: Floats,
    l1: float,
    l2: float,
    sweeps: int,
    out: Floats,
    losses: Floats,
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps, rows first … last, for the Kullback–Leibler divergence.

    As above, but whole (k,) are the sums of H's rows. Zeros only cost what is fitted to them: of stored entries those
    above zero are gathered, the others are met once. losses[i] ← Σ m (x log(x / wh) − x + wh) of the row.
    """
    k = W.shape[1]
    longest = longest_row(starts, first, last)
    H, fitted, inverse = np.empty((k, longest)), np.empty(longest), np.empty(longest)
    x, m, mx, added = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(k)
    for i in range(first, last):
        span = slice(starts[i], starts[i + 1])
        w = out[i]
        w[:] = W[i]
        count = gather_positive(values[span], weights[span], places[span], Ht, whole, unstored, H, x, m, added)
        for e in range(count):
            mx[e] = m[e] * x[e]
        lift_where_hopeless(H, x[:count], mx, added, w, fitted)
        for e in range(count):
            inverse[e] = 1.0 / fitted[e]
        for _ in range(sweeps):
            for t in range(k):
                newton(mx[:count], H[t], fitted, inverse, w, t, added[t] + l1, l2, LOST * unstored * whole[t])
        lost = 0.0
        for t in range(k):
            lost += w[t] * added[t]
        for e in range(count):
            lost += m[e] * (_divergence(x[e], fitted[e]) - fitted[e])
        losses[i] = lost


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def gather_positive(
    values: Floats,
    weights: Floats,
    places: Places,
    Ht: Floats,
    whole: Floats,
    unstored: float,
    H: Floats,
    x: Floats,
    m: Floats,
    added: Floats,
) -> int:
    """Of one row: H (k, positive), x and m where m x > 0, whose number is given back, and added = Σ m h of all."""
    k = len(added)
    for t in range(k):
        added[t] = unstored * whole[t]
    count = 0
    for e in range(len(values)):
        h, net = Ht[places[e]], weights[e] - unstored
        if net != 0.0:
            for t in range(k):
                added[t] += net * h[t]
        if weights[e] * values[e] > 0.0:
            x[count], m[count] = values[e], weights[e]
            for t in range(k):
                H[t, count] = h[t]
            count += 1
    for t in range(k):
        added[t] = max(added[t], 0.0)
    return count


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def newton(
    mx: Floats,
    h: Floats,
    fitted: Floats,
    inverse: Floats,
    w: Floats,
    t: int,
    added: float,
    l2: float,
    lost: float,
) -> None:
    """One coordinate of one row: w[t], what is fitted, and one over it, so that only a change costs divisions.

    A step down is cut where something fitted would fall by more than the share NEAR. Before that, with z the share by
    which each falls, −log(1 − z) ≤ z + z² makes a share α ≤ 1 of Newton's step change the objective by at most
    −α (1 − α) curve · step²: it never rises. Hien & Gillis bound all z by the smallest count; taking each as it is
    cuts less, and cuts no more where weights are small. A step up needs none: the slope is concave.
    """
    taken, curve = 0.0, l2
    for e in range(len(mx)):
        share = h[e] * inverse[e]
        part = mx[e] * share
        taken += part
        curve += part * share
    if curve <= 0.0:  # no count depends on it: what is fitted to zeros only costs, and what is not known does not
        if added > lost:
            w[t] = 0.0
        return
    change = max(w[t] - (added + l2 * w[t] - taken) / curve, 0.0) - w[t]
    if change < 0.0:
        steepest = 0.0
        for e in range(len(mx)):
            steepest = max(steepest, h[e] * inverse[e])
        change = max(change, -NEAR / steepest) if steepest > 0.0 else change
    if change == 0.0:
        return
    w[t] += change
    for e in range(len(mx)):
        fitted[e] = max(fitted[e] + change * h[e], TINY)
        inverse[e] = 1.0 / fitted[e]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def lift_where_hopeless(H: Floats, x: Floats, mx: Floats, added: Floats, w: Floats, fitted: Floats) -> None:
    """fitted ← wH; before that, where a count is fitted by next to nothing, from where Newton's steps would take for
    ever, every component gets a hundredth of an equal share of the row."""
    k, count = len(w), len(x)
    fit(H, w, count, fitted)
    hopeless = False
    for e in range(count):
        if fitted[e] <= 1e-12 * x[e]:
            reach = 0.0
            for t in range(k):
                reach += H[t, e]
            hopeless = hopeless or reach > 0.0  # what no component reaches is lost anyway
    if not hopeless:
        return
    total = 0.0
    for e in range(count):
        total += mx[e]
    for t in range(k):
        if added[t] > 0.0:
            w[t] += 0.01 * total / (k * added[t])
    fit(H, w, count, fitted)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def parts_rows(
    starts: Places,
    places: Places,
    values: Floats,
    weights: Floats,
    unstored: float,
    first: int,
    last: int,
    W: Floats,
    Ht: Floats,
    counts: bool,
    taken: Floats,
    added: Floats,
) -> None:
    """What the gradient by W takes off, and what it adds, (n, k), where `added` holds that of zeros of weight u; for
    counts (β = 1) or least squares."""
    k = W.shape[1]
    for i in range(first, last):
        w, off, on = W[i], taken[i], added[i]
        off[:] = 0.0
        for at in range(starts[i], starts[i + 1]):
            h, m, fit = Ht[places[at]], weights[at], 0.0
            for t in range(k):
                fit += w[t] * h[t]
            less = m * values[at] / max(fit, TINY) if counts else m * values[at]
            more = m - unstored if counts else (m - unstored) * fit
            for t in range(k):
                off[t] += less * h[t]
                on[t] += more * h[t]
        for t in range(k):
            on[t] = max(on[t], 0.0)


@numba.njit(nogil=True, cache=True)
def longest_row(starts: Places, first: int, last: int) -> int:
    """Stored entries of the longest row."""
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _quadratic(G: Floats, w: Floats) -> float:
    """wᵀ G w."""
    total = 0.0
    for s in range(len(w)):
        for t in range(len(w)):
            total += w[s] * G[s, t] * w[t]
    return total


@numba.njit(nogil=True, cache=True)
def _divergence(x: float, fitted: float) -> float:
    """x log(x / fitted) − x + fitted, which loses no digits of close fits."""
    d = (fitted - x) / x
    logarithm: float = np.log1p(d) if d > -0.5 else np.log(fitted / x)
    return x * (d - logarithm)
