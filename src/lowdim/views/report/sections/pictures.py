"""A picture before and after: noise taken off, or holes filled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.views.report import encode
from lowdim.views.report.payload import Section
from lowdim.views.report.png import data_uri, grey_levels

Floats = NDArray[np.float64]


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
