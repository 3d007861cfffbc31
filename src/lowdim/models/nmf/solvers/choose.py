"""Which solver finds non-negative factors, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import scipy

from lowdim.errors import BadParameter
from lowdim.models.nmf.loss import NAMED, Loss
from lowdim.models.nmf.observed import Observed
from lowdim.models.nmf.solvers.compiled_least_squares import WIDTH
from lowdim.models.nmf.solvers.hals import Hals
from lowdim.models.nmf.solvers.newton import DenseNewton, SparseNewton
from lowdim.models.nmf.solvers.problem import COPIED, Problem, Search
from lowdim.models.nmf.solvers.textbook import Multiplicative
from lowdim.models.nmf.solvers.weighted import Weighted
from lowdim.types import Floats

NAMES = {
    "hals": "hierarchical alternating least squares, extrapolated",
    "newton": "scalar Newton steps, extrapolated",
    "mu": "multiplicative updates",
    "known": "coordinate steps over the known entries",
}

SAME = {"cd": "hals"}
"""scikit-learn's other name."""

REASONS = {
    "hals": "exact steps for each part in turn are fastest for squared errors",
    "newton": "its steps know the curvature, and of sparse rows meet only what is stored",
}
"""Why it is the first of the solvers of a loss."""

COPIES = {"hals": 6, "newton": 6, "mu": 6, "known": 5}
"""Arrays of the size of both factors that a solver holds at a time."""


class NmfSolver(Protocol):
    """A state to begin with, and a step."""

    @property
    def look(self) -> int:
        """Steps between two looks at the KKT residual."""

    def begin(self, W: Floats, H: Floats, tol: float = 1e-4) -> Search:
        """The state before the first step."""

    def step(self, state: Search) -> Search:
        """The next state."""


@dataclass(frozen=True)
class Choice:
    """A solver by name, and why it was taken."""

    name: str
    reason: str


def check(solver: str, loss: Loss) -> None:
    """Raise an error unless it is a solver's name that goes with the loss."""
    name = SAME.get(solver, solver)
    others = [repr(one.spellings[0]) for one in NAMED if name in one.solvers]
    if name != "auto" and not others:
        raise BadParameter.of("NMF", "solver", solver, "'auto', 'cd', 'hals', 'newton' or 'mu'")
    if name not in ("auto", *loss.solvers):
        needed = f"'auto' or 'mu' unless beta_loss={' or '.join(others)}"
        raise BadParameter.of("NMF", "solver", solver, needed)


def choose(solver: str, problem: Problem) -> Choice:
    """The solver that was asked for, or the one that is fastest for such data."""
    check(solver, problem.loss)
    name, reason = usual(solver, problem.loss)
    if isinstance(problem.X, Observed) and name != "mu":
        return Choice("known", "entries are missing or have weights, and only the known ones are met")
    return Choice(name, reason)


def usual(solver: str, loss: Loss) -> tuple[str, str]:
    """The solver of complete data by name, and why."""
    if solver != "auto":
        return SAME.get(solver, solver), "it was asked for"
    fastest = loss.solvers[0]
    return fastest, REASONS.get(fastest) or f"it is the only one for β = {loss.beta:g}"


def built(name: str, problem: Problem) -> NmfSolver:
    """The solver for a problem."""
    if name == "hals":
        return Hals.of(problem)
    if name == "newton":
        return (SparseNewton if scipy.sparse.issparse(problem.X) else DenseNewton).of(problem)
    if name == "known":
        return Weighted.of(problem)
    return Multiplicative.of(problem)


def stored_entries(problem: Problem) -> int | None:
    """Entries that are stored; None of a dense matrix."""
    X = problem.X.stored if isinstance(problem.X, Observed) else problem.X
    return int(X.nnz) if scipy.sparse.issparse(X) else None


def memory(name: str, shape: tuple[int, int], k: int, stored: int | None) -> int:
    """Bytes beside the data; where entries are stored one by one, those of a checked copy and of the turned one."""
    n, p = shape
    each = 40 if name == "known" else 24
    copied = 8 * (n + WIDTH) * p if stored is None and name in ("hals", "newton") and n * p <= COPIED else 0
    return COPIES[name] * 8 * k * (n + p) + each * (stored or 0) + copied
