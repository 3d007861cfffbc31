"""Figures of the rows of a linear model: biplot, outliers, contributions; and all that every such model has."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.base.output import row_labels
from lowdim.models.base.plots import Plots, checked_most, cumulative, scores, scree, together
from lowdim.models.linear.column_figures import (
    Bars,
    column_contributions,
    column_cos2,
    component,
    correlation_circle,
    draw_bars,
    joint_contributions,
    loadings,
)
from lowdim.models.linear.tables import rows as row_tables
from lowdim.models.linear.tables.outliers import judge
from lowdim.views.plots.rows import arrows, draw_biplot, draw_outliers
from lowdim.views.plots.scores import axis_titles, checked_axes, score_map

# Rows with columns, contributions of rows, rows unlike the others. These need rows without holes.


def biplot(
    self: Plots,
    X: Any,
    ax: Any = None,
    *,
    axes: Any = None,
    alpha: float = 0.5,
    convention: str = "singular",
    color: Any = None,
    names: Any = None,
    ellipses: float | None = None,
    most: int = 15,
) -> Any:
    """Rows as points and columns as arrows: a row far along an arrow has a large value there.

    Parameters
    ----------
    X : array (n, p), frame or file
    ax : matplotlib Axes, or None for a new figure
    axes : numbers of two components, counted from 1
    alpha : float from 0 to 1
        Rows are U Sᵃ, columns V S¹⁻ᵃ: 1 keeps distances between rows, 0 covariances of columns.
    convention : {"singular", "prcomp", "prcomp_pc"}
        What S is; the last two are R's `biplot(prcomp(X), scale=1 - alpha)`, without and with `pc.biplot`.
    color, names, ellipses
        As in `scores`.
    most : int
        Arrows; the longest are drawn, stretched together by a factor that stands above the axes.

    References
    ----------
    Gabriel 1971, "The biplot graphic display of matrices with application to principal component analysis".
    """
    chosen = checked_axes(axes, self._model.fit_.k, most=2, least=2)
    rows = self._rows(X)
    found = row_tables.biplot_record(self._model, rows, max(chosen), alpha, convention)
    shown = score_map(
        found.rows,
        chosen,
        axis_titles(self._prefix, chosen, found.shares),
        self._colour(X, color, len(found.rows)),
        self._names(X, names, len(found.rows)),
        ellipses,
    )
    return draw_biplot(shown, arrows(found, chosen, checked_most(most)), found.scaling, self._axes(ax, 6.0, 5.0))


def row_contributions(
    self: Plots, X: Any, ax: Any = None, *, axes: Any = 1, names: Any = True, most: int = 20, sample_weight: Any = None
) -> Any:
    """Bars: the share of each row of the fit in the variance of a component, or of several together.

    The dashed line is what all rows would have if they shared alike: 100/n %. `names` as in `scores`.
    """
    fit = self._model.fit_
    chosen = checked_axes(axes, fit.k, most=fit.k)
    shares, average = row_tables.contribution_values(self._model, self._rows(X), sample_weight)
    heights = 100 * joint_contributions(shares, fit.variances, chosen)
    even = (100 * float(average[0]),) if np.ptp(average) == 0 else ()  # weights share in different parts
    title = f"contribution to {together(axis_titles(self._prefix, chosen, None))}, %"
    listed = self._names(X, names, len(heights)) or row_labels(None, len(heights))
    return draw_bars(self, Bars(listed, heights, even, title, "row"), most, ax)


def row_cos2(self: Plots, X: Any, ax: Any = None, *, axes: Any = None, names: Any = True, most: int = 20) -> Any:
    """Bars: of each row's squared distance from the centre, the share along some components: how well they show it.

    By default the first two components. `names` as in `scores`.
    """
    chosen = checked_axes(axes, self._model.fit_.k, most=self._model.fit_.k)
    cos2 = row_tables.cos2_values(self._model, self._rows(X))[:, [axis - 1 for axis in chosen]].sum(axis=1)
    title = f"cos² in {together(axis_titles(self._prefix, chosen, None))}"
    listed = self._names(X, names, len(cos2)) or row_labels(None, len(cos2))
    return draw_bars(self, Bars(listed, cos2, (), title, "row"), most, ax)


def outliers(
    self: Plots,
    X: Any,
    ax: Any = None,
    *,
    level: float = 0.95,
    names: Any = True,
    training: bool | None = None,
    sample_weight: Any = None,
    q_law: str = "auto",
    reference: Any = None,
    reference_weight: Any = None,
) -> Any:
    """Rows by T², their distance from the centre within the components, and Q, that from the components.

    Those beyond a limit, which `level` of normal rows stay below, stand out and have their names. The settings are
    those of `table("outliers")`, which says the limits and p-values in numbers.

    References
    ----------
    Jackson 1991, "A user's guide to principal components".
    """
    rows = self._rows(X)
    settings = (level, training, sample_weight, q_law, reference, reference_weight)
    found = judge(self._model, "outliers", rows, *settings)
    listed = self._names(X, names, len(found.t2)) or row_labels(None, len(found.t2))
    return draw_outliers(found.map(level, tuple(listed)), self._axes(ax, 5.6, 4.4))


class LinearPlots(Plots):
    """What can be drawn of a linear model."""

    scree = scree
    cumulative = cumulative
    scores = scores
    biplot = biplot
    outliers = outliers
    row_contributions = row_contributions
    row_cos2 = row_cos2
    correlation_circle = correlation_circle
    loadings = loadings
    component = component
    column_contributions = column_contributions
    column_cos2 = column_cos2
