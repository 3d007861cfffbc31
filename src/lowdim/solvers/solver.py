"""What a solver is and gives: a value that says which rung of the ladder it needs; factors with their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import LowdimError
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.solvers.keep import Keep

Floats = NDArray[np.float64]

TOLERANCE = 1e-10
"""Relative accuracy that is aimed at when the user names none."""


@dataclass(frozen=True)
class Factors:
    """Leading eigenpairs of YᵀY, largest first, and how far they can be trusted."""

    values: Floats
    """(k,) eigenvalues."""
    vectors: Floats
    """(k, p) orthonormal rows."""
    residuals: Floats
    """(k,) ‖YᵀY v − value v‖."""
    rounding: Floats
    """(k,) probable error of each value from rounding in the data's products, which a residual cannot show."""
    following: float | None
    """The next eigenvalue; None if there is none."""
    following_residual: float = 0.0
    spectrum: Floats | None = None
    """All eigenvalues, where the solver found them anyway."""
    measured: bool = True
    """Whether the residuals were measured, or follow from the backward error of a full decomposition."""
    notes: tuple[str, ...] = ()
    scatter: Floats | None = field(default=None, repr=False)


class OutgrownError(LowdimError):
    """An iterative solver saw that a direct one will be cheaper."""


class Solver(ABC):
    """A way to find leading eigenpairs of YᵀY."""

    name: str
    needs: type[RowBlocks] = RowBlocks
    rereads: bool = True
    """Whether it reads the rows more than once."""

    @abstractmethod
    def solve(self, matrix: Any, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""

    @abstractmethod
    def seconds(self, n: int, p: int, k: int) -> float:
        """Rough cost on two cores of 2024; only comparisons between solvers matter."""

    @abstractmethod
    def memory(self, n: int, p: int, k: int) -> int:
        """Bytes needed beside the data and the result."""

    @abstractmethod
    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""


def complete(vectors: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Add rows until there are `count` orthonormal ones: directions without variance are any that are left."""
    k, p = vectors.shape
    full = np.empty((count, p))
    full[:k] = vectors
    while k < count:
        fresh = rng.standard_normal((count - k, p))
        for _ in range(2):  # twice is enough (Parlett 1998, §6.9)
            fresh -= (fresh @ full[:k].T) @ full[:k]
        Q, R = np.linalg.qr(fresh.T)
        good = np.abs(R.diagonal()) > 1e-8
        full[k : k + good.sum()] = Q.T[good]
        k += int(good.sum())
    return full


def in_memory(matrix: RowBlocks) -> bool:
    """Whether the matrix is on the top rung."""
    return isinstance(matrix, InMemory)
