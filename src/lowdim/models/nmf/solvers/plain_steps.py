"""Plain twins of the compiled steps, taken where there is no library: the same arguments, the same steps, in NumPy.

What compiled code does row by row is done here for all rows at once, one coordinate after the other; codes of rows are
found row by row. `compiled_least_squares` and `compiled_newton` explain what each does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.models.nmf.solvers.compiled_least_squares import WIDTH, Given, Places, Stored
from lowdim.models.nmf.solvers.textbook import SAFE_STEP
from lowdim.types import Floats

TINY = 1e-150
"""What a fit is never let fall below: one over it can still be multiplied by any part without leaving the range."""

ROUNDING = 1e-12
"""Share of a sum over all of H below which what is left after taking off missing entries is rounding."""

TOGETHER = 5
"""Sweeps before the numbers above zero are moved together."""

DEPENDENT = 1e-12
"""Share of its square below which what a component adds to those before it is rounding."""

ROUNDS = 4
"""Over the coordinates of a model that all of them share."""

HOPELESS = 1e-12
"""Share of a number up to which a fit is nothing, from where Newton's steps would take for ever."""

# Sweeps over complete data.


def sweep(
    F: Floats, A: Floats, G: Floats, l1: float, l2: float, out: Floats, most: int = 1, still: float = 0.0
) -> None:
    """out (k, m) ← F after sweeps, each row set to its best given the others."""
    out[:] = F
    for start in range(0, F.shape[1], WIDTH):
        at, first = slice(start, start + WIDTH), 0.0
        for number in range(most):
            before = out[:, at].copy()
            for t in range(len(F)):
                curve = G[t, t] + l2
                if curve <= 0:  # nothing depends on it: a number that is penalised only costs
                    out[t, at] *= l1 == 0
                else:
                    slope = A[t, at] - l1 - G[t] @ out[:, at] - l2 * out[t, at]
                    out[t, at] = np.maximum(out[t, at] + slope / curve, 0.0)
            moved = float(((out[:, at] - before) ** 2).sum())
            first = moved if number == 0 else first
            if moved <= still**2 * first:
                break


def extrapolate(new: Floats, old: Floats, ahead: float, out: Floats) -> None:
    """out ← max(new + ahead (new − old), 0)."""
    np.maximum(new + ahead * (new - old), 0.0, out=out)


# Rows of stored entries, and dense rows.


@dataclass(frozen=True)
class _Entries:
    """Some entries of m rows, and H there."""

    x: Floats
    """(m, p), or (stored,)."""
    H: Floats
    """(k, 1, p), or (k, stored)."""
    row: NDArray[np.intp] | None
    """(stored,) which row each belongs to; None: dense ones."""
    count: int
    """m"""

    @classmethod
    def stored(cls, starts: Places, places: Places, values: Floats, first: int, last: int, Ht: Floats) -> _Entries:
        """Those of rows first … last of a CSR matrix."""
        at = slice(int(starts[first]), int(starts[last]))
        row = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        return cls(values[at], Ht[places[at]].T, row, last - first)

    @classmethod
    def dense(cls, X: Floats, H: Floats) -> _Entries:
        """All of X (m, p)."""
        return cls(X, H[:, None, :], None, len(X))

    def spread(self, v: Floats) -> Floats:
        """What each row has, (m,), at its entries."""
        return v[:, None] if self.row is None else v[self.row]

    def total(self, v: Floats) -> Floats:
        """(m,) sums over the entries of each row."""
        if self.row is None:
            return np.asarray(v.sum(axis=1))
        return np.asarray(np.bincount(self.row, v, minlength=self.count), dtype=np.float64)

    def largest(self, v: Floats) -> Floats:
        """(m,) the largest of the entries of each row, or 0."""
        if self.row is None:
            return np.asarray(v.max(axis=1, initial=0.0))
        found = np.zeros(self.count)
        np.maximum.at(found, self.row, v)
        return found

    def fit(self, W: Floats) -> Floats:
        """W H there."""
        fitted = np.zeros_like(self.x)
        for w, h in zip(W.T, self.H, strict=True):
            fitted += self.spread(w) * h
        return np.asarray(np.maximum(fitted, TINY))

    def lifted(self, W: Floats, added: Floats, hopeless: NDArray[np.bool_], mx: Floats) -> Floats:
        """W (m, k) with a hundredth of an equal share of its row for each component, where something is hopeless."""
        more = 0.01 * self.total(mx)[:, None] / (W.shape[1] * np.where(added > 0, added, np.inf))
        return W + np.where(self.total(hopeless.astype(np.float64))[:, None] > 0, more, 0.0)


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
    """out ← W (n, k) after sweeps of scalar Newton steps of stored rows, and their losses."""
    there, at = _Entries.stored(starts, places, values, first, last, Ht), slice(first, last)
    out[at] = _newton(there, W[at], added, l2, sweeps, jointly)
    losses[at] = _loss(there, out[at]) if with_losses else 0.0


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
    """The same for dense rows."""
    there = _Entries.dense(X, H)
    out[:] = _newton(there, W, added, l2, sweeps, jointly)
    losses[:] = _loss(there, out) if with_losses else 0.0


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
    """The same for X = Yᵀ."""
    newton_dense_rows(Y.T, W, H, added, l2, sweeps, jointly, with_losses, out, losses)


