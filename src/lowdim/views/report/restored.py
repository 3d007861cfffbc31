"""The page of a picture without its noise or its holes."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.views.report.payload import Fact, MadeBy, Payload, Proof
from lowdim.views.report.sections.pictures import pictures_section

Floats = NDArray[np.float64]

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
    gain = () if decibels[1] is None else (Fact("PSNR", f"{decibels[1]:.2f} dB", _before(decibels[0])),)
    return Payload(
        title=title,
        model="Restored picture",
        lead=f"{what[0].upper()}{what[1:]}.",
        axes=(),
        facts=(
            Fact("picture", f"{after.shape[1]} × {after.shape[0]}", "grey" if after.ndim == 2 else "colour"),
            Fact("method", method),
            Fact("noise", f"{found.noise_sd:.3g}", "standard deviation"),
            *gain,
        ),
        proof=Proof("with deviations", True, f"Method {method!r}, patch by patch.", MEANING),
        made=MadeBy(python, cli, (("method", method),)),
        sections=(pictures_section(before, after, found.deviations, found.peak, decibels),),
    )


def _before(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} dB before"
