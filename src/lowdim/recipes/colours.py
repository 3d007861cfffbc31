"""Colours in channels that are about uncorrelated: brightness first, then red against blue, then both against green.

The three are an orthonormal basis, so that white noise stays white and keeps its variance (Lebrun, Buades & Morel
2013, "A nonlocal Bayesian image denoising algorithm", section 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
