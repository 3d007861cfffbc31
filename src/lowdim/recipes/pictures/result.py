"""What `denoise` and `inpaint` give back: the picture, how sure each pixel is, and how well it was done."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, WrongShape
from lowdim.models.base.report import report_title
from lowdim.recipes.pictures.picture import Picture, psnr
from lowdim.types import Floats


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
        """Clip values, and compare them with a clean picture if there is one."""
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
        """Write the pixels as PNG, JPEG or TIFF, by the ending of the path."""
        from lowdim.views.files.pictures import write_picture

        write_picture(path, self.pixels)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write one HTML file with the picture before and after, a line to wipe between them, and the deviations."""
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
