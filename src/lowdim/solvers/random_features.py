"""Random features: waves with random frequencies, whose products are kernels on average.

A kernel of differences is the mean of cos w·(x − y) over a law of frequencies w (Bochner). For the Gaussian that law is
normal with variance 2γ; frequencies that are orthogonal to each other, with the lengths that they would have, have the
same mean and vary less (Yu, Suresh, Choromanski, Holtmann-Rice & Kumar 2016, "Orthogonal random features"). For the
Laplacian every coordinate has Cauchy's law with width γ.

There is no bound of the error, as there is with landmarks: F Fᵀ may lie above K as well as below, and |f(x)|² = k(x, x)
for every row and any frequencies, so that k(x, x) − |f(x)|² says nothing. Instead |K v − λ v| is estimated for each
component, with the kernel itself: some eigenvalue lies within it of λ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.kernel_functions import Gaussian, Kernel, Laplacian
from lowdim.results.kernel_axes import KernelAxes
from lowdim.solvers.feature_axes import Origin, axes_of, feature_sums
from lowdim.solvers.keep import Keep
from lowdim.solvers.kernel_features import WaveFeatures
from lowdim.solvers.kernel_landmarks import counted_rows
from lowdim.solvers.kernel_residuals import estimated_residuals
from lowdim.solvers.pivoted_cholesky import diagonal_of
from lowdim.sources.picked import passes_to_pick
from lowdim.sources.source import Source
from lowdim.sources.workers import one_blas_thread

Floats = NDArray[np.float64]


def wave_axes(
    kernel: Kernel,
    source: Source,
    keep: Keep,
    rng: np.random.Generator,
    *,
    n_features: int = 1000,
    centered: bool = True,
) -> KernelAxes:
    """Axes of kernel PCA from random features, an even number of them.

    `slack` is NaN, and `residuals` are estimates of |K v − λ v|.
    """
    if not isinstance(kernel, (Gaussian, Laplacian)):
        raise BadInput(
            f"Random features are known for the Gaussian and the Laplacian kernel, not for {kernel}: use landmarks."
        )
    counted_rows(kernel, source)
    basis = frequencies(kernel, source.n_columns, max(1, n_features // 2), rng)
    features = WaveFeatures(basis, kernel.factor)
    with one_blas_thread():
        diagonal_of(kernel, source)  # refuses holes
        sums = feature_sums(kernel, features, source)
        axes = axes_of(sums, keep, centered, Origin(basis, None, True, np.nan, 3 + passes_to_pick(source)))
        assert axes is not None
        return replace(axes, residuals=estimated_residuals(kernel, axes, source, rng, centered))


def frequencies(kernel: Gaussian | Laplacian, p: int, count: int, rng: np.random.Generator) -> Floats:
    """(count, p) frequencies of the kernel's law."""
    if isinstance(kernel, Laplacian):
        return np.asarray(kernel.gamma * rng.standard_cauchy((count, p)))
    blocks = [_orthogonal(p, rng) for _ in range(-(-count // p))]
    lengths = np.sqrt(rng.chisquare(p, count))  # of normal vectors
    return np.asarray(np.sqrt(2 * kernel.gamma) * np.concatenate(blocks)[:count] * lengths[:, None])


def _orthogonal(p: int, rng: np.random.Generator) -> Floats:
    """(p, p) orthogonal matrix, all equally likely (Mezzadri 2007)."""
    Q, R = np.linalg.qr(rng.standard_normal((p, p)))
    return np.asarray(Q * np.sign(R.diagonal()))
