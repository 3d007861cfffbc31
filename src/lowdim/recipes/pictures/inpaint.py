"""Missing pixels of a picture, filled with what the patches around them and like them say."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lowdim.errors import BadParameter
from lowdim.models.ppca_mixture.solvers import Mixture
from lowdim.recipes.pictures.missing_pixels import depths, held_out, missing_in
from lowdim.recipes.pictures.patch_models import (
    Common,
    Guess,
    Rows,
    doubt_of,
    expected_picture,
    fill_by_similar,
    one_ppca,
    rows_of,
    several_ppcas,
)
from lowdim.recipes.pictures.patches import Grid
from lowdim.recipes.pictures.picture import Picture, Restored, refuse_other_shape
from lowdim.recipes.pictures.uncertainty import calibrate, deep_holes, laid_in
from lowdim.runtime.progress import stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.types import Floats

PASSES = 3
"""Passes over groups of similar patches, at most, before two more that fill the picture."""

SMALL_CHANGE = 0.1
"""Change by a pass, relative to the standard deviation of what is filled, after which no further one is made."""

FURTHER = 1.6
"""How far each pass but the last is followed, to need fewer: after five passes, 31.05 dB with 1, 31.18 with 1.5 and
31.24 with 2 on crops of bsds_mushroom, bsds_train and chelsea."""

DOUBTED = 2000
"""Patches, at most, whose covariance given what was observed of them is looked at."""

SHARES = (1 / 12, 1 / 6, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 15 / 16)
"""Components, per number in a patch, that are tried for one PPCA: 16 to 180 for 8 × 8 pixels in colour."""

LEAST_NOISE = 1 / 255
"""Standard deviation, as a share of full light, below which the noise is not let fall."""

ROUNDING = 1 / (255 * 12**0.5)
"""Standard deviation of a number that was rounded to 8 bits: no filled one is said to be surer."""

Fill = Callable[[Floats], Guess]
"""Fills a picture with NaN by what was learnt."""


def inpaint(
    picture: str | os.PathLike[str] | ArrayLike,
    mask: str | os.PathLike[str] | ArrayLike | None = None,
    *,
    method: str = "grouped",
    missing: str | ArrayLike | None = None,
    sigma: float | None = None,
    patch: int = 8,
    clean: str | os.PathLike[str] | ArrayLike | None = None,
    peak: float | None = None,
    seed: int = 0,
) -> Restored:
    """Fill the missing pixels of a grey or colour picture; the observed ones are kept.

    The picture is cut into overlapping patches. A Gaussian model gives every patch its expectation given the values
    that were observed in it, and the patches are laid over each other, weighed by their predictive precision. Nothing
    but the picture itself is learnt from.

    Parameters
    ----------
    picture : path, or array (height, width) or (height, width, channels)
        NaN are missing values. 2 or 4 channels end in alpha, which is kept.
    mask : path, or array (height, width) or (height, width, 3), optional
        True, 1 or another whole number but 0 where a value is missing; in a file white is missing and black is known.
        Three marks a pixel are for pictures with three channels.
    method : {"grouped", "mixture", "ppca"}
        The Gaussian of a patch: that of the 200 patches most like it (non-local Bayes, repeated; the default and
        the best), of the kind that it belongs to in a mixture of 16 PPCAs, or one PPCA of all patches, with as many
        components as predict hidden values best.
    missing : "alpha", "#rrggbb" or colour, optional
        What else marks a missing pixel: full transparency, or a colour.
    sigma : float, optional
        Standard deviation of the noise in the observed values, which smooths what is filled. Learnt if it is not given.
    patch : int
        Pixels along a side of a patch.
    clean : path or array, optional
        The true picture, with which the result is compared. Nothing is chosen by it.
    peak : float, optional
        Value of full light; known for 8 and 16 bits and for numbers from 0 to 1.
    seed : int
        For the choice of patches to learn from and of values to hide.

    Returns
    -------
    Restored
        With `picture`, `deviations`, `pixels`, `noise_sd`, `psnr` and `save`; `psnr_before` is that with black holes.

    Notes
    -----
    About 5 % of the observed values are hidden while the model is learnt (copies of the holes laid elsewhere, or
    scattered values if the holes are dense). They choose the components of "ppca", and they bring the standard
    deviations to scale: after it, 95 % of the hidden values are within ± 1.96 of them, at every level of certainty. The
    values are shown again for the result. The deviations are those of a reading of the pixel, noise included.

    In holes that are deeper than half a patch diffusion fills what patches do not reach, and deviations grow with the
    distance d to the nearest observed pixel: 1.4 times half the mean square of differences between pixels d apart
    around the hole is the least variance there.

    References
    ----------
    Tipping & Bishop 1999, Neural Computation 11, 443-482, "Mixtures of probabilistic principal component analysers".
    Yu, Sapiro & Mallat 2012, IEEE TIP 21, 2481-2499, "Solving inverse problems with piecewise linear estimates".
    Aguerrebere, Almansa, Delon, Gousseau & Musé 2017, IEEE TCI 3, 633-646, "A Bayesian hyperprior approach for joint
    image denoising and interpolation, with an application to HDR imaging".

    Examples
    --------
    >>> rows, columns = np.mgrid[0:24, 0:24]
    >>> waves = 128 + 60 * np.sin(rows / 2) + 40 * np.cos(columns / 3)
    >>> mask = np.random.default_rng(0).random(waves.shape) < 0.5
    >>> filled = inpaint(waves, mask, clean=waves, peak=255)
    >>> np.array_equal(filled.picture[~mask], waves[~mask]), filled.psnr > 40
    (True, True)
    """
    given = Picture.of(picture, peak)
    truth = None if clean is None else Picture.of(clean, peak)
    refuse_other_shape(given, truth)
    _check(method, sigma)
    Grid(given.values.shape, patch)  # an error if the picture is smaller than a patch
    holes = missing_in(given, mask, missing)
    if not holes.any():
        return Restored.of(given, given.values, np.zeros_like(given.values), sigma or 0.0, method, truth)
    if isinstance(missing, str) and missing == "alpha":
        given = _opaque(given)
    grey = given.values.ndim == 2
    values = np.where(holes, np.nan, given.values)
    # many small products, which the threads of bands share better
    with one_blas_thread(), stage("inpaint", parts=PARTS[method]):
        found = _fill(values[:, :, None] if grey else values, method, sigma, patch, given.peak, seed)
    filled, deviations, noise = found
    if grey:
        filled, deviations = filled[:, :, 0], deviations[:, :, 0]
    black = replace(given, values=np.nan_to_num(values))  # what it is compared with
    return Restored.of(black, filled, deviations, noise, method, truth, holes)


def _fill(
    values: Floats, method: str, sigma: float | None, patch: int, peak: float | None, seed: int
) -> tuple[Floats, Floats, float]:
    """Filled values (height, width, channels), their calibrated deviations, and the standard deviation of the noise."""
    rng = np.random.default_rng(seed)
    holes = np.isnan(values)
    hidden = held_out(holes, rng)
    shown = np.where(hidden, np.nan, values)
    light = peak if peak is not None else float(np.nanmax(values) - np.nanmin(values)) or 1.0
    learn = METHODS[method]
    fill, noise = learn(shown, np.where(hidden, values, np.nan), sigma, (LEAST_NOISE * light) ** 2, patch, rng)
    trial, guess = fill(shown), fill(values)
    own = np.sqrt(guess.variances + noise)
    near = depths(shown) < patch  # beyond, a patch with it sees nothing that was observed
    judged = hidden & near
    errors = (trial.values - values)[judged]
    deviations = calibrate(own, np.sqrt(trial.variances + noise)[judged], errors)
    filled, deviations = laid_in(deep_holes(values, light), guess.values, deviations, noise, patch)
    deviations = np.maximum(deviations, light * ROUNDING)
    return filled, np.where(holes, deviations, 0.0), float(np.sqrt(noise))


def _one(
    shown: Floats, hidden: Floats, sigma: float | None, least: float, patch: int, rng: np.random.Generator
) -> tuple[Fill, float]:
    """One PPCA of all patches, with the components that predict hidden values best."""
    rows, smallest = rows_of(shown, patch, rng), np.inf
    best: Mixture | None = None
    for share in SHARES:  # each goes on from the one before
        model = one_ppca(rows, max(1, round(share * rows.X.shape[1])), _square(sigma), least, best)
        error = _error(model, shown, hidden, patch)
        if best is not None and error >= smallest:
            break
        best, smallest = model, error
    assert best is not None
    return _laid(best, patch), float(best.noise[0])


def _several(
    shown: Floats, hidden: Floats, sigma: float | None, least: float, patch: int, rng: np.random.Generator
) -> tuple[Fill, float]:
    """A mixture of PPCAs."""
    rows = rows_of(shown, patch, rng)
    one = _rich(rows, sigma, least)
    model = several_ppcas(rows, one, least, rng)
    return _laid(model, patch), float(one.noise[0])


def _fill_by_groups(
    shown: Floats, hidden: Floats, sigma: float | None, least: float, patch: int, rng: np.random.Generator
) -> tuple[Fill, float]:
    """Groups of similar patches, from the picture that one PPCA expects."""
    rows = rows_of(shown, patch, rng)
    one = _rich(rows, sigma, least)
    common = Common.of(one.gaussians[0].cov, doubt_of(one, _with_holes(rows.X)), float(one.noise[0]))
    guess, stride = expected_picture(one, shown, patch, max(1, patch // 4)), max(1, patch // 2)
    for _ in range(PASSES):
        before, better = guess, fill_by_similar(shown, guess, common, patch, stride)
        guess = _further(before, better)
        if np.mean((better.values - before.values) ** 2) < SMALL_CHANGE**2 * np.mean(better.variances):
            break

    def fill(values: Floats) -> Guess:
        """Two passes more, which may be over a picture in which hidden values are shown again."""
        seen = np.isfinite(values)
        now = Guess(np.where(seen, values, guess.values), np.where(seen, 0.0, guess.variances))
        now = _further(now, fill_by_similar(values, now, common, patch, stride))
        return fill_by_similar(values, now, common, patch, stride)

    return fill, common.noise


def _with_holes(X: Floats) -> Floats:
    """Patches of which something is missing, from all over the picture; those that are whole leave nothing open."""
    some = X[np.isnan(X).any(axis=1)]
    return some[:: -(-len(some) // DOUBTED)] if len(some) else np.full_like(X[:1], np.nan)


def _further(now: Guess, better: Guess) -> Guess:
    """Further on the way that a pass has gone: passes alone come near their end by the same share each time."""
    return Guess(now.values + FURTHER * (better.values - now.values), better.variances)


PARTS = {
    "grouped": [("step", 1.0), ("step", 2.0), ("band", 1.0), *[("row", 3.0)] * (PASSES + 4)],
    "mixture": [("step", 1.0), ("step", 2.0), ("step", 3.0), ("band", 2.0), ("band", 2.0)],
    "ppca": [*[("step", 1.0)] * 2 * len(SHARES), ("band", 2.0), ("band", 2.0)],
}
"""What each of these does, for a bar."""

METHODS = {"grouped": _fill_by_groups, "mixture": _several, "ppca": _one}
"""Name → what learns to fill: takes the picture with some observed values hidden, and these alone."""


def _rich(rows: Rows, sigma: float | None, least: float) -> Mixture:
    """One PPCA with so many components that only the smallest sixteenth of the variances is taken for noise."""
    return one_ppca(rows, max(1, (15 * rows.X.shape[1]) // 16), _square(sigma), least)


def _laid(model: Mixture, patch: int) -> Fill:
    return lambda values: expected_picture(model, values, patch, 1)


def _error(model: Mixture, shown: Floats, hidden: Floats, patch: int) -> float:
    there = np.isfinite(hidden)
    guess = expected_picture(model, shown, patch, max(1, patch // 2))
    return float(np.mean((guess.values - hidden)[there] ** 2)) if there.any() else 0.0


def _square(sigma: float | None) -> float | None:
    return None if sigma is None else max(float(sigma) ** 2, 1e-12)


def _opaque(picture: Picture) -> Picture:
    """The transparent pixels are those that are filled, and can be shown then."""
    assert picture.alpha is not None
    full = np.iinfo(picture.alpha.dtype).max if picture.alpha.dtype.kind in "ui" else picture.alpha.max() or 1.0
    return replace(picture, alpha=np.where(picture.alpha == 0, full, picture.alpha).astype(picture.alpha.dtype))


def _check(method: str, sigma: float | None) -> None:
    if method not in METHODS:
        raise BadParameter.of("inpaint", "method", method, f"one of {', '.join(METHODS)}")
    if sigma is not None and not 0 <= sigma < float("inf"):
        raise BadParameter.of("inpaint", "sigma", sigma, "a standard deviation from 0 on, in units of the pixels")
