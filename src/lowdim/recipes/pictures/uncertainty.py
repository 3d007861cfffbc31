"""How sure restored pixels are: calibrated on held-out ones, far from observed ones, and with split noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from lowdim.recipes.pictures.missing_pixels import DEEP, deep_parts, depth, diffuse, local_fill
from lowdim.types import Floats, Mask

# Standard deviations that keep their word: brought to scale by the errors on values that were hidden.

INSIDE, WIDTHS = 0.95, 1.959964
"""Share of true values that ± so many standard deviations should hold: that of a normal distribution."""

LEAST_IN_BIN, MOST_BINS = 200, 20
LEAST = 30
"""Hidden values below which the model's own standard deviations are left as they are."""


def calibrate(deviations: Floats, hidden: Floats, errors: Floats) -> Floats:
    """Standard deviations times factors learnt on hidden values, of which `hidden` (m,) is what the model said.

    The variance of a mean of overlapping patches is not that of one patch, and groups of filled patches look surer than
    they are. So hidden values are sorted by the standard deviation that was given for them, and in each of up to 20
    bins the factor is taken with which ± 1.96 of them hold 95 % of the errors (m,); between bins it is interpolated.
    """
    if len(hidden) < LEAST:
        return deviations
    order = np.argsort(hidden, kind="stable")
    bins = np.array_split(order, max(1, min(MOST_BINS, len(order) // LEAST_IN_BIN)))
    tiny = 1e-9 * max(float(hidden.max()), 1e-300)
    at = np.array([np.median(hidden[rows]) for rows in bins])
    wide = np.array([np.quantile(np.abs(errors[rows]) / (hidden[rows] + tiny), INSIDE) for rows in bins]) / WIDTHS
    factors: Floats = np.interp(deviations, at, wide)
    return deviations * factors


# How sure a pixel far from any observed one can be: by how much pixels so far apart differ around its hole.
#
# Where a hole is deeper than a patch, nothing of the picture speaks of its middle but what diffuses into it. The
# error of that grows with the distance d to what is known, as half the mean square of differences between pixels d
# apart does: the semivariogram of geostatistics (Matheron 1963), taken near the hole, as a sky is smoother than a
# street.

LAGS = 2 ** np.arange(10)
"""Distances at which differences are taken, in pixels; between them they are interpolated."""

RING = 16
"""Pixels around a hole whose differences are taken, at least; as many as the hole is deep, where it is deeper."""

PAIRS = 20
"""Pairs of pixels that tell of a distance."""

EXCESS = 1.4
"""Mean square of the errors of diffusion at depth d, of the semivariogram at d: 56 holes of 20 to 90 pixels in 14
pictures (single holes: half of them from 0.8 to 1.8, nine tenths from 0.15 to 3.4)."""


@dataclass(frozen=True)
class Deep:
    """What diffusion makes of large holes (height, width, channels)."""

    values: Floats
    """NaN but in them."""
    variances: Floats
    """Of these; inf elsewhere."""
    depths: Floats
    """Pixels to the nearest observed one of the channel."""


def deep_holes(values: Floats, light: float) -> Deep:
    """Fill the large holes of a picture with NaN by diffusion, and say how sure that is.

    light: range of the values, of which nothing is known where no two pixels can be compared.
    """
    found = Deep(np.full_like(values, np.nan), np.full_like(values, np.inf), np.zeros_like(values))
    for c in range(values.shape[2]):
        channel = values[:, :, c]
        holes = np.isnan(channel)
        if holes.all():  # a channel that was never seen has the others, if any
            continue
        far, parts = depth(holes), deep_parts(holes)
        found.depths[:, :, c] = far
        if not parts.any():
            continue
        flat = diffuse(np.where(parts > 0, np.nan, local_fill(channel)))
        for part in range(1, int(parts.max()) + 1):
            hole = parts == part
            away = far[hole]
            curve = semivariogram(channel, hole, max(RING, float(away.max())), light)
            found.values[hole, c] = flat[hole]
            found.variances[hole, c] = EXCESS * np.interp(np.log(np.minimum(away, LAGS[-1])), np.log(LAGS), curve)
    return found


def laid_in(deep: Deep, values: Floats, deviations: Floats, noise: float, width: int) -> tuple[Floats, Floats]:
    """Filled values and deviations by patches of this width, together with those by diffusion in large holes.

    Up to 4 pixels deep patches are better, in the middle they say nothing; between, each counts by its precision. Both
    are made of the same border, so that no deviation is below that of the surer one, nor below a share d/width of what
    diffusion has at depth d: patches that see a corner of what is known are surer than they should be.
    """
    there = np.isfinite(deep.variances)
    if not there.any():
        return values, deviations
    by_flow, by_patch = deep.variances[there] + noise, np.maximum(deviations[there] ** 2, 1e-300)
    by_patch = np.where(deep.depths[there] < width, by_patch, np.inf)
    share = by_flow / (by_flow + by_patch)
    share[np.isinf(by_patch)] = 0.0
    share[deep.depths[there] <= DEEP] = 1.0
    least = deep.variances[there] * np.minimum(1.0, deep.depths[there] / width) ** 2 + noise
    values, deviations = values.copy(), deviations.copy()
    values[there] = share * values[there] + (1 - share) * deep.values[there]
    surer = np.where(share == 1.0, by_patch, np.minimum(by_flow, by_patch))
    deviations[there] = np.sqrt(np.maximum(surer, least))
    return values, deviations


def semivariogram(channel: Floats, hole: Mask, ring: float, light: float) -> Floats:
    """(lags,) half the mean square of differences between observed pixels so far apart, one of them near the hole.

    It does not fall; at distances at which nothing can be compared it is that of any two values, light²/12.
    """
    known = np.isfinite(channel)
    near = np.asarray(distance_transform_edt(~hole) <= ring) if np.isfinite(ring) else np.ones_like(known)
    curve = np.full(len(LAGS), np.nan)
    for i, lag in enumerate(LAGS):
        squares = []
        for axis in (0, 1):
            if channel.shape[axis] <= lag:
                continue
            one = (slice(None, -lag), slice(None)) if axis == 0 else (slice(None), slice(None, -lag))
            other = (slice(lag, None), slice(None)) if axis == 0 else (slice(None), slice(lag, None))
            both = known[one] & known[other] & (near[one] | near[other])
            squares.append((channel[one] - channel[other])[both] ** 2)
        pairs = np.concatenate(squares) if squares else np.zeros(0)
        if len(pairs) >= PAIRS:
            curve[i] = 0.5 * pairs.mean()
    nothing = light**2 / 12
    told = np.isfinite(curve)
    if not told.any():
        return np.full(len(LAGS), nothing)
    # beyond the farthest pair nothing is known, but that pixels farther apart do not agree better
    last = int(np.flatnonzero(told)[-1])
    curve = np.interp(np.arange(len(LAGS)), np.flatnonzero(told), curve[told])
    curve[last + 1 :] = max(nothing, float(curve[last]))
    return np.maximum.accumulate(curve)


# How far denoised pixels are from the true ones, told without these: the noise is split in two.
#
# To a picture y of noise of variance one the same noise again is added and taken away: y + ε and y − ε have
# independent noise, of variance two each. So what is made of the first can be compared with the second, whose own
# noise is known: mean |f(y + ε) − (y − ε)|² is the error of f and 2 (Oliveira, Lei & Tibshirani 2021, "Unbiased risk
# estimation in the normal means problem via coupled bootstrap techniques"). It is the error at 1.4 times the noise;
# the factor by which a model is too sure changes little with it.

SIDE = 256
"""Pixels along the sides of up to four squares that larger pictures are judged by."""

IN_BIN, MOST_NOISE_BINS, ALIKE = 2000, 12, 1.15
"""Values in a bin at least, bins at most, and ratio of variances up to which neighbouring bins are one."""

EXPECTED = 0.5
"""Deviation of the ratio of errors to variances from one, before anything is seen."""

SEED = (20210, 11718)
"""Of the noise that is added: no number that a user would begin with, whose noise must not be the same."""

FARTHEST = 3.0
"""Factor by which deviations are corrected, at most."""


def calibrate_variances(
    picture: Floats, variances: Floats, width: int, method: Callable[[Floats, int], tuple[Floats, Floats]]
) -> Floats:
    """Variances of a denoised picture whose noise has variance one, brought to the scale of its errors.

    Values are sorted by the variance that the method gave to the picture with more noise, and in each bin errors are
    compared with it. Chance in a bin is known too: where it is large beside the variance, the factor stays near one.
    """
    rng = np.random.default_rng(SEED)
    own, errors = [], []
    for at in _squares(picture.shape[:2]):
        y = picture[at]
        more = rng.standard_normal(y.shape)
        mean, found = method((y + more) / np.sqrt(2), width)
        own.append(found.ravel())
        errors.append(((mean - (y - more) / np.sqrt(2)) ** 2).ravel() - 1.0)
    said, happened = np.concatenate(own), np.concatenate(errors)
    bins = _bins(said)
    at_variance = np.array([said[rows].mean() for rows in bins])
    factors = np.array([_factor(said[rows], happened[rows]) for rows in bins])
    return np.asarray(variances * np.interp(variances, at_variance, factors))


def _squares(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """All of a small picture, or a square in the middle of each quarter."""
    sides = [[slice(None)] if n <= 2 * SIDE else [_middle(0, n // 2), _middle(n // 2, n)] for n in shape]
    return ((rows, columns) for rows in sides[0] for columns in sides[1])


def _middle(start: int, stop: int) -> slice:
    first = (start + stop - SIDE) // 2
    return slice(first, first + SIDE)


def _bins(said: Floats) -> list[NDArray[np.intp]]:
    bins: list[NDArray[np.intp]] = []
    for rows in np.array_split(np.argsort(said, kind="stable"), max(1, min(MOST_NOISE_BINS, len(said) // IN_BIN))):
        if bins and said[rows].mean() < ALIKE * said[bins[-1]].mean():
            bins[-1] = np.concatenate([bins[-1], rows])
        else:
            bins.append(rows)
    return bins


def _factor(said: Floats, happened: Floats) -> float:
    """Mean error over mean variance, drawn to one by how much of it may be chance."""
    variance = max(float(said.mean()), 1e-300)
    chance = float(happened.std()) / np.sqrt(len(happened)) / variance
    ratio = 1 + (float(happened.mean()) / variance - 1) * EXPECTED**2 / (EXPECTED**2 + chance**2)
    return float(np.clip(ratio, FARTHEST**-2, FARTHEST**2))
