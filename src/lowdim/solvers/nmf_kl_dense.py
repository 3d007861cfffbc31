"""Scalar Newton steps for the Kullback–Leibler divergence of dense rows, which are taken as they lie.

All rows share one H, so that nothing needs to be gathered, and zeros, of which there are few, are met like any other
entry. Columns are copied some at a time: no second X is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.nmf_kl_sparse import SparseNewton
from lowdim.solvers.nmf_loss import loss
from lowdim.solvers.nmf_search import Problem, stretches
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

SWEEPS = 2
"""Sweeps over a row before the other factor has its turn: nothing was gathered that should be used more often."""

SLAB = 64
"""Rows, or columns, at most that a thread takes at a time."""


@dataclass(frozen=True)
class DenseNewton(SparseNewton):
    """The steps compiled, on a dense matrix, rows and columns in threads."""

    @classmethod
    def of(cls, problem: Problem, sweeps: int = SWEEPS, extrapolated: bool = True) -> DenseNewton:
        """For a problem with β = 1 and a dense X in C order."""
        n, p = problem.X.shape
        rows, columns = ([(at.start, at.stop) for at in stretches(length, SLAB)] for length in (n, p))
        return cls(problem, problem.turned, tuple(rows), tuple(columns), sweeps, extrapolated)

    def _half(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats, with_loss: bool
    ) -> tuple[Floats, float]:
        kernels = _compiled()
        X, penalty = problem.X, problem.penalty
        added = Ht.sum(axis=0) + penalty.l1_W
        H = np.ascontiguousarray(Ht.T)
        out, losses = np.empty_like(W), np.zeros(len(W))

        def one(span: tuple[int, int]) -> None:
            at = slice(*span)
            rows = np.ascontiguousarray(X[at])
            kernels.newton_dense_rows(rows, W[at], H, added, penalty.l2_W, self.sweeps, with_loss, out[at], losses[at])

        for _ in in_order(one, stretches):
            pass
        return out, float(losses.sum())

    def _looked_at(self, W: Floats, Ht: Floats) -> tuple[float, float]:
        H = Ht.T
        cost = loss(self.problem.X, W, H, self.problem.beta) + self.problem.penalty.value(W, H)
        return self.problem.residual(W, H, self.turned), cost


def _compiled() -> Any:
    from lowdim.solvers import nmf_kl_kernels

    return nmf_kl_kernels
