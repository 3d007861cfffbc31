"""Figures of tables with holes: where they are, what fills them, and how sure the scores of such rows are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.matrices.preparation import dense
from lowdim.models.latent_rows import RowModel, filled_rows_with_deviations
from lowdim.models.plots.base import Plots
from lowdim.sources.source import Source
from lowdim.views.figures.holes import ORDERS, hole_map, holes, posterior_plane
from lowdim.views.figures.scores import axis_titles, checked_axes
from lowdim.views.plots.holes import draw_hole_map, draw_posterior_plane

Floats = NDArray[np.float64]


class HolePlots(Plots):
    """Of models that take rows with holes."""

    def holes(self, X: Any, ax: Any = None, *, order: str = "given") -> Any:
        """A map of rows × columns: what was observed, what is missing, and how sure the model is of what fills it.

        Parameters
        ----------
        X : array (n, p), frame or file
            Rows with holes. Of very many, each line of the map stands for several.
        ax : matplotlib Axes, or None for a new figure
        order : {"given", "pattern"}
            "pattern" puts rows and columns with the same holes together, those with the fewest first.

        Returns
        -------
        matplotlib Axes
            Colours are standard deviations of what fills a hole over that of its column: near 0 the other columns tell
            it, near 1 they tell nothing. NMF has no deviations, and holes of one colour.
        """
        if order not in ORDERS:
            raise BadParameter.of("plot.holes", "order", order, " or ".join(map(repr, ORDERS)))
        source: Source = self._model._opened(self._rows(X), reset=False).unweighted()
        rows = np.concatenate([np.asarray(dense(block.rows), dtype=np.float64) for block in source.blocks()])
        known = holes(rows, deviations=self._deviations(source))
        found = hole_map(known, source.columns or self._model.fit_.columns, order)
        p = len(found.columns)
        size = (min(3.2 + 0.24 * p, 9.0), min(2.4 + 0.02 * len(found.rows), 5.5))
        return draw_hole_map(found, self._axes(ax, *size))

    def _deviations(self, source: Source) -> Floats | None:
        """(n, p) of what fills the holes."""
        work = partial(filled_rows_with_deviations, model=RowModel.of(self._model.fit_))
        p = source.n_columns
        return np.asarray(source.map_rows(work, 2 * p, np.float64))[:, p:]


class PosteriorPlots(Plots):
    """Of models that say how sure hidden values are."""

    def posterior(self, X: Any, ax: Any = None, *, axes: Any = None, level: float = 0.5) -> Any:
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
