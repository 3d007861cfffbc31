"""Denoising with a PCA of its own for every group of similar patches, in two passes.

This is the scheme of NL-Bayes (Lebrun, Buades & Morel 2013, "A nonlocal Bayesian image denoising algorithm"): patches
that look alike are draws of one Gaussian; what noise has added to its covariance is known, so the posterior mean of
each patch is too. The second pass takes groups and covariances from the result of the first.

Two things differ. Patches are compared in the first pass on a picture that one PCA of all patches has denoised
(`patch_pca.by_threshold`), because patches compared with their noise are chosen for having the same noise. And since a
group has few patches for its directions, a component counts as noise up to the largest variance that noise alone would
show in such a group. All is in units of the noise, whose variance is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.recipes.colours import from_planes, to_planes, variances_from_planes
from lowdim.recipes.patch_pca import by_threshold
from lowdim.recipes.patches import Grid
from lowdim.recipes.strips import in_strips

Floats = NDArray[np.float64]

STRICT = 0.8
"""Share of the largest variance of pure noise above which a component of brightness is kept in the first pass. The
second pass mends what little noise comes through, not what is lost. Found on three pictures (docs/benchmarks.md)."""

FLAT = 1.05
"""Variance of all values of a group below which it is of one grey, as in NL-Bayes."""

LEAST_VARIANCE = 0.02
"""Variance that no estimate is taken to be below when it is weighted: the model is not that good."""


@dataclass(frozen=True)
class Pass:
    """How groups are made. The numbers are for patches of eight pixels as a user names them, and scale with these."""

    width: int
    """Pixels of a patch."""
    n: int
    """Patches in a group."""
    reach: int
    """Pixels, in each direction, in which they are searched for."""
    stride: int
    """Pixels from one patch around which a group is made to the next."""


Estimate = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Groups (g, c, n, p) of noisy patches and of the guide → the patches without noise, and their variances (g, c, p)."""


def by_groups(picture: Floats, width: int) -> tuple[Floats, Floats]:
    """Mean and variance of each pixel of a picture (height, width) or (height, width, 3) whose noise has variance one.

    `width` is that of the patches in the first comparison; groups have patches of 7/8 and 5/8 of it.
    """
    first, second = (max(2, width * share // 8) for share in (7, 5))
    noisy, pilot = to_planes(picture), to_planes(by_threshold(picture, width)[0])
    basic, _ = _one_pass(noisy, pilot, Pass(first, 90 * first**2 // 49, 17, max(1, first // 2 + 1)), _from_noisy)
    values, variances = _one_pass(
        noisy, basic, Pass(second, 30 * second**2 // 25, 17, max(1, second // 2 + 1)), _from_guide
    )
    return from_planes(values), variances_from_planes(variances)


def _one_pass(noisy: Floats, guide: Floats, how: Pass, estimate: Estimate) -> tuple[Floats, Floats]:
    """Means and variances of planes (c, height, width), from groups of patches that are alike in the guide."""
    from lowdim.recipes.kernels import distances, gather, scatter

    c, height, length = noisy.shape
    grid = Grid((height, length), how.width, how.stride)
    seen, side, lefts = guide.astype(np.float32), 2 * how.reach + 1, grid.lefts
    corner = (min(how.reach, height - how.width) + 1) * (min(how.reach, length - how.width) + 1)
    n = min(how.n, corner)  # as many as a patch in a corner has around it

    def strip(top: int) -> tuple[int, int, Floats]:
        apart = np.empty((len(lefts), side**2), dtype=np.float32)
        distances(seen, top, lefts, how.width, how.reach, apart)
        apart[:, side**2 // 2] = -1  # a patch is in its own group, also where many are equal: every pixel is covered
        near = np.argpartition(apart, n - 1, axis=1)[:, :n]
        tops, places = top + near // side - how.reach, lefts[:, None] + near % side - how.reach
        patches = np.empty((len(lefts), c, n, how.width**2))
        guides = np.empty_like(patches)
        gather(noisy, tops, places, how.width, patches)
        gather(guide, tops, places, how.width, guides)
        values, variances = estimate(patches, guides)
        start, stop = max(0, top - how.reach), min(height, top + how.reach + how.width)
        sums = np.zeros((3, c, stop - start, length))
        weights = 1 / np.maximum(variances, LEAST_VARIANCE)
        scatter(values, variances, weights, tops - start, places, how.width, sums)
        return start, stop, sums

    total = np.zeros((3, c, height, length))
    for start, stop, sums in in_strips(strip, grid.tops.tolist(), height):
        total[:, :, start:stop] += sums
    mean = total[1] / total[0]
    return mean, np.maximum(total[2] / total[0] - mean**2, 0.0)  # variance of the mixture of all predictions


def _from_noisy(patches: Floats, guides: Floats) -> tuple[Floats, Floats]:
    """Each channel alone, with the covariance of the noisy patches; groups without any structure get one level."""
    g, c, n, p = patches.shape
    values = np.broadcast_to(patches.mean(axis=(2, 3), keepdims=True), patches.shape).copy()
    errors = np.full((g, c, p), 1 / (n * p))
    rough = patches.var(axis=(2, 3)).mean(axis=1) >= FLAT
    values[rough], errors[rough] = _by_components(patches[rough])
    return values, errors


def _by_components(patches: Floats) -> tuple[Floats, Floats]:
    """Posterior means under the PCA of each group, whose variances lose what noise has added to them."""
    _, c, n, p = patches.shape
    mean = patches.mean(axis=2, keepdims=True)
    apart = patches - mean
    variances, components = np.linalg.eigh(apart.swapaxes(2, 3) @ apart / n)
    # the largest variance that n draws of noise in p directions show (Marchenko & Pastur 1967)
    largest = (1 + np.sqrt(p / n)) ** 2
    strict = np.array([STRICT, 1.0, 1.0])[:c, None]
    gains = np.where(variances > largest * strict, 1 - 1 / np.maximum(variances, 1.0), 0.0)
    filters = (components * gains[..., None, :]) @ components.swapaxes(2, 3)
    return mean + apart @ filters, (components**2 @ gains[..., None])[..., 0] + 1 / n


def _from_guide(patches: Floats, guides: Floats) -> tuple[Floats, Floats]:
    """All channels together, with the covariance of the guide: C (C + I)⁻¹ = I − (C + I)⁻¹, also in the variance."""
    g, c, n, p = patches.shape
    together = [np.ascontiguousarray(one.swapaxes(1, 2)).reshape(g, n, c * p) for one in (patches, guides)]
    mean = together[1].mean(axis=1, keepdims=True)
    apart = together[1] - mean
    identity = np.eye(c * p)
    filters = identity - np.linalg.inv(apart.swapaxes(1, 2) @ apart / max(1, n - 1) + identity)
    values = mean + (together[0] - mean) @ filters
    errors = np.diagonal(filters, axis1=1, axis2=2).reshape(g, c, p)
    return np.ascontiguousarray(values.reshape(g, n, c, p).swapaxes(1, 2)), errors + 1 / n
