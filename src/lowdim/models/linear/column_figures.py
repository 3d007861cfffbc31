"""Figures of the columns of a linear model: circle, map, bars, and the error of compression; and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.models.base.picture_plots import Basis, Pictures
from lowdim.models.base.plots import Plots, check_most, figure, join_titles
from lowdim.models.linear.tables import columns as column_tables
from lowdim.sources.arrays import ArraySource
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, literal, note, plain, readable_on, shades
from lowdim.views.plots.points import put_labels
from lowdim.views.plots.representations import Rates, draw_rates
from lowdim.views.plots.scores import axis_titles, check_axes
from lowdim.views.text.lines import shortened
from lowdim.words import column_names

LONGEST = 30
"""Letters of a name beside a bar."""

NUMBERED = 150
"""Cells up to which a map of loadings has its numbers in it."""

# Columns and components: the circle of correlations, the map of loadings.


@figure
def correlation_circle(self: Plots, ax: Any = None, *, axes: Any = None, most: int = 30) -> Any:
    """Arrows to the correlations of columns with two components, shaded by cos², within the unit circle.

    Columns that point the same way go together; one that reaches the circle is wholly in this plane.

    Parameters
    ----------
    axes : numbers of two components, counted from 1; None: the first two
    most : int
        Columns, at most: those that the plane shows best.
    """
    fit = self._model.fit_
    chosen = check_axes(axes, fit.k, most=2, least=2)
    every = column_tables.correlation_values(self._model, None)[:, [axis - 1 for axis in chosen]]
    best = np.argsort(-(every**2).sum(axis=1), kind="stable")
    best = best[(every[best] ** 2).sum(axis=1) > 0]
    ends, listed = every[best[: check_most(most)]], column_names(fit)
    ax = self._axes(ax, 5.8, 4.8)
    ink = inks(ax)
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=ink.faint, linewidth=1)
    ax.axhline(0, color=ink.faint, linewidth=0.6, zorder=1)
    ax.axvline(0, color=ink.faint, linewidth=0.6, zorder=1)
    colours, cos2 = shades(ink), (ends**2).sum(axis=1)
    dots = ax.scatter(*ends.T, c=cos2, cmap=colours, vmin=0, vmax=1, s=0)
    for end, color in zip(ends, colours(cos2), strict=True):
        look = {"arrowstyle": "-|>", "color": color, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", end, (0, 0), arrowprops=look, zorder=3)
    shafts = (ends[:, None, :] * np.linspace(0.2, 1.0, 7)[:, None]).reshape(-1, 2)
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    ax.set_xticks([-1, -0.5, 0, 0.5, 1])
    ax.set_yticks([-1, -0.5, 0, 0.5, 1])
    put_labels(ax, ends, [listed[j] for j in best[: len(ends)]], others=shafts)
    bar = ax.figure.colorbar(dots, ax=ax, pad=0.02, aspect=30, shrink=0.85)
    bar.set_label("share of the column's variance in this plane (cos²)")
    bar.outline.set_visible(False)
    across, up = map(literal, axis_titles(self._prefix, chosen, fit.shares))
    ax.set(xlabel=f"correlation with {across}", ylabel=f"correlation with {up}")
    if len(best) > len(ends):
        note(ax, f"{len(best) - len(ends):,} columns that this plane shows less well are left out")
    return plain(ax)


@figure
def loadings(self: Plots, ax: Any = None, *, axes: Any = None, most: int = 40) -> Any:
    """A map of loadings, axes times the standard deviation along them: columns of the data down, components across.

    Parameters
    ----------
    axes : numbers of components, counted from 1; None: the first eight
    most : int
        Columns, at most: those with the largest loadings.
    """
    fit = self._model.fit_
    wanted = tuple(range(1, min(8, fit.k) + 1)) if axes is None else axes
    numbers = check_axes(wanted, fit.k, most=fit.k)
    chosen_axes = [axis - 1 for axis in numbers]
    values = fit.components[chosen_axes].T * fit.strengths[chosen_axes]
    chosen = np.sort(np.argsort(-np.abs(values).max(axis=1), kind="stable")[: check_most(most)])
    left_out, values, listed = len(values) - len(chosen), values[chosen], column_names(fit)
    titles = axis_titles(self._prefix, numbers, None)
    ax = self._axes(ax, 2.8 + 0.5 * min(len(titles), 12), 1.0 + 0.22 * len(chosen))
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    shown = {"cmap": inks(ax).signed, "vmin": -largest, "vmax": largest, "aspect": "auto", "interpolation": "nearest"}
    picture = ax.imshow(values, **shown)
    size = "small" if len(chosen) <= 30 else "x-small"
    ax.set_yticks(range(len(chosen)), [literal(shortened(listed[j], LONGEST)) for j in chosen], fontsize=size)
    every = max(1, int(np.ceil(len(titles) / 12)))  # titles find room
    ax.set_xticks(range(0, len(titles), every), [literal(title) for title in titles[::every]], fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.size <= NUMBERED and values.shape[1] <= 10:
        for (i, j), value in np.ndenumerate(values):
            color = readable_on(picture.to_rgba(value))
            ax.text(j, i, _two_digits(value), ha="center", va="center", fontsize=7.5, color=color)
    bar = ax.figure.colorbar(picture, ax=ax, pad=0.02, aspect=30)
    bar.set_label("loading")
    bar.outline.set_visible(False)
    if left_out:
        note(ax, f"{left_out:,} columns with smaller loadings are left out")
    return ax


def _two_digits(value: float) -> str:
    """With a minus sign of its own width, and none before zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


