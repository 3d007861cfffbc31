"""Singular value decompositions of Y itself: the plain route, and its out-of-core form by triangles (TSQR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy

from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.runtime.threads import all_blas_threads
from lowdim.solvers.keep import Keep
from lowdim.solvers.solver import Factors, Solver, backward_error, last_axis_growth
from lowdim.types import Floats


@final
@dataclass(frozen=True)
class FullSVD(Solver):
    """LAPACK's SVD of a centred copy: the plain route that every other one is tested against."""

    name = "full SVD"
    needs = InMemory

    def solve(self, matrix: InMemory, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""
        Y = matrix.to_array()
        keep = keep.for_rows(matrix.moments.n_rows, matrix.moments.weight)
        return _make_factors(matrix, *svd(Y), keep=keep, most=min(Y.shape))

    def seconds(self, n: int, p: int, k: int) -> float:
        """A whole decomposition, whatever k."""
        return 3e-10 * n * p * min(n, p)

    def memory(self, n: int, p: int, k: int) -> int:
        """A copy of the data, and both factors."""
        return int(8 * (2 * n * p + 4 * min(n, p) ** 2 + min(n, p) * p))

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return "2 passes (means, copy)"

    def lapack_entries(self, n: int, p: int) -> int:
        """The copy, or the work space of the driver gesdd."""
        return max(n * p, 4 * min(n, p) * (min(n, p) + 2))


@final
@dataclass(frozen=True)
class TSQR(Solver):
    """Triangles of row blocks, merged, and the SVD of the last one: small singular values keep their digits."""

    name = "TSQR"

    def solve(self, matrix: RowBlocks, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""
        R = matrix.triangle()
        keep = keep.for_rows(matrix.moments.n_rows, matrix.moments.weight)
        most = min(matrix.n_columns, matrix.moments.n_rows)
        return _make_factors(matrix, *svd(R), keep=keep, most=most)

    def seconds(self, n: int, p: int, k: int) -> float:
        """2 n p² flops of Householder reflections, and a small SVD."""
        return 2.0 * n * p * min(n, p) / 15e9 + 3e-10 * min(n, p) ** 2 * p

    def memory(self, n: int, p: int, k: int) -> int:
        """Triangles, one per thread, and the rows stacked on them."""
        return int(8 * p * p * 12)

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return "2 passes (means, triangles)"

    def lapack_entries(self, n: int, p: int) -> int:
        """The work space for the last triangle."""
        return 4 * p * (p + 2)


def svd(Y: Floats) -> tuple[Floats, Floats]:
    """Singular values and right vectors (rows); the slower driver where the fast one does not converge."""
    for driver in ("gesdd", "gesvd"):
        try:
            with all_blas_threads():
                _, sizes, V = scipy.linalg.svd(
                    Y,
                    full_matrices=False,
                    lapack_driver=driver,
                    check_finite=False,
                    overwrite_a=driver == "gesvd",
                )
        except np.linalg.LinAlgError:
            continue
        return sizes, V
    raise np.linalg.LinAlgError("neither gesdd nor gesvd converged")


def bound_svd_error(matrix: RowBlocks, sizes: Floats, p: int) -> Floats:
    """(k,) error of squared singular values of Y: LAPACK's, of the mean and of the scales."""
    relative = matrix.scaling.scale_error(matrix.moments)
    return backward_error(sizes, matrix.moments.n_rows, p) + relative * sizes**2 + float(matrix.left_of_mean.sum())


def _make_factors(matrix: RowBlocks, sizes: Floats, V: Floats, keep: Keep, most: int) -> Factors:
    values = sizes**2
    k = keep.count(values[:most], matrix.total) or most
    backward = bound_svd_error(matrix, sizes[: k + 1], V.shape[1])
    more, backward = backward[k:], backward[:k]
    return Factors(
        values=values[:k],
        vectors=np.ascontiguousarray(V[:k]),
        residuals=backward,
        rounding=backward,
        tilt=backward,
        following=float(values[k]) if k < len(values) else None,
        following_residual=float(more[0]) if k < len(values) else 0.0,
        growth=last_axis_growth(sizes[:k], V.shape[1]),
        spectrum=values[:most],
        measured=False,
    )
