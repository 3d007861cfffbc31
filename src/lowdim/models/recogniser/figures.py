"""Figures of a recogniser: how far people of a gallery are from themselves, and from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base.picture_plots import Basis, Pictures, gallery
from lowdim.models.base.plots import Plots, figure
from lowdim.views.plots.canvas import inks, plain
from lowdim.views.plots.scores import axis_titles

MOST_BINS = 40


@figure
def distances(self: Plots, ax: Any = None) -> Any:
    """Rows of the gallery by their distance to the nearest other: of the same person, and of strangers."""
    fit = self._model.fit_
    trial = fit.trial
    if trial is None:
        raise BadParameter(
            "The gallery was not tried on itself, so no distances are known: fit with reject=0.05, which chooses the "
            "limit by such a trial."
        )
    own = [trial.nearest[trial.right], trial.nearest[~trial.right]]
    every = np.concatenate([*own, trial.strangers])
    edges = np.histogram_bin_edges(every[np.isfinite(every)], bins=min(MOST_BINS, 5 + len(every) // 10))
    ax = self._axes(ax)
    ink = inks(ax)
    names = [f"{len(own[0]):,} rows, nearest to their own person", f"{len(own[1]):,} rows, nearest to another"]
    ax.hist(own, bins=edges, stacked=True, color=[ink.first, ink.groups[3]], label=names)
    below = -1.0 + 0.0 * trial.strangers
    what = f"{len(trial.strangers):,} rows, their own person left out"
    ax.hist(trial.strangers, bins=edges, weights=below, color=ink.faint, label=what)
    ax.axhline(0, color=ink.text, linewidth=0.8)
    limit = fit.max_distance
    if limit is not None:
        ax.axvline(limit, color=ink.second, linewidth=1.4, linestyle="--", label=f"limit {limit:.3g}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    ax.set(xlabel=f"distance to the nearest of the gallery ({fit.metric})", ylabel="strangers  |  own people")
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


def _basis(model: Any) -> Basis:
    space = model.fit_.space
    return Basis(space.mean, space.axes(whiten=False), axis_titles("PC", range(1, space.k + 1), space.shares))


class RecogniserPlots(Plots):
    """What can be drawn of a recogniser: the mean and the axes of its space, and how far people are apart."""

    distances = distances
    gallery = gallery
    _pictures = Pictures(_basis)