def _newton(there: _Entries, W: Floats, added: Floats, l2: float, sweeps: int, jointly: bool) -> Floats:
    x = there.x
    W = there.lifted(W, added, (x > 0) & (there.fit(W) <= HOPELESS * x), x)
    over_least = there.largest(1.0 / np.where(x > 0, x, np.inf))
    for _ in range(sweeps):
        for t, h in enumerate(there.H):
            share = h / there.fit(W)
            part = x * share
            curve = there.total(part * share) + l2
            slope = added[t] + l2 * W[:, t] - there.total(part)
            change = np.maximum(-slope / np.where(curve > 0, curve, 1.0), -W[:, t])
            length = np.sqrt(curve * over_least) * -change
            change = change / np.where(length > SAFE_STEP, 1.0 + length, 1.0)
            W[:, t] += np.where(curve > 0, change, -W[:, t] * (added[t] > 0))
            W[:, t] = np.maximum(W[:, t], 0.0)
    return _jointly(there, W, added, l2) if jointly else W


def _jointly(there: _Entries, W: Floats, added: Floats, l2: float) -> Floats:
    """W after all coordinates of each row moved together."""
    x, fitted = there.x, there.fit(W)
    stays = there.total(((x > 0) & (fitted <= HOPELESS * x)).astype(np.float64)) > 0
    part = x / fitted
    slope = added + l2 * W - np.column_stack([there.total(part * h) for h in there.H])
    G = np.array([[there.total(part / fitted * g * h) for h in there.H] for g in there.H]).transpose(2, 0, 1)
    G += l2 * np.eye(len(there.H))
    first, change = slope.copy(), np.zeros_like(W)
    for _ in range(ROUNDS):
        for t in range(W.shape[1]):
            curve = G[:, t, t]
            least = np.maximum(change[:, t] - slope[:, t] / np.where(curve > 0, curve, 1.0), -SAFE_STEP * W[:, t])
            by = np.where(curve > 0, least - change[:, t], 0.0)
            change[:, t] += by
            slope += by[:, None] * G[:, t]
    down = -np.einsum("ik,ik->i", first, change)
    curve = np.einsum("ik,ik->i", slope - first, change)
    share = np.where(down < curve, down / np.where(curve > 0, curve, 1.0), 1.0) * (down > 0)
    return np.where(stays[:, None], W, np.maximum(W + share[:, None] * change, 0.0))


def _loss(there: _Entries, W: Floats) -> Floats:
    """(m,) Σ x log(x / wh) − x."""
    x, positive = there.x, there.x > 0
    ratio = np.where(positive, x, 1.0) / np.where(positive, there.fit(W), 1.0)
    return there.total(x * np.log(ratio) - x)


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
    """out[i] ← Σ x / wh · h over the stored entries of rows first … last, and their losses."""
    there, at = _Entries.stored(starts, places, values, first, last, Ht), slice(first, last)
    share = there.x / there.fit(W[at])
    for t, h in enumerate(there.H):
        out[at, t] = there.total(share * h)
    losses[at] = _loss(there, W[at])


# Entries with weights.


def descend_weighted_rows(
    stored: Stored, first: int, last: int, given: Given, W: Floats, sweeps: int, out: Floats, losses: Floats
) -> None:
    """out ← W (n, k) after sweeps in which each coordinate goes to its best, for least squares; losses."""
    there, m, u, at = *_weighed(stored, first, last, given), slice(first, last)
    (_, whole, l1, l2), x, w = given, there.x, W[at].copy()
    for _ in range(sweeps):
        for t, h in enumerate(there.H):
            slope = there.total(((m - u) * there.fit(w) - m * x) * h) + u * (w @ whole[t]) + l1 + l2 * w[:, t]
            curve = there.total((m - u) * h * h) + u * whole[t, t] + l2
            known = curve > ROUNDING * u * whole[t, t]
            best = np.maximum(w[:, t] - slope / np.where(known, curve, 1.0), 0.0)
            w[:, t] = np.where(known, best, 0.0 if l1 > 0 else w[:, t])
    out[at], fitted = w, there.fit(w)
    losses[at] = 0.5 * (there.total(m * (x - fitted) ** 2 - u * fitted**2) + u * np.einsum("is,st,it->i", w, whole, w))


