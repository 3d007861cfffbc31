"""Solvers that set the rows of one factor to something better, then those of the other, and go beyond both.

Newton's steps of complete data, and all steps where entries are missing or have weights, differ in what a row is given
and how it is set; what they do with it is here (Ang & Gillis 2019, as `problem.Beyond` has it).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lowdim.models.nmf.solvers.problem import LOOK, Beyond, Problem, Search, revived
from lowdim.types import Floats


@dataclass(frozen=True)
class Alternating(ABC):
    """Rows of both factors in turn, extrapolated; a step that raised the objective is taken back."""

    problem: Problem
    turned: Problem
    rows: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]
    sweeps: int | None
    extrapolated: bool
    look: ClassVar[int] = LOOK

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step, which remembers H by column, (p, k)."""
        W, H = self._allowed(W, H)
        first, cost = self._looked_at(W, np.ascontiguousarray(H.T))
        return Search(W, H, tol, objective=(cost,), memory=self._memory(W, H)).seen(first)

    def step(self, state: Search) -> Search:
        """Both factors once, from where extrapolation leads; back to the last factors if that is worse."""
        memory: Beyond = state.memory
        ahead = memory.ahead if self.extrapolated else 0.0
        W, _ = self._half(self.problem, self.rows, memory.Wy, memory.Hy, False)
        Wy = _beyond(W, memory.W, ahead)
        Ht, stored = self._half(self.turned, self.columns, memory.Hy, Wy, True)
        cost = self._objective(stored, Wy, Ht)
        if ahead > 0.0 and cost > state.objective[-1]:
            back = self._memory(state.W, state.H)
            found = replace(state, steps=state.steps + 1, memory=memory.refused(back.W, back.H))
        else:
            onward = memory.paid(W, Ht, Wy, _beyond(Ht, memory.H, ahead))
            objective = (*state.objective, cost)
            found = replace(state, W=Wy, H=Ht.T, steps=state.steps + 1, objective=objective, memory=onward)
        if found.steps % self.look:
            return found
        found = found.seen(self._residual(found.W, np.ascontiguousarray(found.H.T)))
        return found if found.finished else self._revived(found)

    def _memory(self, W: Floats, H: Floats) -> Beyond:
        """Nothing remembered: the next step starts from these factors."""
        W, H = self._allowed(*revived(W, H, self.problem.floor(len(H))))
        return Beyond.nothing(W, np.ascontiguousarray(H.T))

    def _revived(self, state: Search) -> Search:
        """With a fresh memory if a component died."""
        W, H = revived(state.W, state.H, self.problem.floor(len(state.H)))
        if W is state.W:
            return state
        W, H = self._allowed(W, H)
        return replace(state, W=W, H=H, memory=replace(self._memory(W, H), share=state.memory.share))

    def _allowed(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """The same factors, as the solver wants them to begin with."""
        return W, H

    def _residual(self, W: Floats, Ht: Floats) -> float:
        """Of both factors together."""
        return self._looked_at(W, Ht)[0]

    @abstractmethod
    def _half(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats, with_loss: bool
    ) -> tuple[Floats, float]:
        """W given H, and what `_objective` needs of the loss, if it is wanted."""

    @abstractmethod
    def _objective(self, lost: float, W: Floats, Ht: Floats) -> float:
        """From what the last half-step says of the loss."""

    @abstractmethod
    def _looked_at(self, W: Floats, Ht: Floats) -> tuple[float, float]:
        """KKT residual of both factors, and the objective."""


def _beyond(new: Floats, old: Floats, ahead: float) -> Floats:
    """New and a share of the change since old, not below zero."""
    return np.maximum(new + ahead * (new - old), 0.0) if ahead else new
