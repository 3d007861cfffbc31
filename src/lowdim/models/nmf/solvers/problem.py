"""The problem that all solvers of non-negative matrix factorisation share, and the state that they step from.

A solver is a step from one state to the next. Each is stopped by the KKT residual: a small step or a small gain says
only that a solver is slow (scikit-learn's updates stop on them, far from a solution).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.errors import BadInput, Setting
from lowdim.models.nmf.loss import FROBENIUS, Loss, Penalty
from lowdim.models.nmf.observed import Observed, csr, observed
from lowdim.models.nmf.solvers.parts import Parts, parts_of, residual, total_of
from lowdim.runtime.progress import stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.iterate import iterate
from lowdim.types import Floats

LOOK = 10
"""Steps between two looks at the KKT residual, which costs about as much as a step."""

ROUNDING = 1e-13
"""KKT residual that is rounding: a start that is a solution cannot be improved by any share."""

FLOOR = 1e-12
"""Share of its usual size below which a number that is only ever multiplied is not let fall: zeros would be kept for
ever (Lin 2007, "On the convergence of multiplicative update algorithms for nonnegative matrix factorization")."""

FINER, PAYS, WORK = 0.01, 1e-5, 2e8
"""The best end is gone on from, to this share of the tolerance, as long as the later half of the steps since the look
before lowered the objective by so large a share, and for so many multiplications at most: a fraction of a second, and
no steps from 20 million entries times parts on."""

COPIED = 1 << 20
"""Entries of dense data up to which a solver makes a copy in the order in which its steps take them."""

LEAST_STRETCH, MOST_STRETCHES = 4096, 16
"""Stored entries that are worth a thread's while, and stretches of rows at most."""

LEAST_WORK = 1 << 20
"""Multiplications that are worth a thread's while."""

AHEAD, GROWTH, CEILING_GROWTH, SHRINK = 0.5, 1.05, 1.01, 1.5
"""Of extrapolation (Ang & Gillis 2019, §4): share of the change at first, growth of the share and of its ceiling when
it pays, division when not."""


