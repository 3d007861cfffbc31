"""Kernel PCA with all rows as its basis: dense, by explicit features, or by Lanczos from a Nyström start."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Literal

import numpy as np
import scipy.linalg

from lowdim.matrices.rounding import Rounding
from lowdim.models.kernel_pca.kernel_matrix import (
    Formed,
    KernelMatrix,
    KernelMeans,
    PairsKernel,
    ThinKernel,
    Tiles,
    form_matrix,
    kernel_matrix,
    refuse_overflow,
    refuse_range,
)
from lowdim.models.kernel_pca.kernels import Cosine, Kernel, Laplacian, Linear, unit_rows
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers.lanczos import TOLERANCE, Leading, find_leading, null_value
from lowdim.runtime.threads import all_blas_threads, in_order, one_blas_thread
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.solver import OutgrownError, fix_signs
from lowdim.types import Floats

# The plain route to the eigenpairs of a kernel matrix: form it, centre it, decompose it. All others are held to it.

EPS = float(np.finfo(float).eps)

MOST_ROWS_ON_ONE_THREAD = 1000
"""Rows up to which one thread does it."""

MOST_SHARE_OF_EIGENVECTORS = 0.25
"""Share of all eigenvectors up to which only those wanted are computed."""


def decompose_dense(K: Floats, keep: Keep, centered: bool, positive: bool) -> tuple[Leading, KernelMeans]:
    """The components that `keep` asks for, of a symmetric matrix (n, n), which is not changed; and its means.

    Unless the kernel is known to be `positive`, all eigenvalues are computed, so that the most negative one is seen.
    """
    # threads that wait for each other cost more than they give where the matrix is small
    with one_blas_thread() if len(K) <= MOST_ROWS_ON_ONE_THREAD else nullcontext():
        return _decompose(K, keep, centered, positive)


def _decompose(K: Floats, keep: Keep, centered: bool, positive: bool) -> tuple[Leading, KernelMeans]:
    n = len(K)
    rows = K.mean(axis=1)
    centred = center_kernel(K) if centered else K
    means = KernelMeans(rows, float(rows.mean()), float(np.trace(centred)), float(np.vdot(centred, centred)))
    few = positive and isinstance(keep, KeepCount) and keep.k + 1 <= MOST_SHARE_OF_EIGENVECTORS * n
    first = n - keep.k - 1 if few and isinstance(keep, KeepCount) else 0
    values, vectors = scipy.linalg.eigh(centred, subset_by_index=[first, n - 1] if few else None)
    if len(values) < n - first:  # LAPACK's search for a few gives none where very many are equal
        values, vectors = scipy.linalg.eigh(centred)
    values, vectors = values[::-1], vectors[:, ::-1]
    null = null_value(values, n, Rounding.of_entries(2 * EPS, np.abs(K.diagonal())))
    k = min(keep.count(np.maximum(values, 0.0), means.total) or n, int((values > null).sum()))
    V = np.ascontiguousarray(vectors[:, :k].T)
    residuals = np.linalg.norm(V @ centred - values[:k, None] * V, axis=1)
    following = float(max(values[k], 0.0)) if k < len(values) else 0.0
    least = float(values[-1]) if values[-1] < -null else 0.0
    return Leading(values[:k].copy(), V, residuals, following, least, 1), means


def center_kernel(K: Floats) -> Floats:
    """H K H, for H = I − 11ᵀ/n: the kernel of features less their mean."""
    centred: Floats = K - K.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    return centred


# Where the search for eigenvectors of a kernel matrix starts: near them, as a few rows of the data tell (Nyström).

START_LANDMARKS = 200
"""Rows drawn, at most; twice as many cost more than they save."""

LANDMARKS_SHARE = 1 / 16
"""Share of the rows that are drawn where these are fewer: of 1,000 rows, 60 save as many steps as 200."""

SLAB = 2048
"""Rows that one thread takes at a time."""

RANDOM_SHARE = 0.02
"""Length of the random part of each vector. Landmarks may miss a group of rows altogether, and a space grown from
vectors that are zero on it would never find its axes."""


def start_from_landmarks(kernel: Kernel, rows: Floats, count: int, centered: bool, rng: np.random.Generator) -> Floats:
    """(count, n) about the leading eigenvectors of the kernel matrix, each with a random part.

    Eigenvectors u of the landmarks' own matrix are extended to all rows by k(x, landmarks) u (Williams & Seeger 2001).
    """
    n = len(rows)
    drawn = min(START_LANDMARKS, max(int(LANDMARKS_SHARE * n), 2 * count), n)
    landmarks = rows[np.sort(rng.choice(n, drawn, replace=False))]
    among = kernel.between(landmarks, landmarks)
    if centered:
        among = center_kernel(among)
    few = (max(0, len(among) - count), len(among) - 1)
    vectors = scipy.linalg.eigh((among + among.T) / 2, subset_by_index=few, check_finite=False)[1][:, ::-1].T
    slabs = [rows[start : start + SLAB] for start in range(0, n, SLAB)]
    parts = in_order(lambda slab: vectors @ kernel.between(landmarks, slab), slabs)
    start = np.concatenate([*parts], axis=1)
    if centered:
        start -= start.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(start, axis=1, keepdims=True)
    start /= np.where(lengths > 0, lengths, 1.0)
    start += RANDOM_SHARE / np.sqrt(n) * rng.standard_normal(start.shape)
    if len(start) < count:
        start = np.concatenate([start, rng.standard_normal((count - len(start), n)) / np.sqrt(n)])
    return start


# Kernels whose features can be written down, for not too many of them: the singular vectors of n rows of features.

MOST_THIN_COLUMNS = 200
"""Up to so many columns all singular vectors are found before an iteration has begun."""


def is_thin(n: int, p: int, k: int) -> bool:
    """Whether all singular vectors of n × p features are the cheapest way to k of them."""
    return p <= n and (p <= MOST_THIN_COLUMNS or 4 * k > p)


def decompose_thin(features: Floats, keep: Keep, centered: bool) -> tuple[Leading, KernelMeans]:
    """The components that `keep` asks for of F Fᵀ, centred if so, for features F (n, p) with p ≤ n; and its means."""
    matrix = ThinKernel(features, centered)
    with all_blas_threads():
        U, S, _ = scipy.linalg.svd(matrix.features, full_matrices=False, check_finite=False)
    values = S**2
    real = int((values > null_value(values, len(U), matrix.rounding)).sum())
    k = min(keep.count(values, matrix.means.total) or len(values), real)
    V = np.ascontiguousarray(U[:, :k].T)
    residuals = np.linalg.norm(matrix.normal_times(V) - values[:k, None] * V, axis=1) if k else np.zeros(0)
    following = float(values[k]) if k < len(values) else 0.0
    return Leading(values[:k], V, residuals, following, 0.0, 1), matrix.means


# Kernel PCA with all rows as its basis: the exact axes, by whichever of two routes is cheaper.

Route = Literal["auto", "dense", "lanczos"]

MOST_ROWS_ALWAYS_DENSE = 600
"""Rows up to which a dense decomposition is as fast as any: 400 take 8 to 12 ms by it and 12 to 30 by iteration, 700
take 25 to 35 and 11 to 40, for 2 to 40 components."""

MOST_DENSE = 30_000
"""Rows up to which the automatic choice may turn to a dense decomposition on the way: three arrays of 7 GB."""

LEAST_SECONDS = 0.008
"""What an iteration takes for the fewest rows."""

GUESSED_COMPONENTS = 20
"""Components that a share of the variance is guessed to need."""


def find_exact_axes(
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
    k = keep.k if isinstance(keep, KeepCount) else GUESSED_COMPONENTS
    if route == "auto" and isinstance(kernel, Linear | Cosine) and is_thin(n, p, k):
        features = rows if isinstance(kernel, Linear) else unit_rows(rows)
        found, means = decompose_thin(features, keep, centered)
        return _make_axes(found, means, rows, centered, True, "thin")
    dense, lanczos = (estimate_seconds(way, kernel, n, p, k) for way in ("dense", "lanczos"))
    if route == "lanczos" or (route == "auto" and lanczos < dense):
        matrix = kernel_matrix(kernel, rows, centered)
        try:
            with one_blas_thread():
                start = start_from_landmarks(kernel, rows, matrix.block, centered, rng) if Tiles.suit(kernel) else None
                found = find_leading(
                    matrix,
                    keep,
                    tol,
                    rng,
                    start,
                    give_up=route == "auto" and n <= MOST_DENSE,
                    most=most,
                    positive=kernel.positive,
                )
            return _make_axes(found, matrix.means, rows, centered, kernel.positive, "lanczos")
        except OutgrownError:
            if route == "lanczos" or n > MOST_DENSE:
                raise
    found, means = decompose_dense(form_matrix(kernel, rows), keep, centered, kernel.positive)
    return _make_axes(found, means, rows, centered, kernel.positive, "dense")


def find_exact_axes_of_matrix(
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
    k = keep.k if isinstance(keep, KeepCount) else GUESSED_COMPONENTS
    basis = np.zeros((n, 0))
    if route == "lanczos" or (route == "auto" and _formed_seconds(n, k) < _dense_seconds(n)):
        matrix: KernelMatrix = PairsKernel(Formed(K), centered)
        try:
            found = find_leading(matrix, keep, tol, rng, give_up=route == "auto", most=most, positive=False)
            return _make_axes(found, matrix.means, basis, centered, False, "lanczos")
        except OutgrownError:
            if route == "lanczos":
                raise
    found, means = decompose_dense(K, keep, centered, positive=False)
    return _make_axes(found, means, basis, centered, False, "dense")


def _make_axes(
    found: Leading, means: KernelMeans, rows: Floats, centered: bool, positive: bool, route: str
) -> KernelAxes:
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


def estimate_seconds(route: Literal["dense", "lanczos"], kernel: Kernel, n: int, p: int, k: int) -> float:
    """Rough cost on two cores of 2022, from a few fits of 5,000 to 20,000 rows; right to a factor of about two."""
    if route == "dense":
        return n * n * (p + 30) / 20e9 + _dense_seconds(n)
    if n <= MOST_ROWS_ALWAYS_DENSE or 4 * k > n:
        return np.inf
    if isinstance(kernel, Linear | Cosine):
        return (6 * k + 100) * 4.0 * n * p / 20e9
    if not Tiles.suit(kernel):
        return n * n * (p + 30) / 20e9 + _formed_seconds(n, k)
    # passes of 16 vectors in float32, and three in float64 of k; each makes half of all pairs
    basis, wide = 6 * k + 60, 3.0
    pair = 4 * p if isinstance(kernel, Laplacian) else 2 * p
    passes = n * n / 2 * (basis / 16 * (pair + 100) / 100e9 + wide * (pair + 60 + 4 * k) / 50e9)
    return LEAST_SECONDS + 4.0 * n * basis**2 / 20e9 + passes  # the second is what keeps the basis orthogonal


def estimate_exact_memory(route: Literal["dense", "lanczos"], kernel: Kernel, n: int, p: int, k: int) -> int:
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
    return np.inf if n <= MOST_ROWS_ALWAYS_DENSE or 4 * k > n else (6 * k + 100) * 2.0 * n * n / 15e9
