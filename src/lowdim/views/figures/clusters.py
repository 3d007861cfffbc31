"""Groups of rows that a codebook or a mixture has found: how large, about where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.codebook import CodebookFit
from lowdim.results.mixture import MixtureFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clusters:
    """c groups, largest first."""

    places: NDArray[np.intp]
    """(c,) which of the model's each is, from 0."""
    shares: Floats
    """(c,) of the rows."""
    centres: Floats
    """(c, p) in the data's units."""
    offsets: Floats
    """(c, p) of the centres from their weighted mean, in standard deviations between groups; 0 where all agree."""
    noise: Floats | None
    """(c,) standard deviation of the noise of each, in the scaled coordinates; None: the model has none."""


def clusters(fit: CodebookFit | MixtureFit) -> Clusters:
    """The groups of a model."""
    if isinstance(fit, CodebookFit):
        shares, centres, noise = fit.usage, fit.codebook, None
    else:
        shares, centres, noise = fit.weights, fit.center + fit.scale * fit.means, np.sqrt(fit.noise)
    order = np.argsort(-shares, kind="stable")
    mean = shares @ centres
    spread = np.sqrt(shares @ (centres - mean) ** 2)
    offsets = np.divide(centres - mean, spread, out=np.zeros_like(centres), where=spread > 0)
    return Clusters(order, shares[order], centres[order], offsets[order], None if noise is None else noise[order])