@dataclass(frozen=True)
class Problem:
    """X (n, p) ≈ W H for float64 rows, dense in C order, CSR or `Observed`, with non-negative W (n, k) and H (k, p)."""

    X: Any
    loss: Loss = FROBENIUS
    penalty: Penalty = field(default_factory=Penalty)

    @property
    def turned(self) -> Problem:
        """The same with the roles of W and H exchanged."""
        X = self.X.T.tocsr() if scipy.sparse.issparse(self.X) else self.X.T
        return Problem(X, self.loss, self.penalty.turned)

    def objective(self, W: Floats, H: Floats) -> float:
        """Loss and penalties."""
        return self.divergence(W, H) + self.penalty.value(W, H)

    def divergence(self, W: Floats, H: Floats) -> float:
        """The loss of X from W H."""
        return total_of(self.loss, self.X, W, H)

    def gradient_parts(self, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """(n, k) what the gradient of the objective by W takes off, and what it adds."""
        taken, added = self.loss.gradient_parts(self.X, W, H)
        if self.penalty.l1_W or self.penalty.l2_W:
            added = added + (self.penalty.l1_W + self.penalty.l2_W * W)
        return taken, added

    def parts(self, W: Floats, H: Floats) -> Parts:
        """Both of these, and the loss, from one look at the fit."""
        taken, added, lost = parts_of(self.loss, self.X, W, H, self.square)
        if self.penalty.l1_W or self.penalty.l2_W:
            added = added + (self.penalty.l1_W + self.penalty.l2_W * W)
        return taken, added, lost

    @cached_property
    def square(self) -> float:
        """‖X‖² of complete data for least squares, otherwise 0: nobody asks."""
        if not self.loss.quadratic or isinstance(self.X, Observed):
            return 0.0
        values = self.X.data if scipy.sparse.issparse(self.X) else self.X.ravel(order="K")
        return float(values @ values)

    @cached_property
    def mean(self) -> float:
        """Of X."""
        return float(self.X.mean())

    @cached_property
    def filled(self) -> Floats:
        """(n, 1) one for rows of X that are not zero."""
        return np.asarray(np.asarray(self.X.sum(axis=1)).reshape(-1, 1) > 0, dtype=np.float64)

    def residual(self, W: Floats, H: Floats, turned: Problem | None = None) -> float:
        """Of W and H together; a turned problem that is at hand saves turning X."""
        of_W = residual(W, *self.gradient_parts(W, H))
        of_H = residual(H.T, *(turned or self.turned).gradient_parts(H.T, W.T))
        return float(np.hypot(of_W, of_H))

    def floor(self, k: int) -> float:
        """The least number in a factor that is only multiplied: a share of the usual size √(mean / k)."""
        return FLOOR * float(np.sqrt(self.mean / k))


@dataclass(frozen=True)
class Search:
    """The state of a solver."""

    W: Floats
    H: Floats
    tol: float = 1e-4
    """KKT residual that is small enough."""
    steps: int = 0
    objective: tuple[float, ...] = ()
    """What was minimised, wherever the solver looked: never rising."""
    residual: float = np.inf
    """KKT residual at the last look."""
    memory: Any = None
    """What the solver remembers of earlier steps."""
    last: int = 0
    """Steps after which nobody goes on: a solver may make several at once, up to its next look and to these."""

    @property
    def finished(self) -> bool:
        """Whether the KKT residual is small enough, or nothing but rounding."""
        return self.residual <= max(self.tol, ROUNDING)

    @property
    def steps_done(self) -> int:
        """For `iterate`, as a step may make several."""
        return self.steps

    @property
    def distance(self) -> float:
        """How many times what is allowed the KKT residual is."""
        return self.residual / max(self.tol, ROUNDING)

    def seen(self, residual: float) -> Search:
        """With the KKT residual of a look."""
        return replace(self, residual=residual)


def begin(problem: Problem, W: Floats, H: Floats, tol: float = 1e-4, turned: Problem | None = None) -> Search:
    """The state before the first step."""
    start = Search(W, H, tol, objective=(problem.objective(W, H),))
    return start.seen(problem.residual(W, H, turned))


def search(
    start: Search, step: Callable[[Search], Search], most: int, observe: Callable[[Search], None] | None = None
) -> Search:
    """Step until the KKT residual is small, or `most` steps were made, with BLAS on one thread and blocks on many."""
    with one_blas_thread():
        return iterate(replace(start, last=start.steps + most), step, most, observe)


def settled(problem: Problem, end: Search) -> Search:
    """The end of a search, in which numbers at the floor are zero where the gradient holds them down.

    A solution has zeros there (Karush, Kuhn and Tucker); what is only multiplied comes near them and no nearer.
    Factors that are not lower for it, by the objective, stay as they are.
    """
    least = 2 * problem.floor(len(end.H))
    if not any(((factor > 0) & (factor <= least)).any() for factor in (end.W, end.H)):
        return end
    W, H = (
        np.where((factor <= least) & (added >= taken), 0.0, factor)
        for factor, (taken, added) in (
            (end.W, problem.gradient_parts(end.W, end.H)),
            (end.H, tuple(part.T for part in problem.turned.gradient_parts(end.H.T, end.W.T))),
        )
    )
    cost = problem.objective(W, H)
    if not cost <= end.objective[-1]:
        return end
    return replace(end, W=W, H=H, objective=(*end.objective[:-1], cost))


def polished(end: Search, step: Callable[[Search], Search], most: int, work: int, look: int) -> Search:
    """Go on from an end that is as near to a solution as was asked, where that is cheap.

    A small residual of the conditions leaves some per cent of the objective to be had where the way down is flat. Of
    small problems it is had for nothing; of large ones the `work` of a step, entries times parts, leaves no room.
    `look` is how many steps lie between two looks of the solver.
    """
    left = min(most - end.steps, int(WORK / max(work, 1)))
    if not end.finished or end.residual <= ROUNDING:
        return end
    best, state = end, replace(end, tol=FINER * end.tol, last=end.steps + left)
    with one_blas_thread(), stage("refinement", left // look) as tell:
        for done in range(left // look):
            if state.finished or not _still_pays(state.objective, look // 2):
                break
            tell(done)
            state = iterate(state, step, look)
            if state.residual <= end.tol:
                best = replace(state, tol=end.tol)
    return best


def _still_pays(objective: tuple[float, ...], lately: int) -> bool:
    """Whether what was minimised fell in the last steps."""
    before = objective[-min(len(objective), lately + 1)]
    return before - objective[-1] > PAYS * before


@dataclass(frozen=True)
class Beyond:
    """What extrapolated solvers remember between steps, factors stored as the solver wants them.

    Each new point is gone beyond by a share of the last change; the share grows while the objective falls, and a step
    that raised it is taken back (Ang & Gillis 2019, "Accelerating nonnegative matrix factorization algorithms using
    extrapolation").
    """

    W: Floats
    """The last true W, from which the next change is counted."""
    H: Floats
    Wy: Floats
    """Where W is looked at next."""
    Hy: Floats
    share: float = AHEAD
    ceiling: float = 1.0
    plain: bool = True
    """Whether the next step starts from the accepted factors themselves, and so cannot fail."""

    @classmethod
    def nothing(cls, W: Floats, H: Floats, share: float = AHEAD, ceiling: float = 1.0) -> Beyond:
        """Nothing remembered: the next step starts from these factors."""
        return cls(W, H, W, H, share, ceiling)

    @property
    def ahead(self) -> float:
        """Share of the change by which the next step goes on."""
        return 0.0 if self.plain else self.share

    def paid(self, W: Floats, H: Floats, Wy: Floats, Hy: Floats) -> Beyond:
        """After a step that lowered the objective."""
        share, ceiling = min(self.share * GROWTH, self.ceiling), min(self.ceiling * CEILING_GROWTH, 1.0)
        return Beyond(W, H, Wy, Hy, share, ceiling, plain=False)

    def refused(self, W: Floats, H: Floats) -> Beyond:
        """After a step that did not, back at the last factors that were accepted."""
        return Beyond.nothing(W, H, self.share / SHRINK, self.share)


def stretches(n: int, longest: int, each: int = LEAST_WORK) -> tuple[slice, ...]:
    """Equal stretches of n rows for threads, four or a multiple of it, or one where there is little work, of `each`
    multiplications a row; whatever the number of threads: no sum over them depends on it."""
    count = 1 if n * each < 4 * LEAST_WORK else 4 * max(1, -(-n // (4 * longest)))
    edges = [n * i // count for i in range(count + 1)]
    return tuple(slice(a, b) for a, b in pairwise(edges) if b > a)


def even_stretches(starts: NDArray[Any]) -> tuple[tuple[int, int], ...]:
    """Rows first … last of a CSR matrix with about equally many stored entries, whatever the number of threads."""
    n = len(starts) - 1
    work = starts + np.arange(n + 1)  # a row without entries is work too
    count = int(np.clip(work[-1] // LEAST_STRETCH, 1, MOST_STRETCHES))
    edges = np.searchsorted(work, np.linspace(0, work[-1], count + 1))
    edges[0], edges[-1] = 0, n
    return tuple((int(a), int(b)) for a, b in pairwise(edges) if b > a)


def given_to_rows(problem: Problem, Ht: Floats) -> tuple[Floats, Floats, float, float]:
    """What compiled steps of rows with weights are given of Ht (p, k), and the penalties of W."""
    return Ht, problem.loss.sums_of(Ht.T), problem.penalty.l1_W, problem.penalty.l2_W


def revived(W: Floats, H: Floats, small: float) -> tuple[Floats, Floats]:
    """The same product, in which no column of W is zero: a component with W = 0 and H = 0 would never come back.

    Where a column of W is zero H does not matter: its row is set to zero and the column to a small number, and nothing
    is fitted worse.
    """
    dead = np.max(W, axis=0, initial=0.0) == 0.0
    if not dead.any():
        return W, H
    return np.where(dead, small, W), np.where(dead[:, None], 0.0, H)


def without_unseen(problem: Problem, W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """Zeros for rows and columns of which nothing is known: any numbers would do."""
    return W * problem.X.seen_rows[:, None], H * problem.X.T.seen_rows


def checked(X: Any, loss: Loss, weights: Any = None, missing: str | None = None) -> Any:
    """X as solvers want it: float64, C order or CSR without stored zeros, nothing negative; where entries are missing
    or have weights, `Observed` (there: what `weights` and `missing` may be)."""
    if weights is not None or missing is not None:
        X = observed(X, weights, missing)
    if isinstance(X, Observed):
        values, zeros = X.stored.data[X.weights > 0], X.unstored * (X.shape[0] * X.shape[1] - X.stored.nnz)
    elif scipy.sparse.issparse(X):
        X = _without_zeros(X)
        values, zeros = X.data, X.shape[0] * X.shape[1] - X.nnz
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
        values, zeros = X, 0
    wrong = int(np.count_nonzero(~(values >= 0) | np.isinf(values)))
    if wrong:
        raise BadInput(
            f"{_wrong(values)}, and non-negative factors need finite numbers from 0: shift, clip or fill them first."
        )
    zeros = int(zeros) + values.size - int(np.count_nonzero(values))
    if loss.refuses_zeros and zeros:
        raise BadInput(
            f"{zeros} of {X.shape[0] * X.shape[1]} entries are zero, whose divergence with beta = {loss.beta:g} is "
            "infinite: add a small number to all entries, or take ",
            Setting("beta_loss", "kullback-leibler"),
            ".",
        )
    return X


def _without_zeros(X: Any) -> Any:
    """CSR of float64 without duplicates and stored zeros: the same arrays where they are that already."""
    given = X
    X = scipy.sparse.csr_array(X, dtype=np.float64)
    parts = X.data, X.indices, X.indptr
    as_kernels_take_it = X.indices.dtype == X.indptr.dtype and all(part.flags.c_contiguous for part in parts)
    if as_kernels_take_it and X.has_canonical_format and X.data.all():
        return X
    X = scipy.sparse.csr_array(given, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return csr(X.data, X.indices, X.indptr, X.shape)


def _wrong(values: Floats) -> str:
    """What of the entries cannot be taken."""
    below, infinite, missing = (int(np.count_nonzero(one)) for one in (values < 0, np.isinf(values), np.isnan(values)))
    said = {"Negative values in data": below, "Infinite values in data": infinite, "NaN in data": missing}
    return "; ".join(f"{what} ({count:,} of {values.size:,} entries)" for what, count in said.items() if count)
