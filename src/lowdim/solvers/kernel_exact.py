"""Kernel PCA with all rows as its basis: the exact axes, by whichever of two routes is cheaper."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.kernel_functions import Cosine, Kernel, Laplacian, Linear, unit_rows
from lowdim.matrices.kernel_matrix import (
    KernelMatrix,
    KernelMeans,
    PairsKernel,
    formed,
    kernel_matrix,
    refuse_overflow,
    refuse_range,
)
from lowdim.matrices.kernel_products import Formed, Tiles
from lowdim.results.kernel_axes import KernelAxes
from lowdim.solvers import kernel_thin
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.kernel_dense import dense_leading
from lowdim.solvers.kernel_lanczos import TOLERANCE, Leading, leading
from lowdim.solvers.kernel_start import landmark_start
from lowdim.solvers.signs import fix_signs
from lowdim.solvers.solver import OutgrownError
from lowdim.sources.workers import one_blas_thread

Floats = NDArray[np.float64]
Route = Literal["auto", "dense", "lanczos"]

SMALL = 1000
"""Rows up to which a dense decomposition is done before compiled code is even loaded."""

KEPT = 3000
"""Rows up to which the automatic choice keeps the matrix (72 MB) while it iterates: tiles would have to be compiled,
which takes some ten seconds on a machine that never did."""

MOST_DENSE = 30_000
"""Rows up to which the automatic choice may turn to a dense decomposition on the way: three arrays of 7 GB."""

USUAL_SHARE = 20
"""Components that a share of the variance is guessed to need."""


def exact_axes(
    kernel: Kernel,
    rows: Floats,
    keep: Keep,
    *,
    centered: bool = True,
    tol: float = TOLERANCE,
    rng: np.random.Generator,
    route: Route = "auto",
    most: int | None = None,
) -> KernelAxes:
    """Axes of the kernel matrix of rows (n, p), as many as `keep` asks for, or fewer if its rank is less.

    `tol` bounds the sine of the angle between their span and the true one, as far as rounding allows: `residuals` and
    `next_value` tell. Kernels that are not positive semi-definite have axes for their positive eigenvalues, and
    `most_negative` says whether there are others. `most` limits the products of the iterative route.

    References
    ----------
    Schölkopf, Smola & Müller 1998, "Nonlinear component analysis as a kernel eigenvalue problem".
    """
    with np.errstate(over="ignore", invalid="ignore"):
        refuse_range(kernel.diagonal(rows))
    n, p = rows.shape
    k = keep.k if isinstance(keep, KeepCount) else USUAL_SHARE
    if route == "auto" and isinstance(kernel, Linear | Cosine) and kernel_thin.suits(n, p, k):
        features = rows if isinstance(kernel, Linear) else unit_rows(rows)
        found, means = kernel_thin.thin_leading(features, keep, centered)
        return _axes(found, means, rows, centered, True, "thin")
    dense, lanczos = (seconds(way, kernel, n, p, k) for way in ("dense", "lanczos"))
    if route == "lanczos" or (route == "auto" and lanczos < dense):
        matrix = kernel_matrix(kernel, rows, centered)
        if route == "auto" and n <= KEPT and Tiles.suit(kernel):
            matrix = PairsKernel(Formed(formed(kernel, rows)), centered)
        try:
            with one_blas_thread():
                start = landmark_start(kernel, rows, matrix.block, centered, rng) if Tiles.suit(kernel) else None
                found = leading(
                    matrix,
                    keep,
                    tol,
                    rng,
                    start,
                    give_up=route == "auto" and n <= MOST_DENSE,
                    most=most,
                    positive=kernel.positive,
                )
            return _axes(found, matrix.means, rows, centered, kernel.positive, "lanczos")
        except OutgrownError:
            if route == "lanczos" or n > MOST_DENSE:
                raise
    found, means = dense_leading(formed(kernel, rows), keep, centered, kernel.positive)
    return _axes(found, means, rows, centered, kernel.positive, "dense")


def exact_axes_of_matrix(
    K: Floats,
    keep: Keep,
    *,
    centered: bool = True,
    tol: float = TOLERANCE,
    rng: np.random.Generator,
    route: Route = "auto",
    most: int | None = None,
) -> KernelAxes:
    """The same for a symmetric kernel matrix (n, n) of rows that are not known: `basis` then is (n, 0)."""
    refuse_overflow(K)
    refuse_range(K.diagonal())
    n = len(K)
    k = keep.k if isinstance(keep, KeepCount) else USUAL_SHARE
    basis = np.zeros((n, 0))
    if route == "lanczos" or (route == "auto" and _formed_seconds(n, k) < _dense_seconds(n)):
        matrix: KernelMatrix = PairsKernel(Formed(K), centered)
        try:
            found = leading(matrix, keep, tol, rng, give_up=route == "auto", most=most, positive=False)
            return _axes(found, matrix.means, basis, centered, False, "lanczos")
        except OutgrownError:
            if route == "lanczos":
                raise
    found, means = dense_leading(K, keep, centered, positive=False)
    return _axes(found, means, basis, centered, False, "dense")


def _axes(found: Leading, means: KernelMeans, rows: Floats, centered: bool, positive: bool, route: str) -> KernelAxes:
    """The record of a solver's eigenpairs."""
    n, V = len(rows), found.vectors
    if centered:
        V = V - V.mean(axis=1, keepdims=True)  # exactly orthogonal to what centring takes away
        V /= np.linalg.norm(V, axis=1, keepdims=True)
    else:
        V = V.copy()
    fix_signs(V)
    axes = np.ascontiguousarray((V / np.sqrt(found.values)[:, None]).T)
    return KernelAxes(
        values=found.values,
        basis=rows,
        triangle=None,
        axes=axes,
        offset=means.rows @ axes if centered else np.zeros(len(found.values)),
        origin=np.full(n, 1 / n if centered else 0.0),
        mean_square=means.whole if centered else 0.0,
        total=means.total,
        square=max(means.square, float(found.values @ found.values)),
        n_rows=n,
        residuals=found.residuals,
        next_value=found.next_value,
        most_negative=0.0 if positive else found.least,
        route=route,
        passes=found.passes,
    )


