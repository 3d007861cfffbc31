"""A picture to work on, as real numbers on its own scale, and what `denoise` and `inpaint` give back."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.errors import BadInput, BadParameter, NotNumeric, WrongShape
from lowdim.models.base.report import report_title
from lowdim.types import Floats

# Colours in channels that are about uncorrelated: brightness first, then red against blue, then both against green.
#
# The three are an orthonormal basis, so that white noise stays white and keeps its variance (Lebrun, Buades & Morel
# 2013, "A nonlocal Bayesian image denoising algorithm", section 4).

OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])


def to_planes(picture: Floats) -> Floats:
    """(c, height, width) channels of a picture (height, width) or (height, width, 3)."""
    if picture.ndim == 2:
        return np.ascontiguousarray(picture[None])
    return np.ascontiguousarray(np.moveaxis(picture @ OPPONENT.T, 2, 0))


def from_planes(planes: Floats) -> Floats:
    """The picture that has these channels."""
    return planes[0] if len(planes) == 1 else np.moveaxis(planes, 0, 2) @ OPPONENT


def variances_from_planes(planes: Floats) -> Floats:
    """Variances of the picture if the channels have these, with errors uncorrelated between channels."""
    return planes[0] if len(planes) == 1 else np.moveaxis(planes, 0, 2) @ OPPONENT**2


# One picture to work on: a file or an array as real numbers on its own scale, and back.


@dataclass(frozen=True)
class Picture:
    """The numbers of a picture, and what turns others into pixels like its own.

    Examples
    --------
    >>> picture = Picture.of(np.array([[0, 128], [255, 7]], dtype=np.uint8))
    >>> picture.values.dtype, picture.peak
    (dtype('float64'), 255.0)
    >>> picture.pixels(picture.values + 0.6)
    array([[  1, 129],
           [255,   8]], dtype=uint8)
    """

    values: Floats
    """(height, width), or (height, width, 3); grey stored in three equal channels comes as one."""
    alpha: NDArray[Any] | None
    """(height, width) opacity, which is never changed."""
    dtype: np.dtype[Any]
    peak: float | None
    """Value of full light, up to which values are clipped; None: not known, nothing is clipped."""
    grey_in_colour: bool
    """Whether three equal channels were given."""

    @classmethod
    def of(cls, given: str | os.PathLike[str] | ArrayLike, peak: float | None = None) -> Picture:
        """Read a picture, or take an array (height, width) or (height, width, channels): 2 and 4 end in alpha."""
        if isinstance(given, (str, os.PathLike)):
            from lowdim.sources.formats.pictures import read_picture

            pixels = read_picture(os.fspath(given))
        else:
            pixels = np.asarray(given)
        if pixels.dtype.kind not in "uif":
            raise NotNumeric.dtype(pixels.dtype)
        if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 2, 3, 4)) or not pixels.size:
            raise WrongShape(
                f"An array of shape {pixels.shape} is no picture: height × width is, or height × width × channels with "
                "1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha) of them."
            )
        alpha = pixels[:, :, -1] if pixels.ndim == 3 and pixels.shape[2] in (2, 4) else None
        shown = pixels if pixels.ndim == 2 else pixels[:, :, : 3 if pixels.shape[2] > 2 else 1]
        values = shown.astype(np.float64)
        if np.isinf(values).any():
            raise BadInput(f"{np.isinf(values).sum():,} values of the picture are infinite: make them finite first.")
        same = values.ndim == 3 and np.array_equal(
            values, np.broadcast_to(values[:, :, :1], values.shape), equal_nan=True
        )
        return cls(
            values=values[:, :, 0] if same else values,
            alpha=alpha,
            dtype=pixels.dtype,
            peak=_peak(values, pixels.dtype) if peak is None else _check(peak),
            grey_in_colour=same and shown.shape[2] == 3,
        )

    def clipped(self, values: Floats) -> Floats:
        """Values between darkness and full light, where the latter is known."""
        return values if self.peak is None else np.clip(values, 0.0, self.peak)

    def spread(self, values: Floats) -> Floats:
        """Values of a grey picture in three channels, if it was given so."""
        return np.repeat(values[:, :, None], 3, axis=2) if self.grey_in_colour else values

    def pixels(self, values: Floats) -> NDArray[Any]:
        """Values as pixels of the type that was given, rounded if that is of whole numbers, with alpha as it was."""
        shown = self.spread(self.clipped(values))
        if self.dtype.kind in "ui":
            limits = np.iinfo(self.dtype)
            shown = np.clip(np.rint(shown), limits.min, limits.max)
        pixels = shown.astype(self.dtype)
        return pixels if self.alpha is None else np.dstack([pixels, self.alpha])


def psnr(values: Floats, clean: Floats, peak: float) -> float:
    """Peak signal-to-noise ratio in decibels: 10 log10 (peak² / mean square error)."""
    error = float(np.mean((values - clean) ** 2))
    return float("inf") if error == 0 else float(10 * np.log10(peak**2 / error))


def _peak(values: Floats, dtype: np.dtype[Any]) -> float | None:
    if dtype in (np.uint8, np.uint16):
        return float(np.iinfo(dtype).max)
    known = values[np.isfinite(values)]
    return 1.0 if dtype.kind == "f" and known.size and known.min() >= 0 and known.max() <= 1 else None


def _check(peak: float) -> float:
    if not 0 < peak < float("inf"):
        raise BadParameter(f"peak={peak!r}: the value of full light must be a number above 0, as 255.")
    return float(peak)


@dataclass(frozen=True)
class Restored:
    """A picture without its noise or its holes, on the scale of the one that was given."""

    picture: Floats
    """(height, width) or (height, width, 3), clipped to the range of pixels but not rounded."""
    deviations: Floats
    """Standard deviation of each number of `picture` about the true one, as the model sees it."""
    noise_sd: float
    """Standard deviation of the noise, as it was given or found."""
    method: str
    pixels: NDArray[Any] = field(repr=False)
    """`picture` in the type that was given: rounded if that is of whole numbers, with alpha as it was."""
    before: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    """What was given, of the shape of `picture`; NaN where there was a hole."""
    peak: float | None = None
    """Value of full light, where it is known."""
    psnr: float | None = None
    """Decibels of `picture` against the clean one; None if none was given."""
    psnr_before: float | None = None
    """Decibels of what was given."""

    @classmethod
    def of(
        cls,
        given: Picture,
        values: Floats,
        deviations: Floats,
        noise_sd: float,
        method: str,
        clean: Picture | None = None,
        holes: NDArray[np.bool_] | None = None,
    ) -> Restored:
        """Clip values, and compare them with a clean picture if there is one.

        Parameters
        ----------
        given : Picture
            What was to be restored.
        values, deviations : arrays of the shape of `given.values`
            What it is without noise or holes, and the standard deviation of each of these numbers.
        noise_sd : float
            Standard deviation of the noise.
        method : str
            How it was done.
        clean : Picture or None
            The true picture.
        holes : array of bool of the same shape, or None
            Where numbers were missing.

        Returns
        -------
        Restored
        """
        clipped = given.clipped(values)
        after = before = None
        if clean is not None:
            peak = _common_peak(given, clean)
            truth = clean.spread(clean.values)
            before = psnr(given.spread(given.values), truth, peak)
            after = psnr(given.spread(clipped), truth, peak)
        return cls(
            picture=given.spread(clipped),
            deviations=given.spread(deviations),
            noise_sd=noise_sd,
            method=method,
            pixels=given.pixels(values),
            before=given.spread(given.values if holes is None else np.where(holes, np.nan, given.values)),
            peak=given.peak,
            psnr=after,
            psnr_before=before,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pixels as PNG, JPEG or TIFF.

        Parameters
        ----------
        path : path
            Its ending says which: .png, .jpg, .jpeg, .tif or .tiff.
        """
        from lowdim.views.files.pictures import write_picture

        write_picture(path, self.pixels)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write one HTML file with the picture before and after, a line to wipe between them, and the deviations.

        Parameters
        ----------
        path : path
            Ends in .html. It is replaced whole, or not at all.
        title : str or None
            The heading; None: the name of the file.
        """
        from lowdim.models.base.report import write_result
        from lowdim.recipes.pictures.overview import restored_payload

        write_result(restored_payload(self, report_title(path, title)), path)


def refuse_other_shape(given: Picture, clean: Picture | None) -> None:
    """An error, before any work, if a clean picture cannot be compared with the one that was given."""
    if clean is None:
        return
    if given.spread(given.values).shape != clean.spread(clean.values).shape:
        raise WrongShape(
            f"The clean picture is {clean.spread(clean.values).shape}, but the one to restore is "
            f"{given.spread(given.values).shape} (height, width, channels); they need one shape."
        )
    _common_peak(given, clean)


def _common_peak(given: Picture, clean: Picture) -> float:
    peak = given.peak if given.peak is not None else clean.peak
    if peak is None:
        raise BadParameter(
            "Decibels need the value of full light, which is only known of 8 and 16 bits and of numbers from 0 to 1: "
            "say it, as in peak=255."
        )
    return peak
