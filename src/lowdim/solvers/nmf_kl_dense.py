"""Non-negative factors of dense data with the Kullback–Leibler divergence: fused, extrapolated multiplicative updates.

On dense data the updates are four products of matrices, which nothing with divisions entry by entry beats. A few rows
at a time go through all of a step while they are in the cache. Between steps both factors go on in the direction of the
last change, but only where it was up: numbers that fall towards zero would be taken below it (after Ang & Gillis 2019,
with the sequence of Nesterov 1983). A look at the objective every few steps takes back what did not pay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.nmf_loss import TINY
from lowdim.solvers.nmf_multiplicative import Multiplicative, filled_rows
from lowdim.solvers.nmf_search import Problem, Search, stretches
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

MOST_AHEAD = 0.98
"""Share of the last change that is never exceeded."""

ROOM = 1 << 15
"""Numbers in the rows that go through a step together: a quarter of what the second cache holds."""

LOOK = 20
"""Steps between two looks, which cost as much as three steps: logarithms."""

SLAB = 512
"""Rows at most that a thread takes at a time."""


@dataclass(frozen=True)
class Beyond:
    """What extrapolation remembers."""

    W: Floats
    """The last true factors, from which the next change is counted."""
    H: Floats
    Wy: Floats
    """Where they are looked at next."""
    Hy: Floats
    safe: tuple[Floats, Floats]
    """The factors of the last look."""
    nesterov: float = 1.0
    plain: bool = False
    """No extrapolation before the next look: the last one had to be taken back."""


@dataclass(frozen=True)
class DenseKullbackLeibler:
    """Multiplicative steps for β = 1, fused over slabs of rows."""

    problem: Problem
    simple: Multiplicative
    slabs: tuple[slice, ...]
    rooms: tuple[Floats, ...]
    """(k, p) of every slab, taken once: what the gradient by H takes off."""
    floors: tuple[Floats, Floats]
    """(n, 1) and (1, p): the least numbers of W and H."""
    extrapolated: bool = True

    @classmethod
    def of(cls, problem: Problem, k: int, extrapolated: bool = True) -> DenseKullbackLeibler:
        """For a problem with β = 1 and a dense X in C order."""
        n, p = problem.X.shape
        simple = Multiplicative.of(problem)
        slabs = stretches(n, SLAB)
        rooms = tuple(np.empty((k, p)) for _ in slabs)
        floor = problem.floor(k)
        floors = floor * filled_rows(problem), floor * filled_rows(simple.turned).T
        return cls(problem, simple, slabs, rooms, floors, extrapolated)

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step."""
        start = self.simple.begin(W, H, tol)
        W, H = np.ascontiguousarray(start.W), np.ascontiguousarray(start.H)
        return replace(start, W=W, H=H, memory=Beyond(W, H, W, H, (W, H)))

    def step(self, state: Search) -> Search:
        """Both factors once, from where extrapolation leads."""
        memory: Beyond = state.memory
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * memory.nesterov**2))
        ahead = min((memory.nesterov - 1.0) / following, MOST_AHEAD)
        if memory.plain or not self.extrapolated:
            ahead = 0.0
        W, Wy, taken, uphill = self._samples(memory, ahead)
        penalty = self.problem.penalty
        added = Wy.sum(axis=0)[:, None] + penalty.l1_H + (penalty.l2_H * memory.Hy if penalty.l2_H else 0.0)
        H = np.maximum(memory.Hy * taken / np.maximum(added, TINY), self.floors[1])
        uphill += float(np.einsum("kj,kj->", added - taken, H - memory.H))
        Hy = H + ahead * np.maximum(H - memory.H, 0.0) if ahead else H
        if uphill > 0:  # gradient and last change agree: O'Donoghue & Candès 2015, "Adaptive restart for accelerated
            following = 1.0  # gradient schemes"
        beyond = Beyond(W, H, Wy, Hy, memory.safe, following, memory.plain)
        found = replace(state, W=Wy, H=H, steps=state.steps + 1, memory=beyond)
        return found if found.steps % LOOK else self._looked_at(found)

    def _looked_at(self, state: Search) -> Search:
        """With objective and KKT residual; back at the last look if the objective has risen since."""
        cost = self.problem.objective(state.W, state.H)
        if cost > state.objective[-1] and not state.memory.plain and self.extrapolated:
            W, H = state.memory.safe
            return replace(state, W=W, H=H, memory=Beyond(W, H, W, H, (W, H), plain=True))
        memory = replace(state.memory, safe=(state.W, state.H), plain=False)
        found = replace(state, objective=(*state.objective, cost), memory=memory)
        return found.seen(self.problem.residual(state.W, state.H, self.simple.turned))

    def _samples(self, memory: Beyond, ahead: float) -> tuple[Floats, Floats, Floats, float]:
        """The W half-step of every slab: W, W extrapolated, what the gradient by H takes off there, (k, p), and
        whether the step by W went against the gradient (positive)."""
        kernels = _compiled()
        X, Hy, penalty = self.problem.X, memory.Hy, self.problem.penalty
        sums = Hy.sum(axis=1) + penalty.l1_W
        W, Wy = np.empty_like(memory.W), np.empty_like(memory.W)
        height = max(16, ROOM // X.shape[1])

        def one(task: int) -> float:
            at = self.slabs[task]
            given = X[at], memory.W[at], memory.Wy[at], Hy, sums, penalty.l2_W, self.floors[0][at], ahead, height
            return float(kernels.update_rows(*given, W[at], Wy[at], self.rooms[task]))

        uphill = sum(in_order(one, range(len(self.slabs))))
        taken = np.zeros_like(Hy)
        for room in self.rooms:
            taken += room
        return W, Wy, taken, uphill


def _compiled() -> Any:
    from lowdim.solvers import nmf_kl_dense_kernels

    return nmf_kl_dense_kernels
