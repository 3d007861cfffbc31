"""Textbook steps of non-negative factors, in NumPy: multiplicative updates for every loss, and coordinate descent.

The updates are a solver, slow and general: W ← W · (what the gradient takes off / what it adds)^γ, then H likewise (Lee
& Seung 1999, "Learning the parts of objects by non-negative matrix factorization"), with the exponent of Févotte &
Idier 2011 that makes every update lower the β-divergence; for β = 1 the Poisson log-likelihood, by EM, never
falls. The others are what compiled solvers are held against, which `hals`, `newton` and `weighted` explain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from lowdim.models.nmf.loss import TINY, fitted_total
from lowdim.models.nmf.solvers.compiled_losses import update
from lowdim.models.nmf.solvers.parts import Parts, residual
from lowdim.models.nmf.solvers.problem import LOOK, Problem, Search, begin, revived, without_unseen
from lowdim.runtime import native
from lowdim.types import Floats

SAFE_STEP = 0.683802
"""Length λ of a Newton step, in the local norm, up to which it lowers a self-concordant function: the root of
λ² + λ + log(1 − λ), as in Hien & Gillis 2021; so −log(1 − z) ≤ z + z² up to z = λ."""


@dataclass(frozen=True)
class Textbook(ABC):
    """Steps of W given H, and of H given W by the turned problem."""

    problem: Problem
    turned: Problem
    look: ClassVar[int] = 1
    """Steps between two looks at the KKT residual."""

    @classmethod
    def of(cls, problem: Problem, *settings: Any) -> Self:
        """For a problem whose loss and rows the steps are for; settings are those fields of the class that follow."""
        return cls(problem, problem.turned, *settings)

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step."""
        return begin(self.problem, *self._started(W, H), tol, self.turned)

    def step(self, state: Search) -> Search:
        """Both factors once; the objective is noted after each."""
        W, H = self._ready(state.W, state.H)
        W = self._half(self.problem, W, H)
        between = self.problem.objective(W, H)
        H = self._half(self.turned, H.T, W.T).T
        objective = (*state.objective, between, self.problem.objective(W, H))
        found = replace(state, W=W, H=H, steps=state.steps + 1, objective=objective)
        return found if found.steps % self.look else found.seen(self.problem.residual(W, H, self.turned))

    def _started(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        return W, H

    def _ready(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        return self._started(*revived(W, H, self.problem.floor(len(H))))

    @abstractmethod
    def _half(self, problem: Problem, W: Floats, H: Floats) -> Floats:
        """(n, k) W after a step, given H."""


@dataclass(frozen=True)
class Multiplicative(Textbook):
    """Multiplicative updates, for any problem."""

    look = 2 * LOOK  # steps are many and small

    def _started(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """Zeros, which no update would leave, are lifted a little, and if the loss keeps it the total is made that of
        X, which later updates keep."""
        W, H = _lifted(self.problem, W), _lifted(self.turned, H.T).T
        fitted = fitted_total(self.problem.X, W, H)
        if self.problem.loss.keeps_total and fitted > 0:
            scale = np.sqrt(self.problem.X.sum() / fitted)
            W, H = W * scale, H * scale
        return W, H

    def _ready(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        return W, H

    def step(self, state: Search) -> Search:
        """Both factors once. Loss and gradient come from one look at the fit: those after a step are the next one's."""
        W, H, penalty = state.W, state.H, self.problem.penalty
        remembered = state.memory is not None and state.memory[0] is W and state.memory[1] is H
        parts = state.memory[2] if remembered else self.problem.parts(W, H)
        W = self._moved(self.problem, W, parts)
        of_H = self.turned.parts(H.T, W.T)
        between = of_H[2] + penalty.value(W, H)
        H = self._moved(self.turned, H.T, of_H).T
        parts = self.problem.parts(W, H)
        objective = (*state.objective, between, parts[2] + penalty.value(W, H))
        found = replace(state, W=W, H=H, steps=state.steps + 1, objective=objective, memory=(W, H, parts))
        if found.steps % self.look:
            return found
        of_H = self.turned.parts(H.T, W.T)
        return found.seen(float(np.hypot(residual(W, *parts[:2]), residual(H.T, *of_H[:2]))))

    def _half(self, problem: Problem, W: Floats, H: Floats) -> Floats:
        return self._moved(problem, W, problem.parts(W, H))

    def _moved(self, problem: Problem, W: Floats, parts: Parts) -> Floats:
        taken, added, _ = parts
        exponent, floors = problem.loss.exponent, problem.floor(W.shape[1]) * problem.filled
        if exponent in (0.5, 1.0) and native.is_compiled():
            moved = np.empty(W.shape)
            update(W, taken, added, TINY, floors[:, 0], exponent, moved)
            return moved
        moved = np.maximum(added, TINY)
        np.divide(taken, moved, out=moved)
        if exponent != 1.0:
            moved **= exponent
        moved *= W
        return np.maximum(moved, floors, out=moved)


def _lifted(problem: Problem, W: Floats) -> Floats:
    """W with no number below the floor, but for rows of X that are zero, whose factors are zero."""
    return np.maximum(W, problem.floor(W.shape[1]) * problem.filled)


@dataclass(frozen=True)
class PlainHals(Textbook):
    """Hierarchical alternating least squares of complete data: each column of W is set to its best in turn."""

    def _half(self, problem: Problem, W: Floats, H: Floats) -> Floats:
        A, G = np.asarray(problem.X @ H.T), H @ H.T
        l1, l2 = problem.penalty.l1_W, problem.penalty.l2_W
        W = W.copy()
        for t in range(W.shape[1]):
            curve = G[t, t] + l2
            if curve <= 0:  # nothing depends on it: a number that is penalised only costs
                W[:, t] *= l1 == 0
            else:
                W[:, t] = np.maximum(0.0, W[:, t] + (A[:, t] - l1 - W @ G[t] - l2 * W[:, t]) / curve)
        return W


@dataclass(frozen=True)
class PlainNewton(Textbook):
    """Damped Newton steps for the Kullback–Leibler divergence of dense data, all rows at once for one coordinate."""

    sweeps: int = 3

    def _half(self, problem: Problem, W: Floats, H: Floats) -> Floats:
        X, W = problem.X, W.copy()
        least = np.min(X, axis=1, initial=np.inf, where=X > 0)
        for _ in range(self.sweeps):
            for t in range(W.shape[1]):
                share = np.where(X > 0, H[t] / np.maximum(W @ H, TINY), 0.0)
                curve = (X * share**2).sum(axis=1) + problem.penalty.l2_W
                added = H[t].sum() + problem.penalty.l1_W
                slope = added + problem.penalty.l2_W * W[:, t] - (X * share).sum(axis=1)
                moved = np.maximum(W[:, t] - slope / np.where(curve > 0, curve, 1.0), 0.0) - W[:, t]
                length = np.sqrt(curve / least) * np.abs(moved)
                moved /= np.where((slope > 0) & (length > SAFE_STEP), 1.0 + length, 1.0)
                W[:, t] = np.where(curve > 0, W[:, t] + moved, W[:, t] if added == 0 else 0.0)
        return W


@dataclass(frozen=True)
class PlainWeighted(Textbook):
    """Coordinate descent where entries are missing or have weights, all rows at once for one coordinate."""

    sweeps: int = 2

    def _started(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        return without_unseen(self.problem, W, H)

    def _half(self, problem: Problem, W: Floats, H: Floats) -> Floats:
        X, M = problem.X.dense()
        one = _to_its_best if problem.loss.quadratic else _newton
        W = W.copy()
        for _ in range(self.sweeps):
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
    change = np.maximum(change, -SAFE_STEP / np.maximum(share.max(axis=1), TINY))
    return np.asarray(np.where(curve > 0, W[:, t] + change, np.where(added > 0, 0.0, W[:, t])))