# Sorted bars, of columns or rows.


@figure
def component(self: Plots, number: int = 1, ax: Any = None, *, most: int = 20) -> Any:
    """Sorted bars: the entries of one component, largest magnitude first.

    The dashed lines are ±1/√p, where all p columns would share in it alike: those beyond make the component.

    Parameters
    ----------
    number : int
        Of the component, counted from 1.
    most : int
        Columns, at most: those with the largest magnitudes.
    """
    fit = self._model.fit_
    (axis,) = check_axes(number, fit.k, most=1)
    even = 1 / np.sqrt(fit.n_columns)
    (title,) = axis_titles(self._prefix, [axis], fit.shares)
    found = Bars(column_names(fit), fit.components[axis - 1], (-even, even), f"entry of {title}")
    return draw_bars(self, found, most, ax)


@figure
def column_contributions(self: Plots, ax: Any = None, *, axes: Any = 1, most: int = 20) -> Any:
    """Bars: the share of each column in the variance of a component, or of several together (as `fviz_contrib`).

    The dashed line is what all columns would have if they shared alike: 100/p %.

    Parameters
    ----------
    axes : numbers of components, counted from 1; None: the first two
    most : int
        Columns, at most: those with the largest shares.
    """
    fit = self._model.fit_
    chosen = check_axes(axes, fit.k, most=fit.k)
    heights = 100 * joint_contributions(column_tables.contributions(fit), fit.variances, chosen)
    title = f"contribution to {join_titles(axis_titles(self._prefix, chosen, None))}, %"
    return draw_bars(self, Bars(column_names(fit), heights, (100 / fit.n_columns,), title), most, ax)


@figure
def column_cos2(self: Plots, ax: Any = None, *, axes: Any = None, most: int = 20) -> Any:
    """Bars: of each column's variance, the share along some components (as `fviz_cos2`).

    Parameters
    ----------
    axes : numbers of components, counted from 1; None: the first two
    most : int
        Columns, at most: those with the largest shares.
    """
    fit = self._model.fit_
    chosen = check_axes(axes, fit.k, most=fit.k)
    heights = column_tables.cos2_values(self._model, None)[:, [axis - 1 for axis in chosen]].sum(axis=1)
    title = f"cos² in {join_titles(axis_titles(self._prefix, chosen, None))}"
    return draw_bars(self, Bars(column_names(fit), heights, (), title), most, ax)


