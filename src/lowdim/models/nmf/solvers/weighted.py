"""Non-negative factors where entries are missing or have weights, by coordinate descent.

Given H the rows of W are separate convex problems, each with the entries that are known of its row. Least squares: each
coordinate goes to its best given all others (as Yu et al. 2012, "Scalable coordinate descent approaches to parallel
matrix factorization for recommender systems", there without bounds). Kullback–Leibler: each takes a Newton step (Hsieh
& Dhillon 2011), cut where it would be too long. Every weight changes only what an entry adds to slopes and curvatures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim.models.nmf.solvers.loss import FROBENIUS, KULLBACK_LEIBLER, TINY, cleaned, residual
from lowdim.models.nmf.solvers.problem import LOOK, Problem, Search, begin, even_stretches, revived
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

SWEEPS = 2
"""Sweeps over the components of a row before the other factor has its turn: what was gathered is used twice."""

NEAR = 0.683802
"""Share by which nothing fitted falls by more in a Newton step (see the compiled kernel)."""


@dataclass(frozen=True)
class PlainWeighted:
    """The steps in NumPy, dense, all rows at once for one coordinate: what the compiled ones are held against."""

    problem: Problem
    turned: Problem
    sweeps: int = SWEEPS

    @classmethod
    def of(cls, problem: Problem, sweeps: int = SWEEPS) -> PlainWeighted:
        """For a problem with β = 2 or 1 and an observed X."""
        return cls(problem, problem.turned, sweeps)

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step."""
        return begin(self.problem, *_seen_only(self.problem, W, H), tol, self.turned)

    def step(self, state: Search) -> Search:
        """Both factors once; the objective is noted after each."""
        W, H = revived(state.W, state.H, self.problem.floor(len(state.H)))
        W, H = _seen_only(self.problem, W, H)
        W = half_step(self.problem, W, H, self.sweeps)
        between = self.problem.objective(W, H)
        H = half_step(self.turned, H.T, W.T, self.sweeps).T
        objective = (*state.objective, between, self.problem.objective(W, H))
        found = replace(state, W=W, H=H, steps=state.steps + 1, objective=objective)
        return found.seen(self.problem.residual(W, H, self.turned))


def half_step(problem: Problem, W: Floats, H: Floats, sweeps: int) -> Floats:
    """(n, k) W after sweeps over its columns."""
    X, M = problem.X.dense()
    one = _to_its_best if problem.beta == FROBENIUS else _newton
    W = W.copy()
    for _ in range(sweeps):
        for t in range(W.shape[1]):
            W[:, t] = one(X, M, W, H, t, problem.penalty.l1_W, problem.penalty.l2_W)
    return W


def _to_its_best(X: Floats, M: Floats, W: Floats, H: Floats, t: int, l1: float, l2: float) -> Floats:
    slope = (M * (W @ H - X)) @ H[t] + l1 + l2 * W[:, t]
    curve = M @ H[t] ** 2 + l2
    best = np.maximum(W[:, t] - slope / np.where(curve > 0, curve, 1.0), 0.0)
    return np.asarray(np.where(curve > 0, best, 0.0 if l1 > 0 else W[:, t]))


def _newton(X: Floats, M: Floats, W: Floats, H: Floats, t: int, l1: float, l2: float) -> Floats:
    share = np.where(M * X > 0, H[t] / np.maximum(W @ H, TINY), 0.0)
    added = M @ H[t] + l1
    slope = added + l2 * W[:, t] - (M * X * share).sum(axis=1)
    curve = (M * X * share**2).sum(axis=1) + l2
    change = np.maximum(W[:, t] - slope / np.where(curve > 0, curve, 1.0), 0.0) - W[:, t]
    change = np.maximum(change, -NEAR / np.maximum(share.max(axis=1), TINY))
    return np.asarray(np.where(curve > 0, W[:, t] + change, np.where(added > 0, 0.0, W[:, t])))


