"""Compiled scalar Newton steps for the Kullback–Leibler divergence: complete rows, entries with weights, codes of rows.

Imported only where it pays. A row of W meets only the stored entries of its row of X. What it needs of H is gathered
once, (k, stored), and used in every sweep; what is fitted at those entries is kept up to date. Nothing is larger than
the longest row.
"""

from __future__ import annotations

import numba
import numpy as np

from lowdim.models.nmf.solvers.compiled_least_squares import (
    ANY_ORDER,
    ROUNDING,
    TINY,
    TOGETHER,
    Given,
    Places,
    Stored,
    fit,
    gather,
    longest_row,
    move,
    residual,
    together,
)
from lowdim.models.nmf.solvers.textbook import SAFE_STEP
from lowdim.types import Floats


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
    longest = longest_row(starts, first, last)
    H, fitted, inverse = np.empty((k, longest)), np.empty(longest), np.empty(longest)
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
        if length > SAFE_STEP:
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


# Entries with weights.


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def newton_weighted_rows(
    stored: Stored, first: int, last: int, given: Given, W: Floats, sweeps: int, out: Floats, losses: Floats
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps, rows first … last, for the Kullback–Leibler divergence.

    The whole are the sums of H's rows, (k,). Zeros only cost what is fitted to them: of stored entries those
    above zero are gathered, the others are met once. losses[i] ← Σ m (x log(x / wh) − x + wh) of the row.
    """
    starts, places, values, weights, unstored = stored
    Ht, whole, l1, l2 = given
    k = W.shape[1]
    longest = longest_row(starts, first, last)
    H, fitted, inverse = np.empty((k, longest)), np.empty(longest), np.empty(longest)
    x, m, mx, added = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(k)
    for i in range(first, last):
        span = slice(starts[i], starts[i + 1])
        w = out[i]
        w[:] = W[i]
        count = _gather_positive(values[span], weights[span], places[span], Ht, whole, unstored, H, x, m, added)
        for e in range(count):
            mx[e] = m[e] * x[e]
        _lift_where_hopeless(H, x[:count], mx, added, w, fitted)
        for e in range(count):
            inverse[e] = 1.0 / fitted[e]
        for _ in range(sweeps):
            for t in range(k):
                _newton_weighted(
                    mx[:count], H[t], fitted, inverse, w, t, added[t] + l1, l2, ROUNDING * unstored * whole[t]
                )
        lost = 0.0
        for t in range(k):
            lost += w[t] * added[t]
        for e in range(count):
            lost += m[e] * (_divergence(x[e], fitted[e]) - fitted[e])
        losses[i] = lost


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _gather_positive(
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
def _newton_weighted(
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

    A step down is cut where something fitted would fall by more than SAFE_STEP. Before that, with z the share by which
    each falls, −log(1 − z) ≤ z + z² makes a share α ≤ 1 of Newton's step change the objective by at most
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
        change = max(change, -SAFE_STEP / steepest) if steepest > 0.0 else change
    if change == 0.0:
        return
    w[t] += change
    for e in range(len(mx)):
        fitted[e] = max(fitted[e] + change * h[e], TINY)
        inverse[e] = 1.0 / fitted[e]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _lift_where_hopeless(H: Floats, x: Floats, mx: Floats, added: Floats, w: Floats, fitted: Floats) -> None:
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


@numba.njit(nogil=True, cache=True)
def _divergence(x: float, fitted: float) -> float:
    """x log(x / fitted) − x + fitted, which loses no digits of close fits."""
    d = (fitted - x) / x
    logarithm: float = np.log1p(d) if d > -0.5 else np.log(fitted / x)
    return x * (d - logarithm)


# Codes of rows, each to a tolerance of its own.


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def newton_codes(
    stored: Stored, first: int, last: int, given: Given, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, for the Kullback–Leibler divergence; whole (k,) are the sums of H's rows."""
    starts, places, values, weights, unstored = stored
    Ht, whole, l1, l2 = given
    k = W.shape[1]
    longest = longest_row(starts, first, last)
    H, fitted, inverse = np.empty((k, longest)), np.empty(longest), np.empty(longest)
    x, m, mx, added = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(k)
    slope = np.empty(k)
    for i in range(first, last):
        span = slice(starts[i], starts[i + 1])
        w = W[i]
        count = _gather_positive(values[span], weights[span], places[span], Ht, whole, unstored, H, x, m, added)
        for e in range(count):
            mx[e] = m[e] * x[e]
        for t in range(k):
            if added[t] <= ROUNDING * unstored * whole[t]:  # nothing that is known depends on it
                added[t], w[t] = 0.0, 0.0
        _lift_where_hopeless(H, x[:count], mx, added, w, fitted)
        left = _look_at_counts(H, mx[:count], added, l1, l2, w, fitted, inverse, slope)
        for sweep in range(most):
            if left <= tol:
                break
            for t in range(k):
                _newton_weighted(
                    mx[:count], H[t], fitted, inverse, w, t, added[t] + l1, l2, ROUNDING * unstored * whole[t]
                )
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
    """Newton's step of all numbers above zero, cut as that of one is: nothing fitted falls by more than SAFE_STEP.
    Gives whether none met zero."""
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
    share = 1.0 if steepest <= SAFE_STEP else SAFE_STEP / steepest
    return bool(move(w, change, share) >= share)
