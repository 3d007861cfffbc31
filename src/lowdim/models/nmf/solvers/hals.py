"""Non-negative factors of least squares, by hierarchical alternating least squares.

Each component in turn is set to its best given all others, first in W, then in H (Cichocki & Phan 2009, "Fast local
algorithms for large scale nonnegative matrix and tensor factorizations"): scikit-learn's `cd` without shuffling. The
solver here goes beyond each new point by a share of the last change (Ang & Gillis 2019, "Accelerating nonnegative
matrix factorization algorithms using extrapolation") and takes such a step back if it did not pay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy

from lowdim.models.nmf.solvers import compiled_least_squares, plain_steps
from lowdim.models.nmf.solvers.compiled_least_squares import WIDTH
from lowdim.models.nmf.solvers.problem import (
    CEILING_GROWTH,
    COPIED,
    GROWTH,
    LOOK,
    Beyond,
    Problem,
    Search,
    begin,
    revived,
    stretches,
)
from lowdim.runtime import native
from lowdim.runtime.progress import watched_here
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

SWEEPS, STILL = 5, 0.1
"""Sweeps over a factor at most before the other has its turn, as long as they change more than such a share of what the
first of them changed: they cost less than the products that they use (Gillis & Glineur 2012, "Accelerated
multiplicative updates and hierarchical ALS algorithms for nonnegative matrix factorization")."""

SLAB = 512
"""Samples at most that a thread takes at a time."""


@dataclass(frozen=True)
class Hals:
    """The steps of `PlainHals`, fused over slabs of samples, or of small data as a whole, and extrapolated."""

    problem: Problem
    turned: Problem
    square: float
    """‖X‖² / 2."""
    extrapolated: bool = True
    """Otherwise the steps are those of `PlainHals`: one sweep each."""
    whole: bool = True
    """Otherwise no step is made as a whole in compiled code."""
    look: ClassVar[int] = LOOK

    @classmethod
    def of(cls, problem: Problem, extrapolated: bool = True, whole: bool = True) -> Hals:
        """For a problem with β = 2."""
        X = problem.X
        values = X.data if scipy.sparse.issparse(X) else X.ravel()
        return cls(problem, problem.turned, 0.5 * float(values @ values), extrapolated, whole)

    @cached_property
    def tiles(self) -> Floats:
        """X as whole steps take it."""
        return compiled_least_squares.tiled(self.problem.X)

    def _at_once(self, k: int) -> bool:
        """Whether whole steps are made in compiled code: of small data, where they are the work of one thread."""
        X = self.problem.X
        if not (self.whole and self.extrapolated and isinstance(X, np.ndarray) and 0 < X.size <= COPIED):
            return False
        return native.is_compiled() and len(stretches(len(X), SLAB, X.shape[1] * k)) == 1

    @property
    def sweeps(self) -> int:
        """At most, over a factor."""
        return SWEEPS if self.extrapolated else 1

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step."""
        state = begin(self.problem, W, H, tol, self.turned)
        return replace(state, memory=self._memory(W, H))

    def step(self, state: Search) -> Search:
        """Both factors once, from where extrapolation leads; back to the last factors if that is worse.

        Of small data several such steps, up to the next look but none beyond `state.last`, unless somebody watches.
        """
        memory: Beyond = state.memory
        if self._at_once(len(memory.H)):
            return self._looked_at(self._steps(state))
        ahead = memory.ahead if self.extrapolated else 0.0
        W, Wy, B, G = self._samples(memory, ahead)
        H = np.empty_like(memory.H)
        penalty = self.problem.penalty
        self._sweep(memory.Hy, B, G, penalty.l1_H, penalty.l2_H, H)
        cost = self._objective(Wy, H, B, G)
        if ahead > 0.0 and cost > state.objective[-1]:
            back = self._memory(state.W, state.H)
            return self._looked_at(replace(state, steps=state.steps + 1, memory=memory.refused(back.W, back.H)))
        Hy = np.empty_like(H)
        _kernels().extrapolate(H, memory.H, ahead, Hy)
        found = replace(
            state,
            W=np.ascontiguousarray(Wy.T),
            H=H,
            steps=state.steps + 1,
            objective=(*state.objective, cost),
            memory=memory.paid(W, H, Wy, Hy),
        )
        return self._looked_at(found)

    def _steps(self, state: Search) -> Search:
        """As many steps as there are before the next look, or up to one that is taken back."""
        memory: Beyond = state.memory
        tiles, penalty = self.tiles, self.problem.penalty
        n, p = self.problem.X.shape
        padded, width = len(tiles) * WIDTH, -(-p // WIDTH) * WIDTH
        here, there = np.zeros((2, len(memory.H), 2 * (padded + width)))
        starts = 0, padded, 2 * padded, 2 * padded + width
        places = [slice(at, at + size) for at, size in zip(starts, (n, n, p, p), strict=True)]
        for place, factor in zip(places, (memory.W, memory.Wy, memory.H, memory.Hy), strict=True):
            here[:, place] = factor
        most = min(self.look - state.steps % self.look, state.last - state.steps)
        costs = np.empty(max(1, most) if watched_here() is None else 1)  # the same numbers, whoever hears of each step
        told = np.array([memory.share, memory.ceiling, memory.plain, state.objective[-1], 0, 0], dtype=np.float64)
        penalties = penalty.l1_W, penalty.l2_W, penalty.l1_H, penalty.l2_H
        growth, sweeps = (GROWTH, CEILING_GROWTH), (self.sweeps, STILL)
        compiled_least_squares.hals_steps(tiles, here, there, costs, told, growth, self.square, penalties, *sweeps)
        accepted, made = int(told[4]), int(told[5])
        state = replace(state, steps=state.steps + made)
        if accepted:
            W, Wy, H, Hy = ((there if accepted % 2 else here)[:, place] for place in places)
            memory = Beyond(W, H, Wy, Hy, float(told[0]), float(told[1]), plain=False)
            objective = (*state.objective, *costs[:accepted].tolist())
            factors = np.ascontiguousarray(Wy.T), np.ascontiguousarray(H)
            state = replace(state, W=factors[0], H=factors[1], objective=objective, memory=memory)
        if accepted < made:
            back = self._memory(state.W, state.H)
            state = replace(state, memory=memory.refused(back.W, back.H))
        return state

    def _looked_at(self, state: Search) -> Search:
        """Every few steps: the KKT residual, and whether a component died."""
        if state.steps % self.look:
            return state
        state = state.seen(self.problem.residual(state.W, state.H, self.turned))
        W, H = revived(state.W, state.H, self.problem.floor(len(state.H)))
        if W is state.W or state.finished:
            return state
        return replace(state, W=W, H=H, memory=replace(self._memory(W, H), share=state.memory.share))

    def _memory(self, W: Floats, H: Floats) -> Beyond:
        """Nothing remembered: the next step starts from these factors."""
        W, H = revived(W, H, self.problem.floor(len(H)))
        return Beyond.nothing(np.ascontiguousarray(W.T), H)

    def _samples(self, memory: Beyond, ahead: float) -> tuple[Floats, Floats, Floats, Floats]:
        """The W half-step of every slab: W, W extrapolated, and of that one B = Wy X (k, p) and G = Wy Wyᵀ."""
        kernels = _kernels()
        X, penalty, Hy = self.problem.X, self.problem.penalty, memory.Hy
        sparse = scipy.sparse.issparse(X)
        inner = Hy @ Hy.T
        W, Wy = np.empty_like(memory.W), np.empty_like(memory.W)
        right = np.ascontiguousarray(Hy.T) if sparse else Hy

        def one(at: slice) -> tuple[Floats | None, Floats]:
            A = np.ascontiguousarray((X[at] @ right).T) if sparse else right @ X[at].T
            kernels.sweep(memory.Wy[:, at], A, inner, penalty.l1_W, penalty.l2_W, W[:, at], self.sweeps, STILL)
            kernels.extrapolate(W[:, at], memory.W[:, at], ahead, Wy[:, at])
            y = Wy[:, at]
            return (None if sparse else y @ X[at]), y @ y.T

        B, G = np.zeros(memory.H.shape), np.zeros(inner.shape)
        n, p = X.shape
        each = (X.nnz // max(n, 1) if sparse else p) * len(inner)
        for add_B, add_G in in_order(one, stretches(n, SLAB, each)):
            G += add_G
            if add_B is not None:
                B += add_B
        if sparse:  # by columns of X, which need no sum of large parts
            left = np.ascontiguousarray(Wy.T)
            columns = stretches(p, SLAB, X.nnz // max(p, 1) * len(inner))
            done = list(in_order(lambda at: (self.turned.X[at] @ left).T, columns))
            B = np.ascontiguousarray(np.hstack(done))
        return W, Wy, B, G

    def _sweep(self, F: Floats, A: Floats, G: Floats, l1: float, l2: float, out: Floats) -> None:
        """One sweep over H, columns in threads."""
        kernels = _kernels()

        def one(at: slice) -> None:
            kernels.sweep(F[:, at], A[:, at], G, l1, l2, out[:, at], self.sweeps, STILL)

        for _ in in_order(one, stretches(F.shape[1], SLAB, self.sweeps * len(F) ** 2)):
            pass

    def _objective(self, W: Floats, H: Floats, B: Floats, G: Floats) -> float:
        """½ ‖X‖² − ⟨B, H⟩ + ½ ⟨G, H Hᵀ⟩, which costs no look at X, and penalties."""
        fit = self.square - float(np.einsum("kj,kj->", B, H)) + 0.5 * float(np.einsum("kl,kl->", G, H @ H.T))
        return fit + self.problem.penalty.value(W, H)


def _kernels() -> Any:
    return compiled_least_squares if native.is_compiled() else plain_steps
