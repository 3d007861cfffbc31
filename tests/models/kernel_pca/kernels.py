"""Kernel PCA by the whole matrix, and pivots drawn one by one: what the solvers for many rows are held against."""

from __future__ import annotations

import numpy as np

from lowdim.models.kernel_pca.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial

KERNELS: list[Kernel] = [Gaussian(0.1), Gaussian(0.02, 3.0), Laplacian(0.1), Polynomial(0.2, 1.0, 3), Linear()]


def rows(n: int, p: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, p)) * np.linspace(2.0, 0.5, p) + 1.0


def centred(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def exact_values(kernel: Kernel, X: np.ndarray, center: bool = True) -> np.ndarray:
    """All eigenvalues of the kernel matrix, largest first."""
    K = kernel.between(X, X)
    return np.linalg.eigvalsh(centred(K) if center else K)[::-1]


def one_by_one(K: np.ndarray, m: int, rng: np.random.Generator) -> tuple[list[int], np.ndarray]:
    """Randomly pivoted Cholesky as its authors write it: pivots, and the factor F (n, m)."""
    n = len(K)
    F, left, pivots = np.zeros((n, m)), K.diagonal().copy(), []
    for j in range(m):
        s = int(rng.choice(n, p=left / left.sum()))
        column = K[:, s] - F[:, :j] @ F[s, :j]
        F[:, j] = column / np.sqrt(column[s])
        left = np.maximum(left - F[:, j] ** 2, 0.0)
        left[s] = 0.0
        pivots.append(s)
    return pivots, F
