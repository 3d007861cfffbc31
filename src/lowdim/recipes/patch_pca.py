"""Denoising with one PCA of all patches of a picture: by probabilistic PCA, or with a hard threshold.

Noise has variance one here, in all directions of the space of patches; the picture has few directions with more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lowdim.recipes.patches import Grid, combined
from lowdim.recipes.strips import in_strips

Floats = NDArray[np.float64]

THRESHOLD = 2.75
"""Standard deviations of the noise below which a coefficient is taken for noise (Muresan & Parks 2003; Deledalle,
Salmon & Dalalyan 2011, "Image denoising with patch based PCA", who find 2.75 best)."""

Shrink = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Scores (n, p) and variances of the p components → scores without noise, and the variances of their errors."""


def by_ppca(picture: Floats, width: int) -> tuple[Floats, Floats]:
    """Posterior mean and variance of each pixel under probabilistic PCA of the patches (Tipping & Bishop 1999)."""

    def wiener(scores: Floats, variances: Floats) -> tuple[Floats, Floats]:
        gains = 1 - 1 / np.maximum(variances, 1.0)  # W M⁻¹ Wᵀ in its eigenbasis: (λ − σ²) / λ, for all λ above σ²
        return scores * gains, gains[None]  # σ² M⁻¹ there: σ² (λ − σ²) / λ

    return _shrunk(picture, width, wiener)


def by_threshold(picture: Floats, width: int) -> tuple[Floats, Floats]:
    """Patches rebuilt from those of their coefficients that stand out from the noise.

    A coefficient that is kept has the error of its noise. One that is put to zero has the error that the variance of
    its component leaves open, (λ − 1) / λ.
    """

    def hard(scores: Floats, variances: Floats) -> tuple[Floats, Floats]:
        kept = np.abs(scores) > THRESHOLD
        return scores * kept, np.where(kept, 1.0, 1 - 1 / np.maximum(variances, 1.0))

    return _shrunk(picture, width, hard)


def _shrunk(picture: Floats, width: int, shrink: Shrink) -> tuple[Floats, Floats]:
    """Means and variances of the pixels from patches whose scores on their components are shrunk."""
    grid = Grid(picture.shape, width)
    mean, variances, components = _components(picture, grid)
    squares = components**2

    def strip(band: slice) -> tuple[slice, Floats, Floats]:
        scores, errors = shrink((grid.cut(picture, band) - mean) @ components, variances)
        patches = scores @ components.T + mean
        return band, patches, np.broadcast_to(errors @ squares.T, patches.shape) + 1 / grid.n

    return combined(grid, in_strips(strip, list(grid.bands()), len(picture)))


def _components(picture: Floats, grid: Grid) -> tuple[Floats, Floats, Floats]:
    """Mean (p,), variances (p,) and components (p, p), in columns, of all patches."""
    middle = picture.mean()  # taken off first, so that the squares below lose no digits

    def strip(band: slice) -> tuple[Floats, Floats]:
        patches = grid.cut(picture, band) - middle
        return patches.sum(axis=0), patches.T @ patches

    total, squares = np.zeros(grid.p), np.zeros((grid.p, grid.p))
    for some, more in in_strips(strip, list(grid.bands()), len(picture)):
        total += some
        squares += more
    mean = total / grid.n
    variances, components = np.linalg.eigh(squares / grid.n - np.outer(mean, mean))
    return mean + middle, variances, components
