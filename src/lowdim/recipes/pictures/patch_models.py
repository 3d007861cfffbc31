"""Gaussian models of the patches of a picture with missing pixels: of all, or of those most alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from lowdim.models.ppca_mixture.solvers import (
    Mixture,
    Prior,
    Settings,
    expect_entries,
    fit_mixture,
    fit_one_component,
    moments,
    predict_entries,
    split_by_label,
)
from lowdim.recipes.pictures import compiled_patches, plain_patches
from lowdim.recipes.pictures.missing_pixels import local_fill
from lowdim.recipes.pictures.patches import Canvas, Grid
from lowdim.runtime import native
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

# Gaussian models of all patches of a picture with holes, and the picture that they expect.

LEARNT, LEAST_LEARNT = 10_000, 4_000
"""Patches that models are learnt from at most, and those that small pictures give if they can."""

FIRST_STEPS, FIRST_SHARE, STEPS = 15, 4, 6
"""Steps of EM for one PPCA from the local fill: the first with every fourth patch only, as they only have to come near,
then some with all. 25 steps with all give 0.5 dB more than 6 (crops of bsds_mushroom, bsds_train and chelsea)."""

KINDS = 16
"""Components of a mixture. 10 and 20 differ by less than 0.1 dB (bsds_mushroom)."""

MIXTURE_STEPS = 5
PRIOR_ROWS = 30.0
"""Patches that the model of all patches counts for in each component of a mixture (30 and 100 differ by 0.07 dB)."""

FILLED_ROWS = 20.0
"""Patches that those of the local fill count for in the model of all."""

FEATURES = 12
"""Leading components in which patches are sorted into kinds before EM."""


@dataclass(frozen=True)
class Guess:
    """A picture without holes, and the variance of each number in them; 0 where it was observed."""

    values: Floats
    variances: Floats


@dataclass(frozen=True)
class Rows:
    """Patches to learn from."""

    X: Floats
    """(n, p) with NaN."""
    filled: Floats
    """(n, p) as the local fill has them."""


def rows_of(values: Floats, width: int, rng: np.random.Generator) -> Rows:
    """Patches of a picture (height, width, channels) with NaN, those without any value left out."""
    stride = max(1, width // 2)
    while stride > 1 and Grid(values.shape, width, stride).n < LEAST_LEARNT:
        stride -= 1
    grid = Grid(values.shape, width, stride)
    X = grid.cut(values)
    known = np.flatnonzero(np.isfinite(X).any(axis=1))
    chosen = np.sort(rng.permutation(known)[:LEARNT])
    return Rows(X[chosen], grid.cut(local_fill(values))[chosen])


def one_ppca(rows: Rows, k: int, noise: float | None, least: float, first: Mixture | None = None) -> Mixture:
    """One PPCA of all patches, from the local fill or another model. Few patches are held near the local fill."""
    prior = Prior(rows.filled.mean(axis=0), _cov(rows.filled, least), FILLED_ROWS)
    settings = Settings(k, noise, least, prior)
    if first is None:
        some = rows.X[::FIRST_SHARE] if len(rows.X) >= LEAST_LEARNT else rows.X
        first = _fit(some, fit_one_component(rows.filled, settings), settings, FIRST_STEPS)
    return _fit(rows.X, first, settings, STEPS)


def several_ppcas(rows: Rows, one: Mixture, least: float, rng: np.random.Generator) -> Mixture:
    """A mixture, from the kinds of patches that k-means sees in those that one PPCA has filled."""
    g = one.gaussians[0]
    prior = Prior(g.mean, g.cov, PRIOR_ROWS)
    settings = Settings(one.W.shape[2], None, max(least, float(one.noise[0])), prior)
    kinds = kinds_of(predict_entries(one, rows.X)[0], g.mean, min(KINDS, max(1, len(rows.X) // 100)), rng)
    return _fit(rows.X, split_by_label(one, rows.X, kinds, settings), settings, MIXTURE_STEPS)


def doubt_of(model: Mixture, X: Floats) -> Floats:
    """(p, p) mean covariance of patches given what was observed of them, under one PPCA."""
    g = model.gaussians[0]
    apart = expect_entries(g, X)[0] - g.mean
    return (moments(g, X, np.ones(len(X)), g.mean).second - apart.T @ apart) / len(X)


def expected_picture(model: Mixture, values: Floats, width: int, stride: int) -> Guess:
    """The patches of a picture as a model expects them, laid over each other by their predictive precision.

    Pixels that no patch with an observed value covers keep the local fill, and the variance of all pixels.
    """
    grid = Grid(values.shape, width, stride)
    means, spread = Canvas(grid), Canvas(grid)
    noise = float(model.noise.min())
    for band in track(list(grid.bands()), "band"):
        X = grid.cut(values, band)
        observed = np.isfinite(X).sum(axis=1)
        asked = np.flatnonzero((observed > 0) & (observed < grid.p))
        filled, variances, weights = np.zeros_like(X), np.zeros_like(X), np.zeros_like(X)
        filled[asked], variances[asked] = predict_entries(model, X[asked])
        weights[asked] = 1.0 / (variances[asked] + noise)
        means.add(filled, weights, band)
        spread.add(variances, weights, band)
    covered, seen = means.weight > 0, np.isfinite(values)
    weight = np.where(covered, means.weight, 1.0)
    filled = np.where(covered, means.total / weight, local_fill(values))
    variances = np.where(covered, spread.total / weight, np.nanvar(values))
    return Guess(np.where(seen, values, filled), np.where(seen, 0.0, variances))


def _fit(X: Floats, first: Mixture, settings: Settings, most: int) -> Mixture:
    return fit_mixture(X, first, settings, most)[0]


def kinds_of(patches: Floats, mean: Floats, count: int, rng: np.random.Generator) -> NDArray[np.integer]:
    """Labels (n,) of patches by their direction from the mean more than by their contrast."""
    apart = patches - mean
    apart = apart - apart.mean(axis=1, keepdims=True)  # brightness is no kind
    _, vectors = np.linalg.eigh(apart.T @ apart)
    scores = apart @ vectors[:, -FEATURES:]
    size = np.sqrt((scores**2).sum(axis=1, keepdims=True))
    flat = scores / (size + 0.5 * np.median(size) + 1e-12)
    labels: NDArray[np.integer] = kmeans2(flat, count, minit="++", seed=rng)[1]
    return labels


def _cov(X: Floats, least: float) -> Floats:
    apart = X - X.mean(axis=0)
    cov: Floats = apart.T @ apart / len(X) + least * np.eye(X.shape[1])
    return cov


# Holes filled patch by patch, each from the Gaussian of the patches nearest to it.
#
# Buades, Lebrun & Morel's non-local Bayes with holes, as in Aguerrebere et al. 2017 ("A Bayesian hyperprior approach
# for joint image denoising and interpolation, with an application to HDR imaging"): patches are compared in the
# picture as it is filled by now, the group's mean and covariance are shrunk to those of all patches, and each patch
# takes its expectation given what was truly observed of it. The better picture gives better groups, so this is
# repeated.

# Chosen on bsds_mushroom, bsds_train and chelsea with 80 % missing. A reach of 12 to 20 gives the same to 0.05 dB, 300
# members 0.05 dB more and 100 members 0.15 less, ten filled ones 0.06 more, a strength of 10 to 100 the same to 0.04.
REACH, MEMBERS, PREDICTED = 12, 200, 3
"""Pixels up to which similar patches are sought, patches in a group, and those of them that it fills."""

STRENGTH = 30.0
"""Members that the covariance of all patches counts for in that of a group."""

DOUBT = 0.15
"""Share of the variance of filled pixels that is added to that among filled patches. All of it would be right if
errors of neighbours in the group were independent; less is right as they share their values."""


@dataclass(frozen=True)
class Common:
    """What groups take from all patches; both matrices have a mean diagonal of one."""

    cov: Floats
    """(p, p) form of the covariance of patches."""
    doubt: Floats
    """(p, p) form of the covariance of filled patches about the true ones."""
    noise: float
    """Variance of the noise."""

    @classmethod
    def of(cls, cov: Floats, doubt: Floats, noise: float) -> Common:
        """Bring the matrices to scale."""
        return cls(cov / np.diag(cov).mean(), doubt / np.diag(doubt).mean(), noise)


def fill_by_similar(values: Floats, guess: Guess, common: Common, width: int, stride: int) -> Guess:
    """One pass over all patches with holes of a picture (height, width, channels) with NaN; gives a better guess."""
    fill = compiled_patches.fill_by_similar if native.is_compiled() else plain_patches.fill_by_similar
    # pictures of users may lie in memory as they like
    values, now, unsure = (np.ascontiguousarray(one) for one in (values, guess.values, DOUBT * guess.variances))
    grid = Grid(values.shape, width, stride)
    seen = np.isfinite(values)
    known = grid.cut(seen).sum(axis=1).reshape(len(grid.tops), -1)
    asked = (known > 0) & (known < grid.p)

    def work(row: int) -> tuple[slice, Floats]:
        top = grid.tops[row]
        rows = slice(max(0, top - REACH), min(len(values), top + REACH + width))
        lefts = grid.lefts[asked[row]]
        corners = np.stack([np.full(len(lefts), top - rows.start), lefts], axis=1).astype(np.int64)
        sums = np.zeros((3, *values[rows].shape))
        fill(
            values[rows],
            now[rows],
            unsure[rows],
            corners,
            width,
            REACH,
            MEMBERS,
            PREDICTED,
            common.cov,
            STRENGTH,
            common.doubt,
            common.noise,
            *sums,
        )
        return rows, sums

    total = np.zeros((3, *values.shape))
    wanted = [int(row) for row in np.flatnonzero(asked.any(axis=1))]
    for rows, sums in track(in_order(work, wanted), "row", len(wanted)):
        total[:, rows] += sums
    weighed, weights, counts = total
    better = ~seen & (weights > 0)
    divisor = np.where(better, weights, 1.0)
    return Guess(
        np.where(better, weighed / divisor, guess.values),
        np.where(better, np.maximum(counts / divisor - common.noise, 0.0), guess.variances),
    )
