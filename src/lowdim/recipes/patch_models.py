"""Gaussian models of all patches of a picture with holes, and the picture that they expect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from lowdim.recipes.local_fill import local_fill
from lowdim.recipes.patches import Canvas, Grid
from lowdim.solvers.hidden_entries import expected, moments
from lowdim.solvers.ppca_mixture import Mixture, Prior, Settings, fit_mixture, parted, predicted, start
from lowdim.sources.progress import new_pass

Floats = NDArray[np.float64]

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
        first = _fit(some, start(rows.filled, settings), settings, FIRST_STEPS)
    return _fit(rows.X, first, settings, STEPS)


def several_ppcas(rows: Rows, one: Mixture, least: float, rng: np.random.Generator) -> Mixture:
    """A mixture, from the kinds of patches that k-means sees in those that one PPCA has filled."""
    g = one.gaussians[0]
    prior = Prior(g.mean, g.cov, PRIOR_ROWS)
    settings = Settings(one.W.shape[2], None, max(least, float(one.noise[0])), prior)
    kinds = kinds_of(predicted(one, rows.X)[0], g.mean, min(KINDS, max(1, len(rows.X) // 100)), rng)
    return _fit(rows.X, parted(one, rows.X, kinds, settings), settings, MIXTURE_STEPS)


def doubt_of(model: Mixture, X: Floats) -> Floats:
    """(p, p) mean covariance of patches given what was observed of them, under one PPCA."""
    g = model.gaussians[0]
    apart = expected(g, X)[0] - g.mean
    return (moments(g, X, np.ones(len(X)), g.mean).second - apart.T @ apart) / len(X)


def expected_picture(model: Mixture, values: Floats, width: int, stride: int) -> Guess:
    """The patches of a picture as a model expects them, laid over each other by their predictive precision.

    Pixels that no patch with an observed value covers keep the local fill, and the variance of all pixels.
    """
    grid = Grid(values.shape, width, stride)
    means, spread = Canvas(grid), Canvas(grid)
    noise = float(model.noise.min())
    tell = new_pass(len(grid.tops))
    for band in grid.bands():
        X = grid.cut(values, band)
        observed = np.isfinite(X).sum(axis=1)
        asked = np.flatnonzero((observed > 0) & (observed < grid.p))
        filled, variances, weights = np.zeros_like(X), np.zeros_like(X), np.zeros_like(X)
        filled[asked], variances[asked] = predicted(model, X[asked])
        weights[asked] = 1.0 / (variances[asked] + noise)
        means.add(filled, weights, band)
        spread.add(variances, weights, band)
        stop_if(tell(min(band.stop, len(grid.tops))))
    covered, seen = means.weight > 0, np.isfinite(values)
    weight = np.where(covered, means.weight, 1.0)
    filled = np.where(covered, means.total / weight, local_fill(values))
    variances = np.where(covered, spread.total / weight, np.nanvar(values))
    return Guess(np.where(seen, values, filled), np.where(seen, 0.0, variances))


def stop_if(asked: bool) -> None:
    """End the work if a watcher has asked for it."""
    if asked:
        raise KeyboardInterrupt


def _fit(X: Floats, first: Mixture, settings: Settings, most: int) -> Mixture:
    def watch(_: object) -> None:
        stop_if(new_pass(len(X))(len(X)))

    return fit_mixture(X, first, settings, most, watch)[0]


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
