"""A first, smooth value for every missing pixel: the mean of the observed ones near it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

Floats = NDArray[np.float64]

NARROWEST, WIDER = 0.7, 1.4
"""Width of the first Gaussian in pixels, and by how much each next one is wider."""

ENOUGH = 0.05
"""Share of a Gaussian that must lie on observed pixels for their mean to be taken."""


def local_fill(values: Floats) -> Floats:
    """Values (height, width) or (height, width, channels) with each NaN replaced by a mean of the same channel.

    Normalised convolution (Knutsson & Westin 1993): observed values and their indicator are smoothed alike and
    divided. Each pixel takes the narrowest Gaussian that sees enough, so that dense places stay sharp and large holes
    are filled from far away. A channel without any value takes the mean of the others.
    """
    if values.ndim == 2:
        return _filled(values, float(np.nanmean(values)))
    overall = float(np.nanmean(values))
    return np.stack([_filled(values[:, :, c], overall) for c in range(values.shape[2])], axis=2)


def _filled(channel: Floats, overall: float) -> Floats:
    seen = np.isfinite(channel)
    if not seen.any():
        return np.full_like(channel, overall)
    shown, indicator = np.where(seen, channel, 0.0), seen.astype(float)
    filled, todo, width = channel.copy(), ~seen, NARROWEST
    while todo.any():
        share = gaussian_filter(indicator, width, mode="nearest")
        last = width > max(channel.shape)
        here = todo & (share > (0.0 if last else ENOUGH))
        filled[here] = gaussian_filter(shown, width, mode="nearest")[here] / share[here]
        todo &= ~here
        if last:
            filled[todo] = channel[seen].mean()
            break
        width *= WIDER
    return filled
