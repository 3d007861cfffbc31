"""Kernels whose features can be written down, for not too many of them: the singular vectors of n rows of features."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.kernel_matrix import KernelMeans, ThinKernel
from lowdim.solvers.keep import Keep
from lowdim.solvers.kernel_lanczos import Leading, null_value
from lowdim.sources.workers import all_blas_threads

Floats = NDArray[np.float64]

FEW_COLUMNS = 200
"""Up to so many columns all singular vectors are found before an iteration has begun."""


def suits(n: int, p: int, k: int) -> bool:
    """Whether all singular vectors of n × p features are the cheapest way to k of them."""
    return p <= n and (p <= FEW_COLUMNS or 4 * k > p)


def thin_leading(features: Floats, keep: Keep, centered: bool) -> tuple[Leading, KernelMeans]:
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
