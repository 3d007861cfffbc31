"""Pictures without their noise."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.errors import BadParameter, MissingValues
from lowdim.recipes.grouped import by_groups
from lowdim.recipes.noise import noise_sd
from lowdim.recipes.patch_mixture import by_mixture
from lowdim.recipes.patch_pca import by_ppca, by_threshold
from lowdim.recipes.patches import Grid
from lowdim.recipes.picture import Picture
from lowdim.recipes.restored import Restored, refuse_other_shape
from lowdim.recipes.split_noise import calibrated_variances
from lowdim.sources.workers import one_blas_thread

Floats = NDArray[np.float64]

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
        raise BadParameter.of("denoise", "sigma", sigma, "a number from 0, or None to find it from the picture")
    if not isinstance(patch, (int, np.integer)) or patch < 2:
        raise BadParameter.of("denoise", "patch", patch, "a whole number of pixels from 2")
    given = Picture.of(picture, peak)
    truth = None if clean is None else Picture.of(clean, peak)
    refuse_other_shape(given, truth)
    _refuse_holes(given.values)
    Grid(given.values.shape, patch)  # an error if the picture is smaller than a patch
    with one_blas_thread():  # many small products, which the threads of strips share better
        noise = noise_sd(given.values) if sigma is None else float(sigma)
        values, deviations = _denoised(given.values, noise, method, patch)
    return Restored.of(given, values, deviations, noise, method, truth)


def _denoised(values: Floats, noise: float, method: str, patch: int) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each pixel; in units of the noise in between, so that the scale never matters."""
    if noise == 0:
        return values, np.zeros_like(values)
    middle = values.mean()
    seen = (values - middle) / noise
    mean, variance = METHODS[method](seen, patch)
    variance = calibrated_variances(seen, variance, patch, METHODS[method])
    return noise * mean + middle, noise * np.sqrt(variance)


def _refuse_holes(values: Floats) -> None:
    holes = int(np.isnan(values).sum())
    if holes:
        raise MissingValues(
            f"{holes:,} of {values.size:,} values of the picture are missing (NaN), but all are needed to take noise "
            "off: fill them with inpaint first."
        )
