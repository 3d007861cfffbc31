"""The p × p matrix YᵀY in one pass over the rows, then its leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
import scipy

from lowdim.matrices.compiled_products import BLAS_SPEED
from lowdim.matrices.matrix import FormedMatrix, RowBlocks
from lowdim.matrices.rounding import Rounding
from lowdim.runtime.progress import ROW
from lowdim.runtime.threads import all_blas_threads
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.solver import Factors, OutgrownError, Solver
from lowdim.types import EPS, Floats

MAX_COLUMNS_DIRECT = 1500
"""Up to this many columns LAPACK's whole tridiagonalisation is no slower than an iteration for a few vectors."""

MAX_COLUMNS_ONE_CORE = 1000
"""Up to this many columns LAPACK works on one core, and up to DIRECT where a few vectors are wanted. For ten of 1,092
a second core that is idle saves 0.03 of 0.10 s, of 1,500 0.09 of 0.25 s; one that is not idle cost 1 to 5 s."""

MAX_VARYING = 0.95
"""Share of columns that vary up to which the others are left out before LAPACK begins: edges of pictures, mostly."""


@final
@dataclass(frozen=True)
class Covariance(Solver):
    """Scatter by blocks, eigenvectors by LAPACK or, for a few of many, by block Lanczos."""

    directly: bool = False
    """Go to LAPACK at once: an iteration has been tried, and needed too many vectors."""
    speed: float = field(default=BLAS_SPEED, compare=False)
    """Rows times columns squared that a second forms the scatter of."""
    name = "covariance"
    rereads = False
    parts = ((ROW, 1.0),)

    def solve(self, matrix: RowBlocks, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""
        S = matrix.scatter()
        keep = keep.for_rows(matrix.moments.n_rows, matrix.moments.weight)
        most = min(len(S), matrix.moments.n_rows)
        return find_leading_pairs(S, matrix.scatter_rounding, keep, tol, rng, most, self.directly)

    def seconds(self, n: int, p: int, k: int) -> float:
        """n p² flops, and the eigenvectors."""
        direct = (0.6e-10 if 8 * k < p else 1.1e-10) * p**3
        iterated = BlockLanczos().seconds(p, p, k) / 2
        return n * p**2 / self.speed + (direct if p <= MAX_COLUMNS_DIRECT or self.directly else min(direct, iterated))

    def memory(self, n: int, p: int, k: int) -> int:
        """The scatter, a few times over: one per thread, the sum, LAPACK's copy."""
        return int(8 * p * p * 5)

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return "1 pass (1 more if digits were lost)"


def find_leading_pairs(
    S: Floats,
    rounding: Rounding,
    keep: Keep,
    tol: float,
    rng: np.random.Generator,
    most: int,
    directly: bool = False,
) -> Factors:
    """Eigenpairs of a formed symmetric matrix."""
    p = len(S)
    few = isinstance(keep, KeepCount) and 8 * keep.k < p
    if p > MAX_COLUMNS_DIRECT and not directly and not keep.needs_all and (few or not isinstance(keep, KeepCount)):
        try:
            return BlockLanczos(most_share=0.2).solve(FormedMatrix(S, rounding), keep, tol, rng)
        except OutgrownError:
            pass
    if p <= (MAX_COLUMNS_DIRECT if few else MAX_COLUMNS_ONE_CORE):
        return make_factors(S, *_eigh(S, keep, most), rounding, keep, most)
    with all_blas_threads():
        return make_factors(S, *_eigh(S, keep, most), rounding, keep, most)


def _eigh(S: Floats, keep: Keep, most: int) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and vectors in columns: of the last few if only they are wanted and that is cheaper."""
    p = len(S)
    if isinstance(keep, KeepCount) and 3 * (keep.k + 1) < p:
        varying = np.flatnonzero(S.diagonal())  # the other columns have no part in these vectors
        part = S if len(varying) > MAX_VARYING * p or 3 * (keep.k + 1) >= len(varying) else S[np.ix_(varying, varying)]
        wanted = (len(part) - keep.k - 1, len(part) - 1)
        values, vectors = scipy.linalg.eigh(part, driver="evr", subset_by_index=wanted, check_finite=False)
        if len(values) > keep.k:  # it may give fewer where eigenvalues are equal
            if part is S:
                return values, vectors
            whole = np.zeros((p, len(values)))
            whole[varying] = vectors
            return values, whole
    if p > MAX_COLUMNS_ONE_CORE and not isinstance(keep, KeepCount):
        return _eigh_of_kept(S, keep, most)
    values, vectors = np.linalg.eigh(S)
    return values, vectors


def _eigh_of_kept(S: Floats, keep: Keep, most: int) -> tuple[Floats, Floats]:
    """All eigenvalues, but only the vectors that the rule keeps once it has seen them.

    What numpy.linalg.eigh does (S = Q T Qᵀ, T tridiagonal = Z Λ Zᵀ, vectors Q Z; Golub & Van Loan 2013, §8.3), with
    the last, most expensive product made only for the columns that are wanted.
    """
    p = len(S)
    reflectors, diagonal, beside, tau, info = scipy.linalg.lapack.dsytrd(S, lower=1, lwork=64 * p)
    if info:
        raise np.linalg.LinAlgError(f"dsytrd: info {info}")
    values, Z = scipy.linalg.eigh_tridiagonal(diagonal, beside, check_finite=False)
    k = keep.count(np.maximum(values[::-1], 0.0)[:most], float(S.trace())) or most
    Z = np.asfortranarray(Z[:, p - k :])
    # the reflectors of the lower triangle lie as those of a QR factorisation of the rows below the first
    turned, _, info = scipy.linalg.lapack.dormqr(
        "L", "N", np.asfortranarray(reflectors[1:, :-1]), tau, Z[1:], lwork=64 * k
    )
    if info:
        raise np.linalg.LinAlgError(f"dormqr: info {info}")
    Z[1:] = turned
    return values, Z


def make_factors(S: Floats, values: Floats, vectors: Floats, rounding: Rounding, keep: Keep, most: int) -> Factors:
    """Cut what LAPACK gave (ascending, vectors in columns) down to what is wanted, with its residuals."""
    values, vectors = np.maximum(values[::-1], 0.0), vectors.T[::-1]
    whole = len(values) == len(S)
    k = keep.count(values[:most], float(S.trace())) or most
    V = np.ascontiguousarray(vectors[:k])
    product = V @ S
    apart = product - values[:k, None] * V
    residuals = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    # eigenvalues are not quite Rayleigh quotients, of which products with S are known to a few units in the last place
    own = np.abs(np.einsum("ij,ij->i", product, V) - values[:k]) + (4 + np.sqrt(len(S))) * EPS * values[0]
    return Factors(
        values=values[:k],
        vectors=V,
        residuals=residuals,
        rounding=rounding.of_values(V, values[:k]) + own,
        tilt=rounding.of_products(V, values[:k]) + own,
        following=float(values[k]) if k < len(values) else None,
        following_residual=rounding.norm + float(own.max()),
        spectrum=values if whole else None,
    )
