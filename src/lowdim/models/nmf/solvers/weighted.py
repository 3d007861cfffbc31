"""Non-negative factors where entries are missing or have weights, by coordinate descent.

Given H the rows of W are separate convex problems, each with the entries that are known of its row. Least squares: each
coordinate goes to its best given all others (as Yu et al. 2012, "Scalable coordinate descent approaches to parallel
matrix factorization for recommender systems", there without bounds). Kullback–Leibler: each takes a Newton step (Hsieh
& Dhillon 2011), cut where it would be too long. Every weight changes only what an entry adds to slopes and curvatures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.models.nmf.loss import cleaned
from lowdim.models.nmf.solvers import compiled_least_squares, compiled_newton, plain_steps
from lowdim.models.nmf.solvers.alternating import Alternating
from lowdim.models.nmf.solvers.parts import residual
from lowdim.models.nmf.solvers.problem import Problem, even_stretches, given_to_rows, without_unseen
from lowdim.runtime import native
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

SWEEPS = 2
"""Sweeps over the components of a row before the other factor has its turn: what was gathered is used twice."""


@dataclass(frozen=True)
class Weighted(Alternating):
    """The steps on what is stored and its transpose, rows in threads."""

    sweeps: int | None = SWEEPS
    extrapolated: bool = True

    @classmethod
    def of(cls, problem: Problem, sweeps: int = SWEEPS, extrapolated: bool = True) -> Weighted:
        """For a problem with β = 2 or 1 and an observed X."""
        turned = problem.turned
        rows, columns = even_stretches(problem.X.stored.indptr), even_stretches(turned.X.stored.indptr)
        return cls(problem, turned, rows, columns, sweeps, extrapolated)

    def _allowed(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """With zeros where nothing is known."""
        return without_unseen(self.problem, W, H)

    def _objective(self, lost: float, W: Floats, Ht: Floats) -> float:
        return lost + self.problem.penalty.value(W, Ht.T)

    def _looked_at(self, W: Floats, Ht: Floats) -> tuple[float, float]:
        return self._residual(W, Ht), self.problem.objective(W, Ht.T)

    def _half(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats, with_loss: bool
    ) -> tuple[Floats, float]:
        """W given H, and the loss, which is always known."""
        kernels: Any = plain_steps
        if native.is_compiled():
            kernels = compiled_least_squares if problem.loss.quadratic else compiled_newton
        descend = kernels.descend_weighted_rows if problem.loss.quadratic else kernels.newton_weighted_rows
        out, losses = np.empty_like(W), np.empty(len(W))
        stored, given = problem.X.as_stored, given_to_rows(problem, Ht)

        def one(span: tuple[int, int]) -> None:
            descend(stored, *span, given, W, self.sweeps, out, losses)

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
        """What the gradient by W takes off and adds."""
        X, penalty = problem.X, problem.penalty
        counts = not problem.loss.quadratic
        taken = np.empty_like(W)
        added = problem.loss.added_by_zeros(W, Ht.T) * X.unstored
        whole = added.copy()
        stored = X.as_stored
        gradient = (compiled_least_squares if native.is_compiled() else plain_steps).gradient_rows

        def one(span: tuple[int, int]) -> None:
            gradient(stored, *span, W, Ht, counts, taken, added)

        for _ in in_order(one, stretches):
            pass
        return taken, cleaned(added, whole) + penalty.l1_W + penalty.l2_W * W
