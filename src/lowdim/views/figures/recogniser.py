"""How far people of a gallery are from themselves, and from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.results.recogniser import RecogniserFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GalleryDistances:
    """Rows of a gallery, each compared with the others as if it were new."""

    right: Floats
    """Distances to the nearest row, where it is of the same person …"""
    wrong: Floats
    """… and where it is of another."""
    strangers: Floats
    """(n,) distances to the nearest of other people."""
    limit: float | None
    """Beyond, rows are turned away."""
    metric: str


def gallery_distances(fit: RecogniserFit) -> GalleryDistances:
    """What the trial of the gallery found."""
    trial = fit.trial
    if trial is None:
        raise BadParameter(
            "The gallery was not tried on itself, so no distances are known: fit with reject=0.05, which chooses the "
            "limit by such a trial."
        )
    right, nearest = trial.right, trial.nearest
    return GalleryDistances(nearest[right], nearest[~right], trial.strangers, fit.max_distance, fit.metric)


def bins(found: GalleryDistances, most: int = 40) -> Floats:
    """Edges of a histogram that all three share."""
    every = np.concatenate([found.right, found.wrong, found.strangers])
    return np.histogram_bin_edges(every[np.isfinite(every)], bins=min(most, 5 + len(every) // 10))
