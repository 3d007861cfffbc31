"""Codes: the non-negative W of rows, given H, to the accuracy that is asked for.

Every row is a problem of its own (convex for 1 ≤ β ≤ 2) and is stopped by a KKT residual of its own, from a start of
its own: which other rows come with it makes no difference, but for rounding. Least squares needs of the rows X Hᵀ
only; where entries have weights each row has its own H Hᵀ. Losses other than least squares and Kullback–Leibler are
left to SciPy, row by row, which takes milliseconds for each and, since it compares objectives, ends at residuals of
about 1e-7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from lowdim.models.nmf.loss import TINY
from lowdim.models.nmf.observed import Observed, as_observed
from lowdim.models.nmf.solvers import compiled_least_squares, compiled_newton, plain_steps
from lowdim.models.nmf.solvers.problem import Problem, even_stretches, given_to_rows, stretches
from lowdim.runtime import native
from lowdim.runtime.threads import in_order, one_blas_thread
from lowdim.types import Floats

SWEEPS = 1000
"""At most; ten are usual."""

UPDATES, RESTARTS = 20, 4
"""For other losses: multiplicative updates before quasi-Newton steps, which are begun anew where one line search of
theirs ended early."""

SLAB = 1024
"""Rows at most that are taken at a time: a dense matrix is turned into stored entries so many rows at once."""


@dataclass(frozen=True)
class Codes:
    """W (n, k), and the KKT residual that is left of each row, (n,)."""

    W: Floats
    residuals: Floats


def codes(problem: Problem, H: Floats, tol: float = 1e-8, W: Floats | None = None, most: int = SWEEPS) -> Codes:
    """W for the rows of a problem, given H (k, p), each to a KKT residual of tol; W (n, k) is where to begin, if given.

    Zero where nothing is known. A row that is not there after `most` sweeps says so by its residual.
    """
    W = start(problem, H) if W is None else np.array(W, dtype=np.float64, order="C")
    residuals, X = np.empty(len(W)), problem.X
    with one_blas_thread():
        if not problem.loss.by_coordinates:
            return _any_loss(problem, H, tol, W, most)
        if problem.loss.quadratic and not isinstance(X, Observed):
            _least_squares(problem, H, tol, most, W, residuals)
        elif isinstance(X, np.ndarray):  # zeros count, but need not be met
            for at in stretches(len(W), SLAB):
                some = as_observed(scipy.sparse.csr_array(X[at]))
                _stored(problem, some, H, tol, most, W[at], residuals[at])
        else:
            _stored(problem, as_observed(X), H, tol, most, W, residuals)
    return Codes(W, residuals)


def start(problem: Problem, H: Floats) -> Floats:
    """(n, k) where codes begin: zeros for least squares, otherwise equal numbers that fit the sum of each row."""
    X = problem.X
    if problem.loss.quadratic:
        return np.zeros((X.shape[0], len(H)))
    total = H.sum(axis=0)
    fitted = X.weighed(total[:, None])[:, 0] if isinstance(X, Observed) else np.full(X.shape[0], total.sum())
    sums = np.asarray(X.sum(axis=1)).ravel()
    return np.repeat((sums / np.where(fitted > 0, fitted, 1.0))[:, None], len(H), axis=1)


def _least_squares(problem: Problem, H: Floats, tol: float, most: int, W: Floats, residuals: Floats) -> None:
    """In place, rows in threads."""
    kernels: Any = compiled_least_squares if native.is_compiled() else plain_steps
    X, penalty, G = problem.X, problem.penalty, H @ H.T
    across = np.ascontiguousarray(H.T)

    def one(at: slice) -> None:
        A = np.ascontiguousarray(X[at] @ across)
        kernels.least_squares_codes(G, A, penalty.l1_W, penalty.l2_W, tol, most, W[at], residuals[at])

    for _ in in_order(one, stretches(len(W), SLAB)):
        pass


def _stored(problem: Problem, X: Observed, H: Floats, tol: float, most: int, W: Floats, residuals: Floats) -> None:
    """Of rows with stored entries, in place, rows in threads."""
    kernels: Any = plain_steps
    if native.is_compiled():
        kernels = compiled_least_squares if problem.loss.quadratic else compiled_newton
    solve = kernels.weighted_least_squares_codes if problem.loss.quadratic else kernels.newton_codes
    stored, given = X.as_stored, given_to_rows(problem, np.ascontiguousarray(H.T))

    def one(span: tuple[int, int]) -> None:
        solve(stored, *span, given, tol, most, W, residuals)

    for _ in in_order(one, even_stretches(X.stored.indptr)):
        pass
    W[~X.seen_rows] = 0.0


def _any_loss(problem: Problem, H: Floats, tol: float, W: Floats, most: int) -> Codes:
    """Multiplicative updates of all rows, then quasi-Newton steps of each. Zeros of a start, which no update would
    leave, are lifted."""
    problem, H = _fitted_columns(problem, H)
    W = updated(problem, H, np.maximum(W, 1e-6 * start(problem, H)), UPDATES)
    residuals = row_residuals(W, *problem.gradient_parts(W, H))
    for _ in range(RESTARTS):
        left = np.flatnonzero(residuals > tol)
        for first in range(0, len(left), SLAB):
            some = left[first : first + SLAB]
            rows = replace(problem, X=problem.X[some])
            X, M = as_observed(rows.X).dense()
            W[some] = [_quasi_newton(rows, x, m, H, w, tol, most) for x, m, w in zip(X, M, W[some], strict=True)]
            residuals[some] = row_residuals(W[some], *rows.gradient_parts(W[some], H))
    return Codes(W, residuals)


def updated(problem: Problem, H: Floats, W: Floats, times: int) -> Floats:
    """(n, k) after so many multiplicative updates."""
    for _ in range(times):
        taken, added = problem.gradient_parts(W, H)
        W = W * (taken / np.maximum(added, TINY)) ** problem.loss.exponent
    return W


def _fitted_columns(problem: Problem, H: Floats) -> tuple[Problem, Floats]:
    """Without columns that no part has: they lose the same whatever the codes are, for β < 1 endlessly much."""
    there = np.flatnonzero(H.max(axis=0, initial=0.0) > 0)
    if len(there) == H.shape[1] or not len(there):
        return problem, H
    X = problem.X.T[there].T if isinstance(problem.X, Observed) else problem.X[:, there]
    return replace(problem, X=X), np.ascontiguousarray(H[:, there])


def _quasi_newton(problem: Problem, x: Floats, m: Floats, H: Floats, w: Floats, tol: float, most: int) -> Floats:
    """(k,) the code of one row (p,) with weights (p,), by L-BFGS-B (Byrd, Lu, Nocedal & Zhu 1995) from w on."""
    x, m, H, loss = x[m > 0], m[m > 0], H[:, m > 0], problem.loss
    l1, l2 = problem.penalty.l1_W, problem.penalty.l2_W
    unit = float(np.linalg.norm(H @ (m * loss.powers(w @ H)[1]))) or 1.0

    def cost(w: Floats) -> tuple[float, Floats]:
        fitted = np.maximum(w @ H, loss.least_fit)
        value = m @ loss.divergence(x, fitted) + l1 * w.sum() + 0.5 * l2 * (w @ w)
        slope = H @ loss.slope(x, fitted, m) + l1 + l2 * w
        return value / unit, slope / unit

    wish = {"maxiter": most, "maxfun": 2 * most, "ftol": 0.0, "gtol": 0.1 * tol / np.sqrt(len(w)), "maxcor": 20}
    bounds = [(0.0, None)] * len(w)
    found = scipy.optimize.minimize(cost, w, jac=True, method="L-BFGS-B", bounds=bounds, options=wish)
    return np.asarray(found.x)


def row_residuals(W: Floats, taken: Floats, added: Floats) -> Floats:
    """(n,) the KKT residual of each row, as loss.residual has it for all together."""
    sizes, both = np.sqrt(np.mean(W**2, axis=1, keepdims=True)), added + taken
    slope = np.divide(added - taken, both, out=np.zeros_like(W), where=both > 0)
    share = np.divide(W, sizes, out=np.zeros_like(W), where=sizes > 0)
    return np.asarray(np.sqrt(np.mean(np.minimum(share, slope) ** 2, axis=1)))
