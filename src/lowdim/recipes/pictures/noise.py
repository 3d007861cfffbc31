"""How strong the noise of a picture is: white noise shows in the directions of patch space that the picture leaves.

Colours: the channels of a picture go together, so most of the directions of colour patches hold nothing but noise. As
many of the smallest eigenvalues of their covariance are noise as have a mean that is also their median (Chen, Zhu &
Heng 2015, "An efficient statistical method for image noise level estimation").

Grey: there are fewer such directions, and texture fills them. The smallest eigenvalue is taken, of patches whose
gradients are no stronger than noise alone would make them (Liu, Tanaka & Okutomi 2013, "Single-image noise level
estimation for blind denoising").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lowdim.recipes.pictures.patches import Grid
from lowdim.types import Floats

COLOUR_WIDTH, GREY_WIDTH = 8, 7
"""Pixels of a patch, as in the two papers."""

MOST_PATCHES = 50_000
"""Patches that are looked at; larger pictures have them further apart, as far as every pixel is still in one."""

FEWEST = 20
"""Patches that a picture should have for each direction of their space; a small one has smaller patches instead."""

SURE = 1 - 1e-6
"""Probability with which a patch of noise alone is taken for one."""

STEPS = 10
"""Most rounds of choosing patches by the noise and finding the noise of these; three or four are usual."""


def noise_sd(picture: Floats) -> float:
    """Standard deviation of the noise of a picture (height, width) or (height, width, 3), equal in all channels.

    Examples
    --------
    >>> wave = 100 * np.sin(np.arange(200) / 20)
    >>> noise = 5 * np.random.default_rng(0).standard_normal((200, 200))
    >>> round(noise_sd(wave + noise), 1)
    4.9
    """
    values = picture - picture.mean()
    grid = _grid(picture.shape)
    patches = grid.cut(values)
    variance = _of_grey(patches, grid) if picture.ndim == 2 else _mean_that_is_median(_eigenvalues(patches))
    least = np.finfo(np.float64).eps * float(np.abs(values).max()) ** 2  # what rounding alone leaves
    return math.sqrt(variance) if variance > least else 0.0


def _grid(shape: tuple[int, ...]) -> Grid:
    """Patches as wide as in the papers, or as leaves a small picture enough of them for their covariance."""
    pixels = shape[0] * shape[1]
    for width in range(GREY_WIDTH if len(shape) == 2 else COLOUR_WIDTH, 1, -1):
        apart = min(max(1, math.ceil(math.sqrt(pixels / MOST_PATCHES))), width)
        if min(shape[:2]) >= width:
            grid = Grid(shape, width, apart)
            if grid.n >= FEWEST * grid.p:
                return grid
    return Grid(shape, 1)


def _mean_that_is_median(eigenvalues: Floats) -> float:
    """Mean of as many of the smallest as are spread evenly about it; larger ones would pull it above the median."""
    for last in range(len(eigenvalues), 0, -1):
        mean = float(eigenvalues[:last].mean())
        if mean <= np.median(eigenvalues[:last]):
            break
    return mean


def _of_grey(patches: Floats, grid: Grid) -> float:
    """Smallest eigenvalue of patches without texture, which are chosen by the noise that the last ones had."""
    from scipy.special import gammaincinv

    width, p = grid.width, grid.p
    squares = patches.reshape(-1, width, width)
    slopes = (squares[:, :, 2:] - squares[:, :, :-2]) / 2, (squares[:, 2:] - squares[:, :-2]) / 2
    texture = sum(np.einsum("nij,nij->n", slope, slope) for slope in slopes)
    # texture of unit noise has mean 2 · width (width − 2) / 2 and about a gamma distribution (the paper's equation 13)
    limit = gammaincinv(p / 2, SURE) * 2 / p * width * (width - 2) if width > 2 else np.inf
    variance, plain = float(_eigenvalues(patches)[0]), np.ones(len(patches), dtype=bool)
    for _ in range(STEPS):
        chosen = texture < limit * variance
        if chosen.sum() < 4 * p:  # too few for a covariance; those of the last round must do
            break
        plain, before, variance = chosen, variance, float(_eigenvalues(patches[chosen])[0])
        if abs(variance - before) <= 1e-4 * before:
            break
    # few patches make the smallest eigenvalue too small, what is left of the picture in them makes it too large: half
    # of the correction for the first does best on three pictures (docs/benchmarks.md)
    return variance / math.sqrt(_smallest_of_noise(grid, plain))


def _smallest_of_noise(grid: Grid, chosen: NDArray[np.bool_]) -> float:
    """Smallest eigenvalue of the same patches of a picture of unit noise: below one, the more the fewer they are."""
    noise = np.random.default_rng(0).standard_normal(grid.shape)
    return float(_eigenvalues(grid.cut(noise)[chosen])[0])


def _eigenvalues(patches: Floats) -> Floats:
    """Of the covariance, from the smallest to the largest."""
    apart = patches - patches.mean(axis=0)
    values: Floats = np.linalg.eigvalsh(apart.T @ apart / max(1, len(patches) - 1))
    return values
