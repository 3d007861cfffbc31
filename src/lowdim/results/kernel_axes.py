"""What every solver of kernel PCA finds: axes in the space of features, told by their effect on rows.

A row x is described by numbers f(x), (m,): its kernel with m basis rows, L⁻¹ k(basis, x), with L the identity where no
triangle is kept. Everything else is linear in f:

    scores               f(x)ᵀ axes − offset
    ⟨φ(x), mean of φ⟩    f(x)ᵀ origin
    projection           Σⱼ gⱼ φ(basisⱼ),  g = L⁻ᵀ (origin + axes · scores)

Without triangle (the exact routes) the basis is all n rows, axes are eigenvectors over the roots of the eigenvalues,
and origin is 1/n each. With landmarks, f are coordinates in an orthonormal basis of their span, axes are orthonormal,
and origin is the mean of f. Without centring, origin, offset and mean_square are zero.

Random features are the exception: their basis are not rows but frequencies, f(x) are cosines and sines, and there is
no projection as a sum over φ of rows (`kernel_features.features_of` makes f(x) for every kind).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KernelAxes:
    """Axes of k components over m basis rows of p columns, learnt from n rows."""

    values: Floats
    """(k,) eigenvalues of the centred kernel matrix, largest first; lower ends where `slack` is not 0."""
    basis: Floats
    """(m, p) rows that the kernel is taken with."""
    triangle: Floats | None
    """(m, m) lower triangle L, or None for the identity."""
    axes: Floats
    """(m, k)"""
    offset: Floats
    """(k,) what the mean of φ has as scores before it is subtracted."""
    origin: Floats
    """(m,)"""
    mean_square: float
    """|mean of φ|²: the mean of the whole kernel matrix."""
    total: float
    """Trace of the centred kernel matrix: the sum of all its eigenvalues; a lower end where `slack` is not 0."""
    square: float
    """Sum of squares of the centred kernel matrix's entries (of its eigenvalues), an estimate where it was not formed:
    total² / square is the effective rank."""
    n_rows: int
    slack: float = 0.0
    """Trace of what the landmarks do not see: no eigenvalue, and no sum of them, is larger by more than this. NaN for
    random features, of which nobody knows."""
    residuals: Floats = field(default_factory=lambda: np.zeros(0))
    """(k,) |K v − λ v| of the unit eigenvectors, measured in float64, or empty. Of landmarks and random
    features: estimated from some of the rows, with the kernel itself."""
    next_value: float = 0.0
    """About the eigenvalue after the last one kept: what the angles of the axes depend on."""
    most_negative: float = 0.0
    """The most negative eigenvalue seen, for kernels that are not positive semi-definite."""
    route: str = ""
    """How they were found: "dense", "lanczos", "thin", "explicit", "cholesky", "uniform" or "waves"."""
    passes: int = 0
    """How often all pairs of rows (or all rows, with landmarks) were gone through."""
    waves: bool = False
    """Whether the basis are frequencies of random features, (m / 2, p), and not rows."""

    def from_mean(self, own: Floats, f: Floats) -> Floats:
        """(n,) |φ(x) − mean of φ|² of rows, from k(x, x), (n,), and their features f, (n, m)."""
        return np.asarray(own - 2 * (f @ self.origin) + self.mean_square)