def gradient_rows(
    stored: Stored, first: int, last: int, W: Floats, Ht: Floats, counts: bool, taken: Floats, added: Floats
) -> None:
    """What the gradient by W takes off, and what it adds to that of zeros."""
    there, m, u, at = *_weighed(stored, first, last, (Ht,)), slice(first, last)
    fitted = there.fit(W[at])
    less, more = (m * there.x / fitted, m - u) if counts else (m * there.x, (m - u) * fitted)
    for t, h in enumerate(there.H):
        taken[at, t] = there.total(less * h)
        added[at, t] = np.maximum(added[at, t] + there.total(more * h), 0.0)


def newton_weighted_rows(
    stored: Stored, first: int, last: int, given: Given, W: Floats, sweeps: int, out: Floats, losses: Floats
) -> None:
    """out ← W (n, k) after sweeps of scalar Newton steps with weights, and losses."""
    there, m, u, at = *_weighed(stored, first, last, given), slice(first, last)
    _, whole, l1, l2 = given
    added = np.column_stack([u * whole[t] + there.total((m - u) * h) for t, h in enumerate(there.H)])
    added = np.maximum(added, 0.0)
    there, m = _positive(there, m)
    x, w = there.x, _lifted_where_reached(there, m, W[at], added)
    for _ in range(sweeps):
        for t, h in enumerate(there.H):
            w[:, t] = _newton_weighted(there, m, w, h, t, added[:, t] + l1, l2, ROUNDING * u * whole[t])
    out[at], fitted = w, there.fit(w)
    d = (fitted - x) / x
    logs = np.where(d > -0.5, np.log1p(np.maximum(d, -0.5)), np.log(fitted / x))
    losses[at] = np.einsum("ik,ik->i", w, added) + there.total(m * (x * (d - logs) - fitted))


def _weighed(stored: Stored, first: int, last: int, given: tuple[Any, ...]) -> tuple[_Entries, Floats, float]:
    """The entries of some rows, their weights, and that of all others."""
    starts, places, values, weights, unstored = stored
    there = _Entries.stored(starts, places, values, first, last, given[0])
    return there, weights[int(starts[first]) : int(starts[last])], unstored


def _positive(there: _Entries, m: Floats) -> tuple[_Entries, Floats]:
    """Of stored entries those above zero, of weight above zero."""
    kept, row = m * there.x > 0, np.asarray(there.row)
    return _Entries(there.x[kept], there.H[:, kept], row[kept], there.count), m[kept]


def _lifted_where_reached(there: _Entries, m: Floats, W: Floats, added: Floats) -> Floats:
    """W, lifted where something is hopeless; what no component reaches is lost anyway."""
    hopeless = (there.fit(W) <= HOPELESS * there.x) & (there.H.max(axis=0, initial=0.0) > 0)
    return there.lifted(W, added, hopeless, m * there.x)


def _newton_weighted(
    there: _Entries, m: Floats, W: Floats, h: Floats, t: int, added: Floats, l2: float, lost: float
) -> Floats:
    """(m,) column t of W after a step, cut where something fitted would fall by more than SAFE_STEP."""
    share, w = h / there.fit(W), W[:, t]
    taken, curve = there.total(m * there.x * share), there.total(m * there.x * share**2) + l2
    change = np.maximum(w - (added + l2 * w - taken) / np.where(curve > 0, curve, 1.0), 0.0) - w
    steepest = there.largest(share)
    change = np.maximum(change, -SAFE_STEP / np.where(steepest > 0, steepest, TINY))
    return np.asarray(np.where(curve > 0, w + change, np.where(added > lost, 0.0, w)))


# Codes of rows, each to a tolerance of its own.


