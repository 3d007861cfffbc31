"""Compiled non-negative codes of rows given H, each row to its own tolerance. Imported only where it pays.

Cyclic coordinate descent finds which numbers are zero; now and then Newton's step for all others together ends what
single coordinates would take long for (for least squares that is the inner step of Lawson & Hanson 1974, "Solving least
squares problems", and exact). Neither ever raises the objective.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from lowdim.models.nmf.solvers.compiled_newton import ANY_ORDER, NEAR, TINY, fit
from lowdim.models.nmf.solvers.compiled_weighted import LOST, gather_positive, lift_where_hopeless, longest_row, newton
from lowdim.types import Floats

Places = NDArray[np.int32] | NDArray[np.int64]

TOGETHER = 5
"""Sweeps before the numbers above zero are moved together."""

DEPENDENT = 1e-12
"""Share of its square below which what a component adds to those before it is rounding."""


@numba.njit(nogil=True, cache=True)
def least_squares_rows(
    G: Floats, A: Floats, l1: float, l2: float, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, of rows with A = X Hᵀ (n, k) and G = H Hᵀ (k, k), and the KKT residual of each."""
    for i in range(len(A)):
        residuals[i] = _least_squares(G, A[i], l1, l2, tol, most, W[i])


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def weighted_least_squares_rows(
    starts: Places,
    places: Places,
    values: Floats,
    weights: Floats,
    unstored: float,
    first: int,
    last: int,
    Ht: Floats,
    whole: Floats,
    l1: float,
    l2: float,
    tol: float,
    most: int,
    W: Floats,
    residuals: Floats,
) -> None:
    """The same for rows first … last of a CSR matrix with weights, each with a G of its own; whole = H Hᵀ."""
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
            if G[t, t] <= LOST * unstored * whole[t, t]:  # rounding: nothing that is known depends on it
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


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def newton_rows(
    starts: Places,
    places: Places,
    values: Floats,
    weights: Floats,
    unstored: float,
    first: int,
    last: int,
    Ht: Floats,
    whole: Floats,
    l1: float,
    l2: float,
    tol: float,
    most: int,
    W: Floats,
    residuals: Floats,
) -> None:
    """W (n, k), in place, for the Kullback–Leibler divergence; whole (k,) are the sums of H's rows."""
    k = W.shape[1]
    longest = longest_row(starts, first, last)
    H, fitted, inverse = np.empty((k, longest)), np.empty(longest), np.empty(longest)
    x, m, mx, added = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(k)
    slope = np.empty(k)
    for i in range(first, last):
        span = slice(starts[i], starts[i + 1])
        w = W[i]
        count = gather_positive(values[span], weights[span], places[span], Ht, whole, unstored, H, x, m, added)
        for e in range(count):
            mx[e] = m[e] * x[e]
        for t in range(k):
            if added[t] <= LOST * unstored * whole[t]:  # nothing that is known depends on it
                added[t], w[t] = 0.0, 0.0
        lift_where_hopeless(H, x[:count], mx, added, w, fitted)
        left = _look_at_counts(H, mx[:count], added, l1, l2, w, fitted, inverse, slope)
        for sweep in range(most):
            if left <= tol:
                break
            for t in range(k):
                newton(mx[:count], H[t], fitted, inverse, w, t, added[t] + l1, l2, LOST * unstored * whole[t])
            left = _look_at_counts(H, mx[:count], added, l1, l2, w, fitted, inverse, slope)
            if sweep % TOGETHER == TOGETHER - 1:
                for _ in range(k):
                    inside = left <= tol or _newton_together(H, mx[:count], l2, slope, inverse, w)
                    left = _look_at_counts(H, mx[:count], added, l1, l2, w, fitted, inverse, slope)
                    if inside:
                        break
        residuals[i] = left


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _look_at_counts(
    H: Floats,
    mx: Floats,
    added: Floats,
    l1: float,
    l2: float,
    w: Floats,
    fitted: Floats,
    inverse: Floats,
    slope: Floats,
) -> float:
    """What is fitted, anew, and the slope; the KKT residual."""
    fit(H, w, len(mx), fitted)
    for e in range(len(mx)):
        inverse[e] = 1.0 / fitted[e]
    on = np.empty(len(w))
    for t in range(len(w)):
        taken = 0.0
        for e in range(len(mx)):
            taken += mx[e] * inverse[e] * H[t, e]
        on[t] = added[t] + l1 + l2 * w[t]
        slope[t] = on[t] - taken
    return residual(w, slope, on)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _newton_together(H: Floats, mx: Floats, l2: float, slope: Floats, inverse: Floats, w: Floats) -> bool:
    """Newton's step of all numbers above zero, cut as that of one is: nothing fitted falls by more than NEAR. Gives
    whether none met zero."""
    k, count = len(w), len(mx)
    curve = np.zeros((k, k))
    for s in range(k):
        if w[s] > 0.0:
            for t in range(s + 1):
                if w[t] > 0.0:
                    total = 0.0
                    for e in range(count):
                        total += mx[e] * inverse[e] * inverse[e] * H[s, e] * H[t, e]
                    curve[s, t] = total
                    curve[t, s] = total
    change = together(curve, l2, slope, w)
    steepest = 0.0
    for e in range(count):
        fall = 0.0
        for t in range(k):
            fall -= change[t] * H[t, e]
        steepest = max(steepest, fall * inverse[e])
    share = 1.0 if steepest <= NEAR else NEAR / steepest
    return bool(move(w, change, share) >= share)


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
    """‖min(w, slope)‖ / ‖w‖ with slopes in units of ‖added‖ / ‖w‖, as nmf_loss.residual has it."""
    size, unit = np.sqrt((w**2).sum()), np.sqrt((added**2).sum())
    scale = size / unit if size > TINY and unit > TINY else 1.0
    total = 0.0
    for t in range(len(w)):
        total += min(w[t], slope[t] * scale) ** 2
    if size > TINY and unit > TINY:
        return float(np.sqrt(total) / size)
    return 1.0 if total > 0.0 else 0.0