def seconds(route: Literal["dense", "lanczos"], kernel: Kernel, n: int, p: int, k: int) -> float:
    """Rough cost on two cores of 2022, from a few fits of 5,000 to 20,000 rows; right to a factor of about two."""
    if route == "dense":
        return n * n * (p + 30) / 20e9 + _dense_seconds(n)
    if n <= SMALL or 4 * k > n:
        return np.inf
    if isinstance(kernel, Linear | Cosine):
        return (6 * k + 100) * 4.0 * n * p / 20e9
    if not Tiles.suit(kernel):
        return n * n * (p + 30) / 20e9 + _formed_seconds(n, k)
    # passes of 16 vectors in float32, and three in float64 of k; each makes half of all pairs
    narrow, wide = (6 * k + 60) / 16, 3.0
    pair = 8 * p if isinstance(kernel, Laplacian) else 2 * p
    return n * n / 2 * (narrow * (pair + 100) / 100e9 + wide * (pair + 60 + 4 * k) / 50e9)


def memory(route: Literal["dense", "lanczos"], kernel: Kernel, n: int, p: int, k: int) -> int:
    """Bytes beside the rows and the result: (n, n) arrays, or a basis with its products and rows in tiles."""
    if route == "dense":
        return 8 * n * (3 * n + k)
    basis = 8 * n * 2 * ((6 * k + 100) + 4 * k)
    if isinstance(kernel, Linear | Cosine):
        return basis + 8 * n * p
    if Tiles.suit(kernel):
        return basis + 24 * n * p + 8 * n * 16 * 4
    return basis + 8 * n * 2 * n


def _dense_seconds(n: int) -> float:
    """Of LAPACK's reduction to a tridiagonal matrix, half of whose flops are in products with vectors."""
    return 4 / 3 * n**3 / 20e9


def _formed_seconds(n: int, k: int) -> float:
    """Of products with an (n, n) array, and of Lanczos beside them."""
    return np.inf if n <= SMALL or 4 * k > n else (6 * k + 100) * 2.0 * n * n / 15e9
