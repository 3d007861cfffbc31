"""The figure of rows that every model with scores has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.plots.base import Plots
from lowdim.views.figures.scores import axis_titles, checked_axes, score_map
from lowdim.views.plots.canvas import solid_axes
from lowdim.views.plots.scores import draw_scores

Floats = NDArray[np.float64]


class ScorePlots(Plots):
    """Of models that turn rows into scores."""

    _equal_units = True
    """Whether distances between rows of scores mean something, so that a unit is as long on each axis."""

    def scores(
        self,
        X: Any,
        ax: Any = None,
        *,
        axes: Any = None,
        color: Any = None,
        names: Any = None,
        ellipses: float | None = None,
    ) -> Any:
        """Rows along one, two or three components; what `transform` takes, so also rows with holes of models of these.

        Parameters
        ----------
        X : array (n, p), frame or file
            A frame or file may have more columns than the model.
        ax : matplotlib Axes, or None for a new figure
            For three components, flat axes of a figure's grid are replaced by those that are returned.
        axes : numbers of one, two or three components, counted from 1; None: the first two
        color : name of a column of X, or a value for each row
            Texts, flags and whole numbers with few different values are groups, with a legend; other numbers have a
            colour bar; an array (n, 3) from 0 to 1 holds colours.
        names : name of a column of X, a name for each row, or True for the index of a pandas frame
            As many as find room, outermost rows first.
        ellipses : float or None
            Of each group, the ellipse that holds this share of it if it is normal, such as 0.95.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import lowdim
        >>> foods = lowdim.datasets.uk_foods().to_pandas()
        >>> model = lowdim.PCA(2).fit(foods)
        >>> ax = model.plot.scores(foods, names=True)
        >>> ax.get_xlabel()
        'PC1 (67.4 %)'
        """
        found = np.asarray(self._model._scores(self._rows(X)), dtype=np.float64)
        chosen = checked_axes(axes, found.shape[1])
        shown = score_map(
            found,
            chosen,
            axis_titles(self._prefix, chosen, self._shares),
            self._colour(X, color, len(found)),
            self._names(X, names, len(found)),
            ellipses,
            self._equal_units,
        )
        flat = len(chosen) < 3
        size = (6.0, 1.8 if color is None else 3.0) if len(chosen) == 1 else (5.6, 4.4)
        return draw_scores(shown, self._axes(ax, *size) if flat else solid_axes(*size, ax=ax))

    @property
    def _shares(self) -> Floats | None:
        """(k,) of the variance, where components have such."""
        found: Floats | None = getattr(self._model.fit_, "shares", None)
        return found
