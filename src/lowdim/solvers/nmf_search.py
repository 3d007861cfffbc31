"""The problem that all solvers of non-negative matrix factorisation share, and the state that they step from.

A solver is a step from one state to the next. Each is stopped by the KKT residual relative to that of the start: a
small step or a small gain says only that a solver is slow (scikit-learn's updates stop on them, far from a solution).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.solvers.iterate import iterate
from lowdim.solvers.nmf_loss import FROBENIUS, ITAKURA_SAITO, Penalty, loss, parts, residual
from lowdim.sources.workers import one_blas_thread

Floats = NDArray[np.float64]

LOOK = 10
"""Steps between two looks at the KKT residual, which costs about as much as a step."""

ROUNDING = 1e-13
"""KKT residual that is rounding: a start that is a solution cannot be improved by any share."""

FLOOR = 1e-12
"""Share of its usual size below which a number that is only ever multiplied is not let fall: zeros would be kept for
ever (Lin 2007, "On the convergence of multiplicative update algorithms for nonnegative matrix factorization")."""


@dataclass(frozen=True)
class Problem:
    """X (n, p) ≈ W H for float64 rows, dense in C order or CSR, with non-negative W (n, k) and H (k, p)."""

    X: Any
    beta: float = FROBENIUS
    penalty: Penalty = field(default_factory=Penalty)

    @property
    def turned(self) -> Problem:
        """The same with the roles of W and H exchanged."""
        X = self.X.T.tocsr() if scipy.sparse.issparse(self.X) else self.X.T
        return Problem(X, self.beta, self.penalty.turned)

    def objective(self, W: Floats, H: Floats) -> float:
        """Loss and penalties."""
        return loss(self.X, W, H, self.beta) + self.penalty.value(W, H)

    def parts(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """(n, k) what the gradient of the objective by W takes off, and what it adds."""
        taken, added = parts(self.X, W, H, self.beta)
        if self.penalty.l1_W or self.penalty.l2_W:
            added = added + (self.penalty.l1_W + self.penalty.l2_W * W)
        return taken, added

    def residual(self, W: Floats, H: Floats, turned: Problem | None = None) -> float:
        """Of W and H together; a turned problem that is at hand saves turning X."""
        of_W = residual(W, *self.parts(W, H))
        of_H = residual(H.T, *(turned or self.turned).parts(H.T, W.T))
        return float(np.hypot(of_W, of_H))

    def floor(self, k: int) -> float:
        """The least number in a factor that is only multiplied: a share of the usual size √(mean / k)."""
        return FLOOR * float(np.sqrt(self.X.mean() / k))


@dataclass(frozen=True)
class Search:
    """The state of a solver."""

    W: Floats
    H: Floats
    tol: float = 1e-4
    """KKT residual, as a share of that of the start, that is small enough."""
    steps: int = 0
    objective: tuple[float, ...] = ()
    """What was minimised, wherever the solver looked: never rising."""
    residual: float = np.inf
    """KKT residual at the last look."""
    first: float = np.inf
    """That of the start."""
    memory: Any = None
    """What the solver remembers of earlier steps."""

    @property
    def finished(self) -> bool:
        """Whether the KKT residual is small enough, or nothing but rounding."""
        return self.residual <= max(self.tol * self.first, ROUNDING)

    def seen(self, residual: float) -> Search:
        """With the KKT residual of a look."""
        return replace(self, residual=residual, first=self.first if np.isfinite(self.first) else residual)


def begin(problem: Problem, W: Floats, H: Floats, tol: float = 1e-4, turned: Problem | None = None) -> Search:
    """The state before the first step."""
    start = Search(W, H, tol, objective=(problem.objective(W, H),))
    return start.seen(problem.residual(W, H, turned))


def search(
    start: Search, step: Callable[[Search], Search], most: int, observe: Callable[[Search], None] | None = None
) -> Search:
    """Step until the KKT residual is small, or `most` steps were made, with BLAS on one thread and blocks on many."""
    with one_blas_thread():
        return iterate(start, step, most, observe)


def stretches(n: int, longest: int) -> tuple[slice, ...]:
    """Equal stretches of n rows for threads, four or a multiple of it, whatever the number of threads: no sum over
    them depends on it."""
    count = 4 * max(1, -(-n // (4 * longest)))
    edges = [n * i // count for i in range(count + 1)]
    return tuple(slice(a, b) for a, b in pairwise(edges) if b > a)


def revived(W: Floats, H: Floats, small: float) -> tuple[Floats, Floats]:
    """The same product, in which no column of W is zero: a component with W = 0 and H = 0 would never come back.

    Where a column of W is zero H does not matter: its row is set to zero and the column to a small number, and nothing
    is fitted worse.
    """
    dead = np.max(W, axis=0, initial=0.0) == 0.0
    if not dead.any():
        return W, H
    return np.where(dead, small, W), np.where(dead[:, None], 0.0, H)


def checked(X: Any, beta: float) -> Any:
    """X as solvers want it: float64, C order or CSR without stored zeros, nothing negative or missing."""
    if scipy.sparse.issparse(X):
        X = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        values = X.data
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
        values = X
    wrong = int(np.count_nonzero(~(values >= 0) | np.isinf(values)))
    if wrong:
        raise BadInput(
            f"{wrong} of {values.size} entries are negative, infinite or missing, and non-negative factors need finite "
            "numbers from 0: shift or clip them, or fill what is missing first."
        )
    zeros = X.shape[0] * X.shape[1] - int(np.count_nonzero(values))
    if beta <= ITAKURA_SAITO and zeros:
        raise BadInput(
            f"{zeros} of {X.shape[0] * X.shape[1]} entries are zero, whose divergence with beta = {beta:g} is "
            "infinite: add a small number to all entries, or take beta_loss='kullback-leibler'."
        )
    return X
