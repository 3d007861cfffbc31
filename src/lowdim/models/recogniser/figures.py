"""Figures of a recogniser: how far people of a gallery are from themselves, and from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base.picture_plots import Basis, GalleryPlots
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, plain
from lowdim.views.plots.scores import axis_titles

# How far people of a gallery are from themselves, and from each other.


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


def draw_gallery_distances(found: GalleryDistances, ax: Any) -> Any:
    """Distances to the nearest row of the gallery: of its own people above the line, of strangers below it."""
    ink = inks(ax)
    edges = bins(found)
    own = [found.right, found.wrong]
    names = [f"{len(own[0]):,} rows, nearest to their own person", f"{len(own[1]):,} rows, nearest to another"]
    colours = [ink.first, ink.groups[3]]
    ax.hist(own, bins=edges, stacked=True, color=colours, label=names)
    weights = -1.0 + 0.0 * found.strangers
    what = f"{len(found.strangers):,} rows, their own person left out"
    ax.hist(found.strangers, bins=edges, weights=weights, color=ink.faint, label=what)
    ax.axhline(0, color=ink.text, linewidth=0.8)
    if found.limit is not None:
        ax.axvline(found.limit, color=ink.second, linewidth=1.4, linestyle="--", label=f"limit {found.limit:.3g}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    ax.set(xlabel=f"distance to the nearest of the gallery ({found.metric})", ylabel="strangers  |  own people")
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


# Figures of a gallery of people.


class RecogniserPlots(GalleryPlots):
    """What can be drawn of a recogniser: the mean and the axes of its space, and how far people are apart."""

    def distances(self, ax: Any = None) -> Any:
        """Rows of the gallery by their distance to the nearest other: of the same person, and of strangers."""
        return draw_gallery_distances(gallery_distances(self._model.fit_), self._axes(ax))

    def _basis(self) -> Basis:
        space = self._model.fit_.space
        return Basis(space.mean, space.axes(whiten=False), axis_titles("PC", range(1, space.k + 1), space.shares))
