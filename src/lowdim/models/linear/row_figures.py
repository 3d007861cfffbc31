"""Figures of the rows of a linear model: biplot, outliers, contributions; and all that every such model has."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.base.output import row_labels
from lowdim.models.base.picture_plots import gallery, holes, reconstruction, traversal
from lowdim.models.base.plots import (
    MOST_NAMED_POINTS,
    Plots,
    check_most,
    cumulative,
    figure,
    join_titles,
    scores,
    scree,
)
from lowdim.models.linear import column_figures as columns
from lowdim.models.linear.column_figures import (
    PICTURES,
    column_contributions,
    column_cos2,
    component,
    compression,
    correlation_circle,
    loadings,
)
from lowdim.models.linear.tables import rows as row_tables
from lowdim.models.linear.tables.outliers import judge
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.points import draw_points, put_labels
from lowdim.views.plots.rows import Biplot
from lowdim.views.plots.scores import axis_titles, check_axes, draw_rows, score_map

# Rows with columns, contributions of rows, rows unlike the others. These need rows without holes.


@figure
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
    axes : numbers of two components, counted from 1; None: the first two
    alpha : float from 0 to 1
        Rows are U Sᵃ, columns V S¹⁻ᵃ: 1 keeps distances between rows, 0 covariances of columns.
    convention : {"singular", "prcomp", "prcomp_pc"}
        What S is; the last two are R's `biplot(prcomp(X), scale=1 - alpha)`, without and with `pc.biplot`.
    most : int
        Arrows, at most: the longest are drawn, stretched together by a factor that stands above the axes.

    References
    ----------
    Gabriel 1971, "The biplot graphic display of matrices with application to principal component analysis".
    """
    chosen = check_axes(axes, self._model.fit_.k, most=2, least=2)
    rows = self._rows(X)
    found = row_tables.biplot_record(self._model, rows, max(chosen), alpha, convention)
    shown = score_map(
        found.rows,
        chosen,
        axis_titles(self._prefix, chosen, found.shares),
        self._colour(X, color, len(found.rows)),
        self._names(X, names, len(found.rows), MOST_NAMED_POINTS),
        ellipses,
    )
    plane = [axis - 1 for axis in chosen]
    order, stretch = _longest_first(found, plane)
    drawn = order[: check_most(most)]
    ends = found.columns[:, plane][drawn] * stretch
    ax = self._axes(ax, 6.0, 5.0)
    draw_rows(shown, ax)
    ink = inks(ax)
    ink_of_arrows = ink.second if shown.colour is None else ink.text  # groups have the colours
    look = {"arrowstyle": "-|>", "color": ink_of_arrows, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    for end in ends:
        ax.annotate("", end, (0, 0), zorder=4, arrowprops=look)
    if len(ends):
        ax.update_datalim(ends)
        ax.autoscale_view()
    listed = shown.names or ()
    # names keep off the shafts of the arrows too
    shafts = (ends[:, None, :] * np.linspace(0.2, 1.0, 7)[:, None]).reshape(-1, 2)
    put_labels(  # columns get their names before rows do
        ax,
        np.concatenate([ends, shown.points[: len(listed)]]),
        [*(found.names[j] for j in drawn), *listed],
        colors=[*[ink_of_arrows] * len(ends), *[ink.text] * len(listed)],
        others=np.concatenate([shafts, shown.points[len(listed) :]]),
    )
    short = f"; {len(order) - len(drawn):,} shorter ones left out" if len(order) > len(drawn) else ""
    told = ax.get_title(loc="left")
    note(ax, f"{found.scaling}\narrows × {stretch:g}{short}{f'; {told}' if told else ''}")
    return ax


def _longest_first(found: Biplot, plane: list[int]) -> tuple[list[int], float]:
    """Columns by their lengths in the plane of two axes, and by how much arrows are stretched to be seen.

    They reach nearly as far as the rows do, by a factor of two digits, as the figure says it.
    """
    lengths = np.linalg.norm(found.columns[:, plane], axis=1)
    order = [int(j) for j in np.argsort(-lengths, kind="stable") if lengths[j] > 0]
    reach = float(np.linalg.norm(found.rows[:, plane], axis=1).max(initial=0.0))
    longest = float(lengths.max(initial=0.0))
    return order, float(f"{0.9 * reach / longest:.2g}") if longest > 0 and reach > 0 else 1.0


@figure
def row_contributions(
    self: Plots, X: Any, ax: Any = None, *, axes: Any = 1, names: Any = True, most: int = 20, sample_weight: Any = None
) -> Any:
    """Bars: the share of each row of the fit in the variance of a component, or of several together.

    The dashed line is what all rows would have if they shared alike: 100/n %; where weights differ, there is none.

    Parameters
    ----------
    X : array (n, p), frame or file
        The rows of the fit. A frame or file may have more columns than the model.
    axes : numbers of components, counted from 1; None: the first two
    names : name of a column of X, a name for each row, True, False or None
        Beside the bars. True: the index of a pandas frame; without that, and with None, places from 0.
    most : int
        Rows, at most: those with the largest shares.
    """
    fit = self._model.fit_
    chosen = check_axes(axes, fit.k, most=fit.k)
    shares, average = row_tables.contribution_values(self._model, self._rows(X), sample_weight)
    heights = 100 * columns.joint_contributions(shares, fit.variances, chosen)
    even = (100 * float(average[0]),) if np.ptp(average) == 0 else ()  # weights share in different parts
    title = f"contribution to {join_titles(axis_titles(self._prefix, chosen, None))}, %"
    listed = self._names(X, names, len(heights)) or row_labels(None, len(heights))
    return columns.draw_bars(self, columns.Bars(listed, heights, even, title, "row"), most, ax)


@figure
def row_cos2(self: Plots, X: Any, ax: Any = None, *, axes: Any = None, names: Any = True, most: int = 20) -> Any:
    """Bars: of each row's squared distance from the centre, the share along some components: how well they show it.

    Parameters
    ----------
    axes : numbers of components, counted from 1; None: the first two
    names : name of a column of X, a name for each row, True, False or None
        Beside the bars. True: the index of a pandas frame; without that, and with None, places from 0.
    most : int
        Rows, at most: those with the largest shares.
    """
    chosen = check_axes(axes, self._model.fit_.k, most=self._model.fit_.k)
    cos2 = row_tables.cos2_values(self._model, self._rows(X))[:, [axis - 1 for axis in chosen]].sum(axis=1)
    title = f"cos² in {join_titles(axis_titles(self._prefix, chosen, None))}"
    listed = self._names(X, names, len(cos2)) or row_labels(None, len(cos2))
    return columns.draw_bars(self, columns.Bars(listed, cos2, (), title, "row"), most, ax)


@figure
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

    Those beyond a limit stand out and have their names. `table("outliers")` has the limits and p-values in numbers,
    with the same settings.

    Parameters
    ----------
    level : float between 0 and 1
        Share of normal rows that stay below each limit.
    names : name of a column of X, a name for each row, True, False or None
        Of rows beyond a limit, as many as find room. True: the index of a pandas frame; without that, and with None,
        places from 0.
    training : bool or None
        Whether X are the rows of the fit, whose limits are other than those of new rows; None finds out.
    q_law : {"auto", "box", "jackson", "rows"}
        Which law the limit of Q comes from: that of rows of the fit, or of new rows; Box's of the variances left out,
        or Jackson and Mudholkar's; or Box's of Q of the rows of the fit (of new rows it is as "auto"). The last three
        take the axes for known.
    reference : array (m, p), frame, file or None
        The rows of the fit, which limits of new rows come from; None: from its variances, if these tell enough.
    reference_weight : array (m,) or None
        How often each of these counts: the weights of the fit.

    References
    ----------
    Jackson 1991, "A user's guide to principal components".
    """
    rows = self._rows(X)
    settings = (level, training, sample_weight, q_law, reference, reference_weight)
    found = judge(self._model, "outliers", rows, *settings)
    listed = self._names(X, names, len(found.t2)) or row_labels(None, len(found.t2))
    shown, ax = found.map(level), self._axes(ax, 5.6, 4.4)
    ink, points = inks(ax), np.column_stack([shown.t2, shown.q])
    beyond = shown.beyond
    usual = np.setdiff1d(np.arange(len(points)), beyond)
    draw_points(ax, points[usual], None)
    if len(beyond):
        ax.scatter(*points[beyond].T, color=ink.second, s=20, linewidths=0, zorder=4)
    ax.axvline(shown.t2_limit, color=ink.faint, linewidth=1, linestyle="--", zorder=2)
    if shown.q_limit > 0:
        ax.axhline(shown.q_limit, color=ink.faint, linewidth=1, linestyle="--", zorder=2)
    sides = [("x", "T², distance within the components", shown.t2, shown.t2_limit)]
    sides += [("y", "Q, squared distance from them", shown.q, shown.q_limit)]
    for side, title, values, limit in sides:
        top = max(float(values.max(initial=0.0)), limit)
        rooted = limit > 0 and top > MOST_LINEAR * limit
        if rooted:
            getattr(ax, f"set_{side}scale")("function", functions=(_root, np.square))
        getattr(ax, f"set_{side}lim")(0, 1.12 * top if top > 0 else 1.0)
        getattr(ax, f"set_{side}label")(f"{title}{' (root scale)' if rooted else ''}")
    rest = f"dashed: limits at {100 * level:g} %; {len(beyond):,} of {len(points):,} rows are beyond one"
    none = np.isnan([shown.t2_limit, shown.q_limit]).all()
    note(ax, "no limits: they need the rows of the fit (reference=)" if none else rest)
    put_labels(ax, points[beyond], [listed[i] for i in beyond], others=points[usual])
    return plain(ax)


MOST_LINEAR = 6.0
"""Times a limit up to which axes are linear; beyond, they are spaced by roots, so that most rows are seen too."""


def _root(value: Any) -> Any:
    return np.sqrt(np.maximum(value, 0.0))


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


class PCAPlots(LinearPlots):
    """What can be drawn of a PCA, whose rows may be pictures."""

    compression = compression
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    _pictures = PICTURES


class HoledPlots(PCAPlots):
    """What can be drawn of one whose rows may have missing values too."""

    holes = holes
