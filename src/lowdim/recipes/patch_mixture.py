"""Denoising with a mixture of probabilistic PCAs of the patches of a picture: edges, textures, flat ones each have one.

Noise has variance one here. The mean of a patch is kept apart: patches of one kind differ in it. Colours are taken one
channel of opponent space after the other, because patches of three channels are too long for so many components.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.recipes.colours import from_planes, to_planes, variances_from_planes
from lowdim.recipes.patch_models import kinds_of
from lowdim.recipes.patches import Grid, combined
from lowdim.recipes.strips import in_strips
from lowdim.solvers.ppca_mixture import Mixture, Prior, Settings, fit_mixture, parted, start
from lowdim.sources.progress import new_pass

Floats = NDArray[np.float64]

LEARNT = 12_000
"""Patches that the mixture is learnt from, at most."""

KINDS, STEPS = 20, 12
"""Components, and steps of EM: as many as pictures of this kind are usually given (20 to 50, and 10 to 15)."""


FEWEST = 10
"""Patches for each number in a patch that a component is given on average: with fewer, it would learn the noise."""


def by_mixture(picture: Floats, width: int) -> tuple[Floats, Floats]:
    """Posterior mean and variance of each pixel, given for every patch the component that it most probably is from.

    Yu, Sapiro & Mallat 2012, "Solving inverse problems with piecewise linear estimates"; Zoran & Weiss 2011, "From
    learning models of natural image patches to whole image restoration".
    """
    parts = [_one_channel(plane, width) for plane in to_planes(picture)]
    means, variances = (np.stack(part) for part in zip(*parts, strict=True))
    return from_planes(means), variances_from_planes(variances)


def _one_channel(picture: Floats, width: int) -> tuple[Floats, Floats]:
    grid = Grid(picture.shape, width)
    kinds = _Kinds(_learnt(picture, grid))

    def strip(band: slice) -> tuple[slice, Floats, Floats]:
        patches = grid.cut(picture, band)
        level = patches.mean(axis=1, keepdims=True)
        expected, errors = kinds.expected(patches - level)
        return band, expected + level, errors + 1 / grid.p  # the level is a mean of so many values

    return combined(grid, in_strips(strip, list(grid.bands()), len(picture)))


def _learnt(picture: Floats, grid: Grid) -> Mixture:
    rng = np.random.default_rng(0)
    patches = np.concatenate([grid.cut(picture, band) for band in grid.bands()])
    chosen = np.sort(rng.permutation(len(patches))[:LEARNT])
    X = patches[chosen] - patches[chosen].mean(axis=1, keepdims=True)
    prior = Prior(X.mean(axis=0), np.cov(X.T, ddof=0), strength=float(grid.p))
    wish = Settings(grid.p - 1, noise=1.0, prior=prior)
    one = start(X, wish)
    labels = kinds_of(X, one.means[0], max(1, min(KINDS, len(X) // (FEWEST * grid.p))), rng)

    def watch(_: object) -> None:
        if new_pass(len(X))(len(X)):
            raise KeyboardInterrupt

    return fit_mixture(X, parted(one, X, labels, wish), wish, STEPS, watch)[0]


class _Kinds:
    """The Gaussians of a mixture in their own axes, where each is a shrinkage of scores."""

    def __init__(self, mixture: Mixture):
        self._means = mixture.means
        self._parts = []
        for weight, g in zip(mixture.weights, mixture.gaussians, strict=True):
            variances, axes = np.linalg.eigh(g.cov)
            variances = np.maximum(variances, 1.0)
            self._parts.append((np.log(weight) - 0.5 * np.log(variances).sum(), variances, axes))

    def expected(self, X: Floats) -> tuple[Floats, Floats]:
        """(n, p) what patches were without their noise, and the variance of every entry."""
        logs = np.empty((len(X), len(self._parts)))
        for c, (constant, variances, axes) in enumerate(self._parts):
            logs[:, c] = constant - 0.5 * np.square((X - self._means[c]) @ (axes / np.sqrt(variances))).sum(axis=1)
        of = logs.argmax(axis=1)
        patches, errors = np.empty_like(X), np.empty_like(X)
        for c, (_, variances, axes) in enumerate(self._parts):
            rows, gains = of == c, 1 - 1 / variances  # Wiener's: (λ − σ²) / λ, and the variance that it leaves
            patches[rows] = (X[rows] - self._means[c]) @ ((axes * gains) @ axes.T) + self._means[c]
            errors[rows] = np.square(axes) @ gains
        return patches, errors
