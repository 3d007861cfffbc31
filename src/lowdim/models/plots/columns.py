"""Figures of what columns have to do with the components of a linear model."""

from __future__ import annotations

from typing import Any

from lowdim.models import column_tables
from lowdim.models.plots.base import Plots, checked_most, together
from lowdim.results import columns
from lowdim.results.names import column_names
from lowdim.views.figures.columns import bars, circle, component_bars, joint_contributions, loadings_map
from lowdim.views.figures.scores import axis_titles, checked_axes
from lowdim.views.plots.columns import draw_bars, draw_circle, draw_loadings


class ColumnPlots(Plots):
    """Correlations, loadings, contributions and squared cosines of columns. They need no rows."""

    def correlation_circle(self, ax: Any = None, *, axes: Any = None, most: int = 30) -> Any:
        """Arrows to the correlations of columns with two components, shaded by cos², within the unit circle.

        Columns that point the same way go together; one that reaches the circle is wholly in this plane. The `most`
        best shown are drawn.
        """
        fit = self._model.fit_
        chosen = checked_axes(axes, fit.k, most=2, least=2)
        values = column_tables.correlation_values(self._model, None)
        return draw_circle(circle(fit, values, chosen, checked_most(most), self._prefix), self._axes(ax, 5.8, 4.8))

    def loadings(self, ax: Any = None, *, axes: Any = None, most: int = 40) -> Any:
        """A map of loadings, axes times the standard deviation along them: columns of the data down, components across.

        By default the first eight components. Of more columns than `most` those with the largest loadings are drawn.
        """
        fit = self._model.fit_
        wanted = tuple(range(1, min(8, fit.k) + 1)) if axes is None else axes
        found = loadings_map(fit, checked_axes(wanted, fit.k, most=fit.k), checked_most(most), self._prefix)
        width = 2.8 + 0.5 * min(len(found.titles), 12)
        return draw_loadings(found, self._axes(ax, width, 1.0 + 0.22 * len(found.names)))

    def component(self, number: int = 1, ax: Any = None, *, most: int = 20) -> Any:
        """Sorted bars: the entries of one component, largest magnitude first.

        The dashed lines are ±1/√p, where all p columns would share in it alike: those beyond make the component.
        """
        (axis,) = checked_axes(number, self._model.fit_.k, most=1)
        return self._bars(component_bars(self._model.fit_, axis, checked_most(most), self._prefix), ax)

    def column_contributions(self, ax: Any = None, *, axes: Any = 1, most: int = 20) -> Any:
        """Bars: the share of each column in the variance of a component, or of several together (as `fviz_contrib`).

        The dashed line is what all columns would have if they shared alike: 100/p %.
        """
        fit = self._model.fit_
        chosen = checked_axes(axes, fit.k, most=fit.k)
        heights = 100 * joint_contributions(columns.contributions(fit), fit.variances, chosen)
        title = f"contribution to {together(axis_titles(self._prefix, chosen, None))}, %"
        even = (100 / fit.n_columns,)
        return self._bars(bars(column_names(fit), heights, even, title, checked_most(most)), ax)

    def column_cos2(self, ax: Any = None, *, axes: Any = None, most: int = 20) -> Any:
        """Bars: of each column's variance, the share along some components, by default the first two (`fviz_cos2`)."""
        fit = self._model.fit_
        chosen = checked_axes(axes, fit.k, most=fit.k)
        heights = column_tables.cos2_values(self._model, None)[:, [axis - 1 for axis in chosen]].sum(axis=1)
        title = f"cos² in {together(axis_titles(self._prefix, chosen, None))}"
        return self._bars(bars(column_names(fit), heights, (), title, checked_most(most)), ax)

    def _bars(self, found: Any, ax: Any) -> Any:
        return draw_bars(found, self._axes(ax, 5.0, 1.0 + 0.22 * len(found.names)))
