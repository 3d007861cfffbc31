"""Kernel PCA by the textbook: the whole centred kernel matrix and all its eigenvectors."""

import numpy as np
import scipy.linalg

from lowdim.models.kernel_pca.kernels import Kernel
from lowdim.models.kernel_pca.record import KernelAxes


def dense_axes(kernel: Kernel, rows: np.ndarray, k: int, centred: bool = True) -> KernelAxes:
    """The first k axes, fewer where eigenvalues are zero but for rounding."""
    n = len(rows)
    K = kernel.between(rows, rows)
    means = K.mean(axis=0) if centred else np.zeros(n)
    C = K - means - means[:, None] + means.mean()
    values, vectors = (part[..., ::-1] for part in scipy.linalg.eigh(C))
    kept = values[:k] > n * np.finfo(float).eps * values[0]
    values = values[:k][kept]
    vectors = vectors[:, :k][:, kept]
    if centred:  # those of small eigenvalues are mixed with the ones vector, whose eigenvalue is zero
        vectors = vectors - vectors.mean(axis=0)
    axes = vectors / np.sqrt(values)
    origin = np.full(n, 1 / n if centred else 0.0)
    sums = float(np.trace(C)), float((C**2).sum())
    return KernelAxes(values, rows, None, axes, means @ axes, origin, float(means.mean()), *sums, n)


def landmark_axes(kernel: Kernel, rows: np.ndarray, landmarks: np.ndarray, k: int) -> KernelAxes:
    """The same in the span of a few landmarks, whose coordinates are L⁻¹ k(landmarks, x) (Nyström)."""
    L = np.linalg.cholesky(kernel.between(landmarks, landmarks))
    F = scipy.linalg.solve_triangular(L, kernel.between(landmarks, rows), lower=True).T
    mean = F.mean(axis=0)
    _, sizes, turn = np.linalg.svd(F - mean, full_matrices=False)
    values, axes = sizes[:k] ** 2, turn[:k].T
    sums = float((sizes**2).sum()), float((sizes**4).sum())
    return KernelAxes(values, landmarks, L, axes, mean @ axes, mean, float(mean @ mean), *sums, len(rows))


def scores(found: KernelAxes, kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    f = kernel.between(rows, found.basis)
    if found.triangle is not None:
        f = scipy.linalg.solve_triangular(found.triangle, f.T, lower=True).T
    return np.asarray(f @ found.axes - found.offset)
