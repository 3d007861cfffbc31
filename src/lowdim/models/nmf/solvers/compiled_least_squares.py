"""Compiled steps of non-negative least squares: sweeps over both factors, entries with weights, codes of rows.

Imported only where there are rows enough to pay for it. Codes are found by cyclic coordinate descent, which tells which
numbers are zero; now and then Newton's step for all others together ends what single coordinates would take long for:
the inner step of Lawson & Hanson 1974, "Solving least squares problems". Neither ever raises the objective.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats

Places = NDArray[np.int32] | NDArray[np.int64]

Stored = tuple[Places, Places, Floats, Floats, float]
"""What is known of X: starts, places and values of CSR, weights of these, and the weight u of all other entries."""

Given = tuple[Floats, Floats, float, float]
"""What a factor is solved for: the other, Ht (p, k); what zeros need of the whole of it; and penalties l1 and l2."""

LANES = 64
"""Samples at a time."""

IN_ORDER = {"contract"}
ANY_ORDER = {"reassoc", "contract", "nsz"}
"""What the compiler may do to sums."""

TINY = 1e-150
"""What a fit is never let fall below: one over it can still be multiplied by any part without leaving the range."""

ROUNDING = 1e-12
"""Share of a sum over all of H below which what is left after taking off missing entries is rounding."""

TOGETHER = 5
"""Sweeps before the numbers above zero are moved together."""

DEPENDENT = 1e-12
"""Share of its square below which what a component adds to those before it is rounding."""

# Sweeps over complete data. Factors are stored by component, (k, m): 64 samples are taken at a time, whose numbers stay
# in the nearest cache, and the innermost loop runs over samples, so that no sum is taken across a vector unit.


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def sweep(F: Floats, A: Floats, G: Floats, l1: float, l2: float, out: Floats) -> None:
    """out (k, m) ← F after one sweep over its k rows, each set to its best given the others: A = H Xᵀ, G = H Hᵀ."""
    k, m = F.shape
    lanes = np.empty((k, LANES))
    total = np.empty(LANES)
    for start in range(0, m, LANES):
        width = min(LANES, m - start)
        for t in range(k):
            for c in range(width):
                lanes[t, c] = F[t, start + c]
            for c in range(width, LANES):
                lanes[t, c] = 0.0
        for t in range(k):
            curve = G[t, t] + l2
            if curve <= 0.0:  # nothing depends on it: a number that is penalised only costs
                if l1 > 0.0:
                    for c in range(width):
                        lanes[t, c] = 0.0
                continue
            _add_rows(G[t], lanes, total)
            for c in range(width):
                moved = lanes[t, c] + (A[t, start + c] - l1 - total[c] - l2 * lanes[t, c]) / curve
                lanes[t, c] = max(moved, 0.0)
        for t in range(k):
            for c in range(width):
                out[t, start + c] = lanes[t, c]


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def _add_rows(g: Floats, lanes: Floats, total: Floats) -> None:
    """total ← Σ g[s] lanes[s], four rows at a time."""
    k = len(g)
    for c in range(LANES):
        total[c] = 0.0
    for s in range(0, k - 3, 4):
        a, b, d, e = g[s], g[s + 1], g[s + 2], g[s + 3]
        for c in range(LANES):
            total[c] += a * lanes[s, c] + b * lanes[s + 1, c] + d * lanes[s + 2, c] + e * lanes[s + 3, c]
    for s in range(k // 4 * 4, k):
        a = g[s]
        for c in range(LANES):
            total[c] += a * lanes[s, c]


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def extrapolate(new: Floats, old: Floats, ahead: float, out: Floats) -> None:
    """out ← max(new + ahead (new − old), 0)."""
    for t in range(new.shape[0]):
        for c in range(new.shape[1]):
            out[t, c] = max(new[t, c] + ahead * (new[t, c] - old[t, c]), 0.0)


# Entries with weights. A row of W meets the stored entries of its row of X: what it needs of H is gathered once,
# (k, stored), and what is fitted there is kept up to date. Other entries have weight u and enter through sums over all
# of H.


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def descend_weighted_rows(
    stored: Stored, first: int, last: int, given: Given, W: Floats, sweeps: int, out: Floats, losses: Floats
) -> None:
    """out ← W (n, k) after sweeps in which each coordinate goes to its best, rows first … last, for least squares.

    The whole is H Hᵀ, (k, k); losses[i] ← ½ Σ m (x − wh)² of the row.
    """
    starts, places, values, weights, unstored = stored
    Ht, whole, l1, l2 = given
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
    if curve <= ROUNDING * unstored * whole[t]:  # nothing that is known depends on it
        change = -w[t] if l1 > 0.0 else 0.0
    else:
        change = max(w[t] - slope / curve, 0.0) - w[t]
    if change != 0.0:
        w[t] += change
        for e in range(len(net)):
            pull[e] += change * net[e] * h[e]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _quadratic(G: Floats, w: Floats) -> float:
    """wᵀ G w."""
    total = 0.0
    for s in range(len(w)):
        for t in range(len(w)):
            total += w[s] * G[s, t] * w[t]
    return total


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def gradient_rows(
    stored: Stored, first: int, last: int, W: Floats, Ht: Floats, counts: bool, taken: Floats, added: Floats
) -> None:
    """What the gradient by W takes off, and what it adds, (n, k), where `added` holds that of zeros of weight u; for
    counts (β = 1) or least squares."""
    starts, places, values, weights, unstored = stored
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
def longest_row(starts: Places, first: int, last: int) -> int:
    """Stored entries of the longest row."""
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


# Codes of rows, each to a tolerance of its own.


@numba.njit(nogil=True, cache=True)
def least_squares_codes(
    G: Floats, A: Floats, l1: float, l2: float, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, of rows with A = X Hᵀ (n, k) and G = H Hᵀ (k, k), and the KKT residual of each."""
    for i in range(len(A)):
        residuals[i] = _least_squares(G, A[i], l1, l2, tol, most, W[i])


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def weighted_least_squares_codes(
    stored: Stored, first: int, last: int, given: Given, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """The same for rows first … last of a CSR matrix with weights, each with a G of its own; whole = H Hᵀ."""
    starts, places, values, weights, unstored = stored
    Ht, whole, l1, l2 = given
    k = W.shape[1]
    G, a = np.empty((k, k)), np.empty(k)
    for i in range(first, last):
        a[:] = 0.0
        for s in range(k):
            for t in range(k):
                G[s, t] = unstored * whole[s, t]
        for at in range(starts[i], starts[i + 1]):
            h, net, mx = Ht[places[at]], weights[at] - unstored, weights[at] * values[at]
            for s in range(k):
                a[s] += mx * h[s]
                scaled = net * h[s]
                for t in range(k):
                    G[s, t] += scaled * h[t]
        for t in range(k):
            if G[t, t] <= ROUNDING * unstored * whole[t, t]:  # rounding: nothing that is known depends on it
                G[t, :] = 0.0
                G[:, t] = 0.0
        residuals[i] = _least_squares(G, a, l1, l2, tol, most, W[i])


@numba.njit(nogil=True, cache=True)
def _least_squares(G: Floats, a: Floats, l1: float, l2: float, tol: float, most: int, w: Floats) -> float:
    """w ← the best for ½ wᵀ G w − aᵀ w and penalties; the KKT residual that is left."""
    k = len(w)
    slope, added = np.empty(k), np.empty(k)
    for t in range(k):
        if G[t, t] <= 0.0:  # nothing that is known depends on it
            w[t] = 0.0
    left = _look(G, a, l1, l2, w, slope, added)
    for sweep in range(most):
        if left <= tol:
            break
        for t in range(k):
            change = max(w[t] - slope[t] / (G[t, t] + l2), 0.0) - w[t] if G[t, t] > 0.0 else 0.0
            if change != 0.0:
                w[t] += change
                slope[t] += l2 * change
                for s in range(k):
                    slope[s] += change * G[t, s]
        if sweep % TOGETHER == TOGETHER - 1:
            _to_the_best_inside(G, a, l1, l2, w, slope, added)
        left = _look(G, a, l1, l2, w, slope, added)
    return left


@numba.njit(nogil=True, cache=True)
def _to_the_best_inside(G: Floats, a: Floats, l1: float, l2: float, w: Floats, slope: Floats, added: Floats) -> None:
    """All that are above zero to their best together; those that meet zero on the way stay there."""
    for _ in range(len(w)):
        _look(G, a, l1, l2, w, slope, added)
        change = together(G, l2, slope, w)
        if move(w, change, 1.0) >= 1.0:
            break


@numba.njit(nogil=True, cache=True)
def _look(G: Floats, a: Floats, l1: float, l2: float, w: Floats, slope: Floats, added: Floats) -> float:
    """slope, and what is added in it; the KKT residual."""
    k = len(w)
    for t in range(k):
        total = l1 + l2 * w[t]
        for s in range(k):
            total += G[t, s] * w[s]
        added[t] = total
        slope[t] = total - a[t]
    return residual(w, slope, added)


@numba.njit(nogil=True, cache=True)
def together(G: Floats, l2: float, slope: Floats, w: Floats) -> Floats:
    """(k,) the change that Newton's step makes to the numbers above zero, by Cholesky's factorisation of their part of
    G + l2.

    Where a component depends on those before it, there is a direction without curvature: a little is added, so that
    the step goes far along it if it leads down, up to where a number meets zero. More curvature than there is makes any
    share of a step go down all the same.
    """
    k = len(w)
    L, change, moves = np.zeros((k, k)), np.zeros(k), np.zeros(k, dtype=np.bool_)
    for s in range(k):
        square = G[s, s] + l2
        moves[s] = w[s] > 0.0 and square > 0.0
        if not moves[s]:
            continue
        rest, total = square, -slope[s]
        for t in range(s):
            if moves[t]:
                cross = G[s, t]
                for r in range(t):
                    cross -= L[s, r] * L[t, r]
                L[s, t] = cross / L[t, t]
                rest -= L[s, t] ** 2
                total -= L[s, t] * change[t]
        L[s, s] = np.sqrt(max(rest, DEPENDENT * square))
        change[s] = total / L[s, s]
    for s in range(k - 1, -1, -1):
        if moves[s]:
            for t in range(s + 1, k):
                change[s] -= L[t, s] * change[t]
            change[s] /= L[s, s]
    return change


@numba.njit(nogil=True, cache=True)
def move(w: Floats, change: Floats, share: float) -> float:
    """w ← w + share · change, or less, up to where the first number meets zero; gives the share that was gone."""
    first = -1
    for t in range(len(w)):
        if change[t] < 0.0 and w[t] < share * -change[t]:
            share, first = w[t] / -change[t], t
    for t in range(len(w)):
        w[t] = max(w[t] + share * change[t], 0.0)
    if first >= 0:
        w[first] = 0.0
    return share


@numba.njit(nogil=True, cache=True)
def residual(w: Floats, slope: Floats, added: Floats) -> float:
    """‖min(w, slope)‖ / ‖w‖ with slopes in units of ‖added‖ / ‖w‖, as loss.residual has it."""
    size, unit = np.sqrt((w**2).sum()), np.sqrt((added**2).sum())
    scale = size / unit if size > TINY and unit > TINY else 1.0
    total = 0.0
    for t in range(len(w)):
        total += min(w[t], slope[t] * scale) ** 2
    if size > TINY and unit > TINY:
        return float(np.sqrt(total) / size)
    return 1.0 if total > 0.0 else 0.0