def joint_contributions(shares: Floats, variances: Floats, axes: Sequence[int]) -> Floats:
    """(m,) share of each column or row (m, k) in the variance of these axes together.

    The mean of its shares, weighted by the variances, as factoextra's fviz_contrib has it.
    """
    chosen = [axis - 1 for axis in axes]
    weight = variances[chosen]
    total = float(weight.sum())
    return np.asarray(np.nan_to_num(shares[:, chosen]) @ (weight / total if total > 0 else np.zeros_like(weight)))


@dataclass(frozen=True, eq=False)
class Bars:
    """Numbers of columns or rows."""

    names: Sequence[str]
    heights: Floats
    """(m,) those that are not known count as none."""
    lines: tuple[float, ...]
    """What all would have if they shared alike."""
    title: str
    """What the numbers are."""
    what: str = "column"
    """What has them."""


def draw_bars(plots: Plots, found: Bars, most: Any, ax: Any) -> Any:
    """The `most` largest magnitudes, the largest on top; dashed: what all would have if they shared alike; in full
    colour those beyond it."""
    known = np.nan_to_num(found.heights)
    chosen = np.argsort(-np.abs(known), kind="stable")[: check_most(most)]
    heights, left_out = known[chosen], len(known) - len(chosen)
    ax = plots._axes(ax, 5.0, 1.0 + 0.22 * len(chosen))
    ink = inks(ax)
    places = np.arange(len(chosen))
    limit = max(map(abs, found.lines), default=0.0)
    for beyond in (True, False):
        some = (np.abs(heights) > limit) == beyond
        ax.barh(places[some], heights[some], color=ink.first, alpha=1.0 if beyond else 0.45, height=0.72)
    for line in found.lines:
        ax.axvline(line, color=ink.second, linewidth=1.2, linestyle="--", zorder=3)
    ax.axvline(0, color=ink.text, linewidth=0.8)
    ax.set_yticks(places, [literal(shortened(found.names[j], LONGEST)) for j in chosen], fontsize="small")
    ax.set_ylim(len(chosen) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(literal(found.title))
    told = ["dashed: all share alike"] if found.lines else []
    told += [f"{left_out:,} smaller {found.what}s left out"] if left_out else []
    if told:
        note(ax, "; ".join(told))
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


# What is lost against what is kept; and the mean and the axes as pictures, in the data's units.


@figure
def compression(self: Plots, ax: Any = None) -> Any:
    """What is lost against what is kept: error against the bytes of 1, 2, …, k components, of the original's.

    The error is |X − X̂| / |X − mean| over the rows of the fit.
    """
    check_axes(None, self._model.fit_.k)
    table = self._model.compression()
    kept, error, counts = (np.asarray(table[key]) for key in ("of_original", "relative_error", "k"))
    return draw_rates(
        [Rates(type(self._model).__name__, kept, error, counts)], "error |X − X̂| / |X − mean|", self._axes(ax)
    )


def _basis(model: Any) -> Basis:
    fit = model.fit_
    titles = axis_titles(model.score_name, range(1, fit.k + 1), fit.shares)
    return Basis(fit.mean if model.center else None, fit.axes(whiten=False), titles)


def _made_of(model: Any, rows: ArraySource, counts: Sequence[int]) -> Floats:
    made = enumerate(model.reconstructions(rows), start=1)
    return np.stack([some for k, some in made if k in counts]).astype(np.float64)


def _cloud(model: Any) -> tuple[Floats, Floats]:
    fit = model.fit_
    return np.zeros(fit.k), np.ones(fit.k) if model.whiten else np.sqrt(fit.variances)


PICTURES = Pictures(_basis, nested=True, made_of=_made_of, cloud=_cloud)
