"""What a solver is and gives: factors with their errors; and axes completed, rotated and given one sign."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import LowdimError
from lowdim.matrices.matrix import RowBlocks
from lowdim.runtime.progress import ROW, Parts
from lowdim.solvers.keep import Keep
from lowdim.types import EPS, Floats, Mask


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
    """(k,) bound on the error of each value from rounding in the matrix, which a residual cannot show."""
    tilt: Floats
    """(k,) bound on the length of the error in YᵀY v from the same cause: what turns axes."""
    following: float | None
    """The next eigenvalue; None if there is none."""
    following_residual: float = 0.0
    """What the next eigenvalue may lie above that."""
    lost: Mask | None = None
    """(k,) components that lost digits which the rows, read again, would have given; None: no such."""
    growth: Floats | float = 1.0
    """(k,) how many times further axes turn than residual and tilt over the gap: where they come from those of Y Yᵀ."""
    spectrum: Floats | None = None
    """All eigenvalues, where the solver found them anyway."""
    converged: bool = True
    """Whether an iteration came to its end; one that was stopped answers for its residuals, however small all is."""
    measured: bool = True
    """Whether the residuals were measured, or follow from the backward error of a full decomposition."""
    notes: tuple[str, ...] = ()


def backward_error(sizes: Floats, n: int, p: int) -> Floats:
    """(k,) error of squared singular values from LAPACK's SVD of n rows.

    Each σ errs by a modest multiple of eps σ₁ (Anderson et al. 1999, "LAPACK Users' Guide", §4.9), here 8 √p + √n for
    lengths of columns of n numbers, so σ² errs by 2 σ times that, in place of the eps σ₁² of a squared matrix.
    """
    error: Floats = (16 * np.sqrt(p) + 2 * np.sqrt(n)) * EPS * sizes * sizes[:1]
    return error


def last_axis_growth(sizes: Floats, p: int) -> Floats:
    """(k,) what the error of σ² over a gap of σ² has to be taken times, to be an angle: 1 but for the last of p axes.

    An axis turns by the error of σ over the nearest gap of σ (Wedin 1972). With σ² in the place of σ that is the same
    or more for a neighbour below, and less, σ_i / σ_j times, for one far above: the only one that the last axis has.
    """
    growth = np.ones(len(sizes))
    if len(sizes) == p > 1 and sizes[-1] > 0:
        growth[-1] = max(1.0, sizes[-2] / sizes[-1])
    return growth


def find_untrusted(values: Floats, error: Floats, allowed: Floats, p: int) -> Mask:
    """(k,) eigenvalues whose error exceeds what is allowed, and could be less by a decomposition of Y itself.

    That one errs by a few eps σ₁ σ in σ². Below σ = eps √p σ₁ a value is zero for any method.
    """
    if not len(values):
        return np.zeros(0, dtype=bool)
    possible = 48 * np.sqrt(p) * EPS * np.sqrt(values) * np.sqrt(values[0])
    null = 64 * p * EPS**2 * values[0]
    missed: Mask = ~(error <= allowed + possible + null) | ~np.isfinite(error)  # NaN is never trusted
    return missed


class OutgrownError(LowdimError):
    """An iterative solver saw that a direct one will be cheaper."""


class Solver(ABC):
    """A way to find leading eigenpairs of YᵀY."""

    name: str
    needs: type[RowBlocks] = RowBlocks
    rereads: bool = True
    """Whether it reads the rows more than once."""
    parts: Parts = ((ROW, 1.0), (ROW, 1.0))
    """What it does, for a bar."""

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

    def lapack_entries(self, n: int, p: int) -> int:
        """Numbers in the largest array that LAPACK would be given, which counts them in 32 bits."""
        return 0


# Axes: what no data determine of them.


def complete_basis(vectors: Floats, count: int, rng: np.random.Generator) -> Floats:
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


def rotate_onto(W: Floats, before: Floats) -> Floats:
    """(k, k) the rotation that best aligns loadings W (p, k) with those before (Procrustes; Schönemann 1966).

    Rotating the latent space changes no likelihood.
    """
    U, _, Vt = np.linalg.svd(W.T @ before)
    return np.asarray(U @ Vt)


SIGN_TIE = 1e-6
"""Entries within this of the largest magnitude tie with it; far above what solvers differ by."""


def fix_signs(vectors: Floats) -> None:
    """Turn each row, in place, so that its entry of largest magnitude is positive, the lowest index on ties.

    So every solver, batch size and number of threads gives the same sign.
    """
    for vector in vectors:
        size = np.abs(vector)
        first = int(np.argmax(size >= (1 - SIGN_TIE) * size.max()))
        if vector[first] < 0:
            np.negative(vector, out=vector)
