"""The page of a picture before and after: noise taken off, or holes filled."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lowdim.types import Floats
from lowdim.views.overview import Number
from lowdim.views.report import encode
from lowdim.views.report.encode import data_uri, grey_levels
from lowdim.views.report.payload import MadeBy, Payload, Proof, Section

# A picture before and after: noise taken off, or holes filled.


def pictures_section(
    before: Floats,
    after: Floats,
    deviations: Floats,
    peak: float | None,
    decibels: tuple[float | None, float | None],
    clean: Floats | None = None,
) -> Section:
    """Pictures (height, width) or (height, width, 3) on one scale, and how sure each pixel is."""
    ends = _ends(after, peak)
    doubt = deviations if deviations.ndim == 2 else np.sqrt((deviations**2).mean(axis=2))
    return Section(
        "pictures",
        "Before and after",
        {
            "before": data_uri(grey_levels(before, ends)),
            "after": data_uri(grey_levels(after, ends)),
            "clean": None if clean is None else data_uri(grey_levels(clean, ends)),
            "doubt": data_uri(grey_levels(doubt, (0.0, _high(doubt)))),
            "doubtMost": encode.number(_high(doubt)),
            "height": int(after.shape[0]),
            "width": int(after.shape[1]),
            "psnrBefore": encode.number(decibels[0]),
            "psnr": encode.number(decibels[1]),
            "filled": int(np.isnan(before).any(axis=2).sum() if before.ndim == 3 else np.isnan(before).sum()),
        },
    )


def _ends(values: Floats, peak: float | None) -> tuple[float, float]:
    return (0.0, peak) if peak is not None else (float(values.min()), float(values.max()))


def _high(doubt: Floats) -> float:
    """What only a hundredth of the pixels exceed, so that a few do not leave all others black."""
    return float(np.quantile(doubt, 0.99)) or float(doubt.max()) or 1.0


# The page of a picture without its noise or its holes.

MEANING = (
    "Each pixel comes with a standard deviation, shown as a picture of its own: bright where the model is unsure. It "
    "takes the model of each patch for right, so look hardest at edges and at large holes."
)


class RestoredPicture(Protocol):
    """What `denoise` and `inpaint` give back."""

    @property
    def picture(self) -> Floats:
        """(height, width) or (height, width, 3)"""

    @property
    def before(self) -> Floats:
        """The same before; NaN are holes."""

    @property
    def deviations(self) -> Floats:
        """Of each number of `picture`."""

    @property
    def peak(self) -> float | None:
        """Value of full light."""

    @property
    def method(self) -> str:
        """How it was done."""

    @property
    def noise_sd(self) -> float:
        """Of the noise."""

    @property
    def psnr(self) -> float | None:
        """Decibels after …"""

    @property
    def psnr_before(self) -> float | None:
        """… and before."""


def restored_payload(found: RestoredPicture, title: str, python: str = "", cli: str = "") -> Payload:
    """All that a page shows of a picture that was restored."""
    before, after, method = found.before, found.picture, found.method
    decibels = (found.psnr_before, found.psnr)
    filled = int((np.isnan(before) if before.ndim == 2 else np.isnan(before).any(axis=2)).sum())
    pixels = after.shape[0] * after.shape[1]
    what = f"{filled:,} of {pixels:,} pixels were missing and have been filled" if filled else "noise was taken off"
    gain = () if decibels[1] is None else (Number("PSNR", f"{decibels[1]:.2f} dB", _before(decibels[0])),)
    return Payload(
        title=title,
        model="Restored picture",
        lead=f"{what[0].upper()}{what[1:]}.",
        axes=(),
        facts=(
            Number("picture", f"{after.shape[1]} × {after.shape[0]}", "grey" if after.ndim == 2 else "colour"),
            Number("method", method),
            Number("noise", f"{found.noise_sd:.3g}", "standard deviation"),
            *gain,
        ),
        proof=Proof("with deviations", True, f"Method {method!r}, patch by patch.", MEANING),
        made=MadeBy(python, cli, (("method", method),)),
        sections=(pictures_section(before, after, found.deviations, found.peak, decibels),),
    )


def _before(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} dB before"
