"""Figures of a probabilistic PCA: how sure the hidden values of rows are."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.matrices.preparation import dense
from lowdim.models.base.picture_plots import gallery, holes, reconstruction, traversal
from lowdim.models.base.plots import Plots, path
from lowdim.models.linear.column_figures import PICTURES, compression
from lowdim.models.linear.row_figures import LinearPlots
from lowdim.sources.source import Source
from lowdim.views.plots.missing import draw_posterior_plane, posterior_plane
from lowdim.views.plots.scores import axis_titles, checked_axes


def posterior(self: Plots, X: Any, ax: Any = None, *, axes: Any = None, level: float = 0.5) -> Any:
    """Rows in the plane of two components, each with the ellipse that holds it; larger ones for rows with holes.

    Parameters
    ----------
    X : array (n, p), frame or file
    ax : matplotlib Axes, or None for a new figure
    axes : numbers of two components, counted from 1; None: the first two
    level : float
        Probability with which an ellipse holds the hidden values of its row, if the model is right.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Tipping & Bishop 1999, "Probabilistic principal component analysis", figure 2.
    """
    model = self._model
    if not 0 < level < 1:
        raise BadParameter.of("plot.posterior", "level", level, "a probability between 0 and 1, such as 0.5")
    if model.fit_.k < 2:
        raise BadParameter("plot.posterior draws a plane, but this model has one component: fit two or more.")
    first, second = checked_axes(axes, model.fit_.k, most=2, least=2)
    rows = self._rows(X)
    means, covariances = model.posterior(rows)
    source: Source = model._opened(rows, reset=False).unweighted()
    counts = np.concatenate([np.isnan(dense(block.rows)).sum(axis=1) for block in source.blocks()])
    titles = axis_titles(self._prefix, (first, second), None)
    found = posterior_plane(
        np.asarray(means, dtype=np.float64),
        np.asarray(covariances),
        counts,
        source.n_columns,
        (titles[0], titles[1]),
        (first - 1, second - 1),
        level,
    )
    return draw_posterior_plane(found, self._axes(ax, 5.6, 4.6))


class LatentPlots(LinearPlots):
    """What can be drawn of a probabilistic PCA."""

    compression = compression
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    holes = holes
    posterior = posterior
    path = path
    _pictures = PICTURES
