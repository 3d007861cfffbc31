"""A picture without its noise: by groups of patches, by a PCA of all, or by a mixture of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lowdim.errors import BadParameter, MissingValues, Words
from lowdim.models.ppca_mixture.solvers import Mixture, Prior, Settings, fit_mixture, split_by_label
from lowdim.models.ppca_mixture.solvers import fit_one_component as start_mixture
from lowdim.recipes.pictures import compiled_patches, plain_patches
from lowdim.recipes.pictures.noise import noise_sd
from lowdim.recipes.pictures.patch_models import kinds_of
from lowdim.recipes.pictures.patches import Grid, combine, in_strips
from lowdim.recipes.pictures.picture import (
    Picture,
    Restored,
    from_planes,
    refuse_other_shape,
    to_planes,
    variances_from_planes,
)
from lowdim.recipes.pictures.uncertainty import calibrate_variances
from lowdim.runtime import native
from lowdim.runtime.progress import Parts, stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.types import Floats

# Denoising with a mixture of probabilistic PCAs of the patches of a picture: edges, textures, flat ones each have
# one.
#
# Noise has variance one here. The mean of a patch is kept apart: patches of one kind differ in it. Colours are taken
# one channel of opponent space after the other, because patches of three channels are too long for so many
# components.

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
    kinds = _Kinds(_learn(picture, grid))

    def strip(band: slice) -> tuple[slice, Floats, Floats]:
        patches = grid.cut(picture, band)
        level = patches.mean(axis=1, keepdims=True)
        expected, errors = kinds.expected(patches - level)
        return band, expected + level, errors + 1 / grid.p  # the level is a mean of so many values

    return combine(grid, in_strips(strip, list(grid.bands()), len(picture)))


def _learn(picture: Floats, grid: Grid) -> Mixture:
    rng = np.random.default_rng(0)
    chosen, parts, done = np.sort(rng.permutation(grid.n)[:LEARNT]), [], 0
    for band in grid.bands():  # all patches at once would take 64 times the picture
        patches = grid.cut(picture, band)
        parts.append(patches[chosen[(chosen >= done) & (chosen < done + len(patches))] - done])
        done += len(patches)
    X = np.concatenate(parts)
    X -= X.mean(axis=1, keepdims=True)
    prior = Prior(X.mean(axis=0), np.cov(X.T, ddof=0), strength=float(grid.p))
    wish = Settings(grid.p - 1, noise=1.0, prior=prior)
    one = start_mixture(X, wish)
    labels = kinds_of(X, one.means[0], max(1, min(KINDS, len(X) // (FEWEST * grid.p))), rng)
    return fit_mixture(X, split_by_label(one, X, labels, wish), wish, STEPS)[0]


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


# Denoising with one PCA of all patches of a picture: by probabilistic PCA, or with a hard threshold.
#
# Noise has variance one here, in all directions of the space of patches; the picture has few directions with more.

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

    return combine(grid, in_strips(strip, list(grid.bands()), len(picture)))


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


# Denoising with a PCA of its own for every group of similar patches, in two passes.
#
# This is the scheme of NL-Bayes (Lebrun, Buades & Morel 2013, "A nonlocal Bayesian image denoising algorithm"):
# patches that look alike are draws of one Gaussian; what noise has added to its covariance is known, so the posterior
# mean of each patch is too. The second pass takes groups and covariances from the result of the first.
#
# Two things differ. Patches are compared in the first pass on a picture that one PCA of all patches has denoised
# (`patch_pca.by_threshold`), because patches compared with their noise are chosen for having the same noise. And
# since a group has few patches for its directions, a component counts as noise up to the largest variance that noise
# alone would show in such a group. All is in units of the noise, whose variance is one.

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
    loops = compiled_patches if native.is_compiled() else plain_patches
    c, height, length = noisy.shape
    grid = Grid((height, length), how.width, how.stride)
    seen, side, lefts = guide.astype(np.float32), 2 * how.reach + 1, grid.lefts
    corner = (min(how.reach, height - how.width) + 1) * (min(how.reach, length - how.width) + 1)
    n = min(how.n, corner)  # as many as a patch in a corner has around it

    def strip(top: int) -> tuple[int, int, Floats]:
        apart = np.empty((len(lefts), side**2), dtype=np.float32)
        loops.distances(seen, top, lefts, how.width, how.reach, apart)
        apart[:, side**2 // 2] = -1  # a patch is in its own group, also where many are equal: every pixel is covered
        near = np.argpartition(apart, n - 1, axis=1)[:, :n]
        tops, places = top + near // side - how.reach, lefts[:, None] + near % side - how.reach
        patches = np.empty((len(lefts), c, n, how.width**2))
        guides = np.empty_like(patches)
        loops.gather(noisy, tops, places, how.width, patches)
        loops.gather(guide, tops, places, how.width, guides)
        values, variances = estimate(patches, guides)
        start, stop = max(0, top - how.reach), min(height, top + how.reach + how.width)
        sums = np.zeros((3, c, stop - start, length))
        weights = 1 / np.maximum(variances, LEAST_VARIANCE)
        loops.scatter(values, variances, weights, tops - start, places, how.width, sums)
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


# Pictures without their noise.

PARTS: Mapping[str, Parts] = {
    "grouped": [("row", 1.0), ("row", 2.0)],
    "mixture": [("step", 2.0), ("row", 1.0)],
    "ppca": [("row", 1.0), ("row", 1.0)],
    "threshold": [("row", 1.0), ("row", 1.0)],
}
"""What each of these does, for a bar."""

METHODS: Mapping[str, Callable[[Floats, int], tuple[Floats, Floats]]] = {
    "grouped": by_groups,
    "mixture": by_mixture,
    "threshold": by_threshold,
    "ppca": by_ppca,
}
"""Name → function of a picture whose noise has variance one and of the width of patches, which gives the mean and the
variance of every pixel."""


def denoise(
    picture: str | os.PathLike[str] | ArrayLike,
    sigma: float | None = None,
    *,
    method: str = "grouped",
    patch: int = 8,
    clean: str | os.PathLike[str] | ArrayLike | None = None,
    peak: float | None = None,
) -> Restored:
    """Take white Gaussian noise off a picture, by what its overlapping patches have in common.

    Parameters
    ----------
    picture : path, or array (height, width) or (height, width, channels)
        Grey or RGB, PNG, JPEG or TIFF. A second or fourth channel is alpha, and is kept as it is.
    sigma : float or None
        Standard deviation of the noise on the picture's own scale; None: found from the picture.
    method : {"grouped", "mixture", "threshold", "ppca"}
        "grouped" compares patches and takes a PCA of every group of similar ones (after NL-Bayes, Lebrun, Buades &
        Morel 2013); "mixture" has 20 probabilistic PCAs, and takes that of which a patch most probably is (Yu, Sapiro
        & Mallat 2012); "threshold" takes one PCA of all patches and puts coefficients within the noise to zero
        (Deledalle, Salmon & Dalalyan 2011); "ppca" is the posterior mean under one probabilistic PCA of all patches
        (Tipping & Bishop 1999).
    patch : int
        Width of the patches in pixels. "grouped" compares with patches of this width, and has groups of those of 7/8
        and 5/8 of it.
    clean : path, array or None
        The true picture, only to say how near the result is.
    peak : float or None
        Value of full light, to which the result is clipped. None: 255 or 65,535 by the type of the pixels, 1 for real
        numbers from 0 to 1, and for others unknown, so that nothing is clipped.

    Returns
    -------
    Restored
        With `picture`, `deviations`, `noise_sd`, `pixels` and, if `clean` is given, `psnr`. Each patch over a pixel
        predicts its true value with a variance; `picture` is their mean, weighted by their precision. `deviations` are
        of the mixture of these predictions, which contain what a patch leaves open and how far patches disagree,
        brought to the scale of the errors: the picture is denoised once more with the same noise again, and compared
        with what another share of the noise leaves of it (Oliveira, Lei & Tibshirani 2021).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows, columns = np.mgrid[:48, :48]
    >>> clean = 0.5 + 0.3 * np.sign(np.sin(rows / 8) * np.sin(columns / 8))
    >>> found = denoise(clean + 0.1 * rng.standard_normal(clean.shape), 0.1, method="threshold", clean=clean)
    >>> found.psnr > found.psnr_before + 5
    True
    """
    if method not in METHODS:
        known = " or ".join(f'"{name}"' for name in METHODS)
        raise BadParameter.of("denoise", "method", method, known)
    if sigma is not None and not 0 <= sigma < math.inf:
        raise BadParameter.of(
            "denoise", "sigma", sigma, ("a number from 0, or ", Words("None", "auto"), " to find it from the picture")
        )
    if not isinstance(patch, (int, np.integer)) or patch < 2:
        raise BadParameter.of("denoise", "patch", patch, "a whole number of pixels from 2")
    given = Picture.of(picture, peak)
    truth = None if clean is None else Picture.of(clean, peak)
    refuse_other_shape(given, truth)
    _refuse_holes(given.values)
    Grid(given.values.shape, patch)  # an error if the picture is smaller than a patch
    with one_blas_thread():  # many small products, which the threads of strips share better
        noise = noise_sd(given.values) if sigma is None else float(sigma)
        values, deviations = _denoise_planes(given.values, noise, method, patch)
    return Restored.of(given, values, deviations, noise, method, truth)


def _denoise_planes(values: Floats, noise: float, method: str, patch: int) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each pixel; in units of the noise in between, so that the scale never matters."""
    if noise == 0:
        return values, np.zeros_like(values)
    middle = values.mean()
    seen = (values - middle) / noise
    with stage("denoise", parts=[("method", 1.0), ("calibration", 1.0)]):
        with stage("method", parts=PARTS[method]):
            mean, variance = METHODS[method](seen, patch)
        with stage("calibration", parts=PARTS[method]):
            variance = calibrate_variances(seen, variance, patch, METHODS[method])
    return noise * mean + middle, noise * np.sqrt(variance)


def _refuse_holes(values: Floats) -> None:
    holes = int(np.isnan(values).sum())
    if holes:
        raise MissingValues(
            f"{holes:,} of {values.size:,} values of the picture are missing (NaN), but all are needed to take noise "
            "off: fill them with inpaint first."
        )
