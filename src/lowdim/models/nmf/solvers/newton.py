"""Non-negative factors with the Kullback–Leibler divergence, by scalar Newton steps, of sparse and dense rows.

Given H the rows of W are separate convex problems. Each coordinate takes a Newton step in turn: cyclic coordinate
descent (Hsieh & Dhillon 2011, "Fast coordinate descent methods with variable selection for non-negative matrix
factorization"), damped where that is needed to never raise the objective (Hien & Gillis 2021, "Algorithms for
nonnegative matrix factorization with the Kullback–Leibler divergence"). Of sparse rows only stored entries are met:
zeros enter through Σ wh = Σ_k (Σ w_k)(Σ h_k). Steps are extrapolated, as Carbonetto et al. 2021, "Non-negative matrix
factorization algorithms greatly improve topic model fits", do with the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lowdim.models.nmf.solvers import compiled_newton, plain_steps
from lowdim.models.nmf.solvers.alternating import Alternating
from lowdim.models.nmf.solvers.parts import residual
from lowdim.models.nmf.solvers.problem import COPIED, Problem, even_stretches, stretches
from lowdim.runtime import native
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

SPARSE_SWEEPS = 3
"""Sweeps over the components of a row before the other factor has its turn: what was gathered is used again, and later
sweeps meet more components that stay zero. With random seed 0, 3 took the least time over counts of words and of genes
together; 4 was 5 % behind, 6 was 17 %, single runs, and none was first on both."""

FEW = 12
"""Components up to which all of a row move together after one sweep, which takes half as many steps and fewer: the
curvature of k is k²/2 numbers an entry, a sweep 2 k and a division. Beyond, two or three sweeps are ahead."""


@dataclass(frozen=True)
class SparseNewton(Alternating):
    """The steps on a CSR matrix and its transpose, rows in threads."""

    sweeps: int | None = None
    """Over the components of a row, and nothing else; None: as many as are usual."""
    extrapolated: bool = True
    usual: ClassVar[int] = SPARSE_SWEEPS

    @classmethod
    def of(cls, problem: Problem, sweeps: int | None = None, extrapolated: bool = True) -> SparseNewton:
        """For a problem with β = 1 and a CSR matrix without stored zeros."""
        turned = problem.turned
        return cls(
            problem, turned, even_stretches(problem.X.indptr), even_stretches(turned.X.indptr), sweeps, extrapolated
        )

    def _objective(self, stored: float, W: Floats, Ht: Floats) -> float:
        """From Σ x log(x / wh) − x over what is stored."""
        return stored + float(W.sum(axis=0) @ Ht.sum(axis=0)) + self.problem.penalty.value(W, Ht.T)

    def _sweeps(self, k: int) -> tuple[int, bool]:
        """Sweeps over k components, and whether all move together after that."""
        if self.sweeps is not None:
            return self.sweeps, False
        return (1, True) if k <= FEW else (self.usual, False)

    def _half(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats, with_loss: bool
    ) -> tuple[Floats, float]:
        """W given H, and Σ x log(x / wh) − x if it is wanted: logarithms are a tenth of the work."""
        kernels = _kernels()
        X, penalty = problem.X, problem.penalty
        added = Ht.sum(axis=0) + penalty.l1_W
        out, losses, how = np.empty_like(W), np.zeros(len(W)), self._sweeps(W.shape[1])

        def one(span: tuple[int, int]) -> None:
            kernels.newton_rows(
                X.indptr, X.indices, X.data, *span, W, Ht, added, penalty.l2_W, *how, with_loss, out, losses
            )

        for _ in in_order(one, stretches):
            pass
        return out, float(losses.sum())

    def _looked_at(self, W: Floats, Ht: Floats) -> tuple[float, float]:
        """KKT residual of both factors, and the objective."""
        *of_W, _ = self._parts(self.problem, self.rows, W, Ht)
        *of_H, stored = self._parts(self.turned, self.columns, Ht, W)
        return float(np.hypot(residual(W, *of_W), residual(Ht, *of_H))), self._objective(stored, W, Ht)

    def _parts(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats
    ) -> tuple[Floats, Floats, float]:
        """What the gradient by W takes off and adds, and Σ x log(x / wh) − x."""
        kernels = _kernels()
        X, taken, losses = problem.X, np.empty_like(W), np.empty(len(W))

        def one(span: tuple[int, int]) -> None:
            kernels.taken_rows(X.indptr, X.indices, X.data, *span, W, Ht, taken, losses)

        for _ in in_order(one, stretches):
            pass
        return taken, (Ht.sum(axis=0) + problem.penalty.l1_W) + problem.penalty.l2_W * W, float(losses.sum())


def _kernels() -> Any:
    return compiled_newton if native.is_compiled() else plain_steps


# Scalar Newton steps for the Kullback–Leibler divergence of dense rows, which are taken as they lie.
#
# All rows share one H, so that nothing needs to be gathered, and zeros, of which there are few, are met like any
# other entry. Columns are copied some at a time: of large data no second X is made.

DENSE_SWEEPS = 2
"""Sweeps over a row before the other factor has its turn: nothing was gathered that should be used more often."""

SLAB = 1 << 18
"""Entries of the rows, or columns, that a thread takes at a time, if that makes more of them than LEAST."""

LEAST = 64

SHORT = 256
"""Entries of a row up to which rows are taken side by side."""

WORK = 16
"""Multiplications in the time of which a step of a few parts is made for one entry."""


def _in_order(X: Floats) -> Floats:
    """Dense rows as compiled steps take them: short ones side by side."""
    if X.shape[1] > SHORT:
        return np.ascontiguousarray(X)
    return X if X.strides[0] == X.itemsize else np.asfortranarray(X)


@dataclass(frozen=True)
class DenseNewton(SparseNewton):
    """The steps on a dense matrix, rows and columns in threads."""

    usual: ClassVar[int] = DENSE_SWEEPS

    @classmethod
    def of(cls, problem: Problem, sweeps: int | None = None, extrapolated: bool = True) -> DenseNewton:
        """For a problem with β = 1 and a dense X in C order."""
        (n, p), turned = problem.X.shape, problem.turned
        if problem.X.size <= COPIED:
            problem, turned = (replace(one, X=_in_order(one.X)) for one in (problem, turned))
        rows, columns = (
            tuple((at.start, at.stop) for at in stretches(length, max(LEAST, SLAB // max(other, 1)), WORK * other))
            for length, other in ((n, p), (p, n))
        )
        return cls(problem, turned, rows, columns, sweeps, extrapolated)

    def _half(
        self, problem: Problem, stretches: tuple[tuple[int, int], ...], W: Floats, Ht: Floats, with_loss: bool
    ) -> tuple[Floats, float]:
        kernels = _kernels()
        X, penalty = problem.X, problem.penalty
        added = Ht.sum(axis=0) + penalty.l1_W
        H = np.ascontiguousarray(Ht.T)
        out, losses, how = np.empty_like(W), np.zeros(len(W)), self._sweeps(W.shape[1])

        def one(span: tuple[int, int]) -> None:
            at = slice(*span)
            given = W[at], H, added, penalty.l2_W, *how, with_loss, out[at], losses[at]
            if X.shape[1] <= SHORT:
                kernels.newton_dense_columns(_in_order(X[at]).T, *given)
            else:
                kernels.newton_dense_rows(_in_order(X[at]), *given)

        for _ in in_order(one, stretches):
            pass
        return out, float(losses.sum())

    def _looked_at(self, W: Floats, Ht: Floats) -> tuple[float, float]:
        *of_W, lost = self.problem.parts(W, Ht.T)
        *of_H, _ = self.turned.parts(Ht, W.T)
        cost = lost + self.problem.penalty.value(W, Ht.T)
        return float(np.hypot(residual(W, *of_W), residual(Ht, *of_H))), cost