@dataclass(frozen=True)
class Weighted:
    """The steps compiled, on what is stored and its transpose, rows in threads."""

    problem: Problem
    turned: Problem
    rows: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]
    sweeps: int = SWEEPS

    @classmethod
    def of(cls, problem: Problem, sweeps: int = SWEEPS) -> Weighted:
        """For a problem with β = 2 or 1 and an observed X."""
        turned = problem.turned
        rows, columns = even_stretches(problem.X.stored.indptr), even_stretches(turned.X.stored.indptr)
        return cls(problem, turned, rows, columns, sweeps)

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step, which remembers H by column, (p, k)."""
        W, H = _seen_only(self.problem, W, H)
        Ht = np.ascontiguousarray(H.T)
        start = Search(W, H, tol, objective=(self.problem.objective(W, H),), memory=Ht)
        return start.seen(self._residual(W, Ht))

    def step(self, state: Search) -> Search:
        """Both factors once, with the objective after both."""
        W, H = revived(state.W, state.H, self.problem.floor(len(state.H)))
        Ht = state.memory
        if H is not state.H:
            W, H = _seen_only(self.problem, W, H)
            Ht = np.ascontiguousarray(H.T)
        W, _ = self._half(self.problem, self.rows, W, Ht)
        Ht, lost = self._half(self.turned, self.columns, Ht, W)
        cost = lost + self.problem.penalty.value(W, Ht.T)
        found = replace(state, W=W, H=Ht.T, steps=state.steps + 1, objective=(*state.objective, cost), memory=Ht)
        return found if found.steps % LOOK else found.seen(self._residual(W, Ht))

    def _half(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats
    ) -> tuple[Floats, float]:
        """W given H, and the loss."""
        kernels, X, penalty = _compiled(), problem.X, problem.penalty
        least_squares = problem.beta == FROBENIUS
        rows = kernels.descend_rows if least_squares else kernels.newton_rows
        whole = Ht.T @ Ht if least_squares else Ht.sum(axis=0)
        out, losses = np.empty_like(W), np.empty(len(W))
        stored = X.stored.indptr, X.stored.indices, X.stored.data, X.weights, X.unstored

        def one(span: tuple[int, int]) -> None:
            rows(*stored, *span, W, Ht, whole, penalty.l1_W, penalty.l2_W, self.sweeps, out, losses)

        for _ in in_order(one, stretches):
            pass
        return out, float(losses.sum())

    def _residual(self, W: Floats, Ht: Floats) -> float:
        """Of W and H together."""
        of_W = residual(W, *self._parts(self.problem, self.rows, W, Ht))
        return float(np.hypot(of_W, residual(Ht, *self._parts(self.turned, self.columns, Ht, W))))

    def _parts(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats
    ) -> tuple[Floats, Floats]:
        """What the gradient by W takes off and adds, compiled."""
        kernels, X, penalty = _compiled(), problem.X, problem.penalty
        counts = problem.beta == KULLBACK_LEIBLER
        taken = np.empty_like(W)
        added = np.broadcast_to(Ht.sum(axis=0), W.shape).copy() if counts else W @ (Ht.T @ Ht)
        added *= X.unstored
        whole = added.copy()
        stored = X.stored.indptr, X.stored.indices, X.stored.data, X.weights, X.unstored

        def one(span: tuple[int, int]) -> None:
            kernels.parts_rows(*stored, *span, W, Ht, counts, taken, added)

        for _ in in_order(one, stretches):
            pass
        return taken, cleaned(added, whole) + penalty.l1_W + penalty.l2_W * W


def _seen_only(problem: Problem, W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """Zeros for rows and columns of which nothing is known: any numbers would do."""
    rows, columns = problem.X.seen_rows, problem.X.T.seen_rows
    return W * rows[:, None], H * columns


def _compiled() -> Any:
    from lowdim.models.nmf.solvers import compiled_weighted

    return compiled_weighted
