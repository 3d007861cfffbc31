"""The plain route to the eigenpairs of a kernel matrix: form it, centre it, decompose it. All others are held to it."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.kernel_matrix import KernelMeans
from lowdim.matrices.rounding import Rounding
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.kernel_lanczos import Leading, null_value
from lowdim.sources.workers import one_blas_thread

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

ONE_THREAD = 1000
"""Rows up to which one thread does it."""

FEW = 0.25
"""Share of all eigenvectors up to which only those wanted are computed."""


def dense_leading(K: Floats, keep: Keep, centered: bool, positive: bool) -> tuple[Leading, KernelMeans]:
    """The components that `keep` asks for, of a symmetric matrix (n, n), which is not changed; and its means.

    Unless the kernel is known to be `positive`, all eigenvalues are computed, so that the most negative one is seen.
    """
    # threads that wait for each other cost more than they give where the matrix is small
    with one_blas_thread() if len(K) <= ONE_THREAD else nullcontext():
        return _decomposed(K, keep, centered, positive)


def _decomposed(K: Floats, keep: Keep, centered: bool, positive: bool) -> tuple[Leading, KernelMeans]:
    n = len(K)
    rows = K.mean(axis=1)
    centred = center(K) if centered else K
    means = KernelMeans(rows, float(rows.mean()), float(np.trace(centred)), float(np.vdot(centred, centred)))
    few = positive and isinstance(keep, KeepCount) and keep.k + 1 <= FEW * n
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


def center(K: Floats) -> Floats:
    """H K H, for H = I − 11ᵀ/n: the kernel of features less their mean."""
    centred: Floats = K - K.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    return centred
