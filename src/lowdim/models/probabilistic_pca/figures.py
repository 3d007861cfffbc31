"""Figures of a probabilistic PCA: how sure the hidden values of rows are."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.matrices.preparation import dense
from lowdim.models.base.plots import Plots, figure, path
from lowdim.models.linear.row_figures import HoledPlots
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.plots.canvas import faded, inks, note, plain, polygons
from lowdim.views.plots.scores import axis_titles, check_axes


@figure
def posterior(self: Plots, X: Any, ax: Any = None, *, axes: Any = None, level: float = 0.5) -> Any:
    """Rows in the plane of two components, each with the ellipse that holds it; larger ones for rows with holes.

    Parameters
    ----------
    axes : numbers of two components, counted from 1; None: the first two
    level : float
        Probability with which an ellipse holds the hidden values of its row, if the model is right.

    References
    ----------
    Tipping & Bishop 1999, "Probabilistic principal component analysis", figure 2.
    """
    model = self._model
    if not 0 < level < 1:
        raise BadParameter.of("plot.posterior", "level", level, "a probability between 0 and 1, such as 0.5")
    if model.fit_.k < 2:
        raise BadParameter("plot.posterior draws a plane, but this model has one component: fit two or more.")
    first, second = check_axes(axes, model.fit_.k, most=2, least=2)
    rows = self._rows(X)
    means, covariances = model.posterior(rows)
    source: Source = model._opened(rows, reset=False).unweighted()
    counts = np.concatenate([np.isnan(dense(block.rows)).sum(axis=1) for block in source.blocks()])
    two = [first - 1, second - 1]
    centers = np.asarray(means, dtype=np.float64)[:, two]
    outlines = posterior_outlines(centers, np.asarray(covariances)[:, two][:, :, two], level)
    ax = self._axes(ax, 5.6, 4.6)
    ink, whole = inks(ax), counts == 0
    ax.axhline(0, color=ink.faint, linewidth=0.5, zorder=0)
    ax.axvline(0, color=ink.faint, linewidth=0.5, zorder=0)
    groups = [(whole, ink.first, "rows without holes", 2), (~whole, ink.second, "rows with holes", 3)]
    for some, colour, what, order in groups:
        if not some.any():
            continue
        look = {"facecolors": faded(colour, 0.1), "edgecolors": faded(colour, 0.6), "linewidths": 0.7}
        ax.add_collection(polygons(outlines[some], **look, zorder=order))
        ax.scatter(*centers[some].T, s=9, color=colour, zorder=order + 2, label=f"{int(some.sum()):,} {what}")
    ax.update_datalim(outlines.reshape(-1, 2))
    ax.autoscale_view()
    across, up = axis_titles(self._prefix, (first, second), None)
    ax.set(xlabel=f"{across}, expected hidden value", ylabel=up)
    ax.set_aspect("equal", adjustable="datalim")
    note(ax, f"ellipses hold a row with probability {level:.0%}".replace("%", " %"))
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


def posterior_outlines(centers: Floats, covariances: Floats, level: float) -> Floats:
    """(n, m, 2) ellipses that hold hidden values with means (n, 2) and covariances (n, 2, 2) with this probability.

    A Gaussian of the plane lies within the radius √(−2 log(1 − level)) with that probability.
    """
    angle = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
    circle = np.sqrt(-2 * np.log1p(-level)) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    values, vectors = np.linalg.eigh(covariances)
    roots = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1)
    return np.asarray(centers[:, None] + circle @ roots)


class LatentPlots(HoledPlots):
    """What can be drawn of a probabilistic PCA."""

    posterior = posterior
    path = path