def least_squares_codes(
    G: Floats, A: Floats, l1: float, l2: float, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, of rows with A = X Hᵀ (n, k) and G = H Hᵀ (k, k), and the KKT residual of each."""
    for i, a in enumerate(A):
        residuals[i] = _least_squares(G, a, l1, l2, tol, most, W[i])


def weighted_least_squares_codes(
    stored: Stored, first: int, last: int, given: Given, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """The same for rows first … last of a CSR matrix with weights, each with a G of its own; whole = H Hᵀ."""
    _, whole, l1, l2 = given
    for i in range(first, last):
        there, m, u = _weighed(stored, i, i + 1, given)
        G = u * whole + (there.H * (m - u)) @ there.H.T
        unknown = np.diag(G) <= ROUNDING * u * np.diag(whole)  # rounding: nothing that is known depends on it
        G[unknown], G[:, unknown] = 0.0, 0.0
        residuals[i] = _least_squares(G, there.H @ (m * there.x), l1, l2, tol, most, W[i])


def _least_squares(G: Floats, a: Floats, l1: float, l2: float, tol: float, most: int, w: Floats) -> float:
    """w ← the best for ½ wᵀ G w − aᵀ w and penalties; the KKT residual that is left."""

    def look() -> tuple[Floats, float]:
        added = G @ w + l1 + l2 * w
        return added - a, _residual(w, added - a, added)

    w[np.diag(G) <= 0] = 0.0  # nothing that is known depends on it
    _, left = look()
    for number in range(most):
        if left <= tol:
            break
        for t in np.flatnonzero(np.diag(G) > 0):
            w[t] = max(w[t] - (G[t] @ w + l1 + l2 * w[t] - a[t]) / (G[t, t] + l2), 0.0)
        if number % TOGETHER == TOGETHER - 1:
            for _ in w:
                if _moved(w, _together(G, l2, look()[0], w), 1.0) >= 1.0:
                    break
        _, left = look()
    return left


def newton_codes(
    stored: Stored, first: int, last: int, given: Given, tol: float, most: int, W: Floats, residuals: Floats
) -> None:
    """W (n, k), in place, for the Kullback–Leibler divergence; whole (k,) are the sums of H's rows."""
    _, whole, l1, l2 = given
    for i in range(first, last):
        there, m, u = _weighed(stored, i, i + 1, given)
        added = np.maximum(u * whole + there.H @ (m - u), 0.0)
        unknown = added <= ROUNDING * u * whole  # nothing that is known depends on it
        added[unknown] = W[i, unknown] = 0.0
        there, m = _positive(there, m)
        w = _lifted_where_reached(there, m, W[i : i + 1], added[None])
        residuals[i] = _newton_code(there, m, w, added, ROUNDING * u * whole, (l1, l2), tol, most)
        W[i] = w[0]


def _newton_code(
    there: _Entries,
    m: Floats,
    W: Floats,
    added: Floats,
    lost: Floats,
    penalties: tuple[float, float],
    tol: float,
    most: int,
) -> float:
    """W (1, k), in place, and the KKT residual that is left."""
    (l1, l2), mx, H, w = penalties, m * there.x, there.H, W[0]

    def look() -> tuple[Floats, Floats, float]:
        fitted, on = there.fit(W), added + l1 + l2 * w
        slope = on - H @ (mx / fitted)
        return fitted, slope, _residual(w, slope, on)

    fitted, slope, left = look()
    for number in range(most):
        if left <= tol:
            break
        for t, h in enumerate(H):
            W[:, t] = _newton_weighted(there, m, W, h, t, added[t : t + 1] + l1, l2, lost[t])
        fitted, slope, left = look()
        for _ in w if number % TOGETHER == TOGETHER - 1 else ():
            if left <= tol:
                break
            change = _together((H * (mx / fitted**2)) @ H.T, l2, slope, w)
            steepest = float(np.max(-(change @ H) / fitted, initial=0.0))
            share = 1.0 if steepest <= SAFE_STEP else SAFE_STEP / steepest
            gone = _moved(w, change, share)
            fitted, slope, left = look()
            if gone >= share:
                break
    return left


def _together(G: Floats, l2: float, slope: Floats, w: Floats) -> Floats:
    """(k,) the change of the numbers above zero by Newton's step; `coordinates.h` says what is done where one depends
    on others."""
    change, moves = np.zeros(len(w)), np.flatnonzero((w > 0) & (np.diag(G) + l2 > 0))
    A = G[np.ix_(moves, moves)] + l2 * np.eye(len(moves))
    L = np.zeros_like(A)
    for s in range(len(A)):
        for t in range(s):
            L[s, t] = (A[s, t] - L[s, :t] @ L[t, :t]) / L[t, t]
        L[s, s] = np.sqrt(max(A[s, s] - L[s, :s] @ L[s, :s], DEPENDENT * A[s, s]))
    if len(moves):
        change[moves] = scipy.linalg.cho_solve((L, True), -slope[moves])
    return change


def _moved(w: Floats, change: Floats, share: float) -> float:
    """w ← w + share · change, or less, up to where the first number meets zero; gives the share that was gone."""
    falling = change < 0
    reach = np.where(falling, w / np.where(falling, -change, 1.0), np.inf)
    first = int(reach.argmin())
    meets = bool(reach[first] < share)
    share = float(reach[first]) if meets else share
    w[:] = np.maximum(w + share * change, 0.0)
    if meets:
        w[first] = 0.0
    return share


def _residual(w: Floats, slope: Floats, added: Floats) -> float:
    """‖min(w, slope)‖ / ‖w‖ with slopes in units of ‖added‖ / ‖w‖, as loss.residual has it."""
    size, unit = float(np.linalg.norm(w)), float(np.linalg.norm(added))
    if size > TINY and unit > TINY:
        return float(np.linalg.norm(np.minimum(w, slope * (size / unit)))) / size
    return float(np.minimum(w, slope).any())
