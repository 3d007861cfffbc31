"""Non-negative factors by the lecture's multiplicative updates, for every β.

W ← W · (what the gradient takes off / what it adds)^γ, then H likewise: Lee & Seung 1999, "Learning the parts of
objects by non-negative matrix factorization", with the exponent of Févotte & Idier 2011 that makes every update lower
the β-divergence. Each is a step of EM for β = 1: the Poisson log-likelihood never falls. Slow, and what others are
held against.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowdim.models.nmf.solvers.loss import KULLBACK_LEIBLER, TINY, fitted_total
from lowdim.models.nmf.solvers.problem import LOOK, Problem, Search, begin
from lowdim.types import Floats


@dataclass(frozen=True)
class Multiplicative:
    """The lecture's steps, in NumPy."""

    problem: Problem
    turned: Problem
    exponent: float

    @classmethod
    def of(cls, problem: Problem) -> Multiplicative:
        """For any problem."""
        return cls(problem, problem.turned, exponent(problem.beta))

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step: zeros, which no update would leave, are lifted a little, and for β = 1 the
        total is made that of X, which later updates keep."""
        W, H = self._lifted(self.problem, W), self._lifted(self.turned, H.T).T
        fitted = fitted_total(self.problem.X, W, H)
        if self.problem.beta == KULLBACK_LEIBLER and fitted > 0:
            scale = np.sqrt(self.problem.X.sum() / fitted)
            W, H = W * scale, H * scale
        return begin(self.problem, W, H, tol, self.turned)

    def step(self, state: Search) -> Search:
        """Both factors once; the objective is noted after each."""
        W = self._updated(self.problem, state.W, state.H)
        between = self.problem.objective(W, state.H)
        H = self._updated(self.turned, state.H.T, W.T).T
        objective = (*state.objective, between, self.problem.objective(W, H))
        found = replace(state, W=W, H=H, steps=state.steps + 1, objective=objective)
        return found if found.steps % LOOK else found.seen(self.problem.residual(W, H, self.turned))

    def _updated(self, problem: Problem, W: Floats, H: Floats) -> Floats:
        taken, added = problem.parts(W, H)
        factor = taken / np.maximum(added, TINY)
        return self._lifted(problem, W * (factor if self.exponent == 1.0 else factor**self.exponent))

    def _lifted(self, problem: Problem, W: Floats) -> Floats:
        """W with no number below the floor, but for rows that are zero."""
        return np.maximum(W, problem.floor(W.shape[1]) * filled_rows(problem))


def exponent(beta: float) -> float:
    """γ(β) of Févotte & Idier 2011, table 2: below 1 and above 2 the bound that is minimised needs a shorter step."""
    if beta < 1:
        return 1.0 / (2.0 - beta)
    return 1.0 if beta <= 2 else 1.0 / (beta - 1.0)


def filled_rows(problem: Problem) -> Floats:
    """(n, 1) one for rows of X with anything in them, zero for others, whose factors are zero."""
    filled: Floats = (np.asarray(problem.X.sum(axis=1)).reshape(-1, 1) > 0).astype(np.float64)
    return filled
