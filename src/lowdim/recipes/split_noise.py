"""How far denoised pixels are from the true ones, told without these: the noise is split in two.

To a picture y of noise of variance one the same noise again is added and taken away: y + ε and y − ε have independent
noise, of variance two each. So what is made of the first can be compared with the second, whose own noise is known:
mean |f(y + ε) − (y − ε)|² is the error of f and 2 (Oliveira, Lei & Tibshirani 2021, "Unbiased risk estimation in the
normal means problem via coupled bootstrap techniques"). It is the error at 1.4 times the noise; the factor by which a
model is too sure changes little with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SIDE = 256
"""Pixels along the sides of up to four squares that larger pictures are judged by."""

IN_BIN, MOST_BINS, ALIKE = 2000, 12, 1.15
"""Values in a bin at least, bins at most, and ratio of variances up to which neighbouring bins are one."""

EXPECTED = 0.5
"""Deviation of the ratio of errors to variances from one, before anything is seen."""

SEED = (20210, 11718)
"""Of the noise that is added: no number that a user would begin with, whose noise must not be the same."""

FARTHEST = 3.0
"""Factor by which deviations are corrected, at most."""


def calibrated_variances(
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
    for rows in np.array_split(np.argsort(said, kind="stable"), max(1, min(MOST_BINS, len(said) // IN_BIN))):
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
