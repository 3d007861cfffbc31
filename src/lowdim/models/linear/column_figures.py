"""Figures of the columns of a linear model: circle, map, bars, pictures, and the error of compression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.base.picture_plots import Basis, GalleryPlots, NestedReconstructionPlots, TraversalPlots
from lowdim.models.base.plots import Plots, checked_most, together
from lowdim.models.linear.tables import columns
from lowdim.models.linear.tables import columns as column_tables
from lowdim.recipes.compare.result import Comparison
from lowdim.results.record import LinearFit
from lowdim.sources.arrays import ArraySource
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, literal, note, plain, readable_on, shades
from lowdim.views.plots.points import put_labels
from lowdim.views.plots.scores import axis_titles, checked_axes
from lowdim.views.text.lines import shortened
from lowdim.words import column_names

# What columns, or rows, have to do with the components: a circle, a map, bars.


@dataclass(frozen=True, eq=False)
class Circle:
    """Correlations of columns with two components; those that the plane shows best first."""

    names: tuple[str, ...]
    ends: Floats
    """(m, 2)"""
    cos2: Floats
    """(m,) squared lengths: the share of a column's variance that lies in the plane."""
    titles: tuple[str, ...]
    left_out: int
    """Columns that the plane shows less well."""


@dataclass(frozen=True, eq=False)
class LoadingsMap:
    """Loadings of several components: entries of the axes, times the standard deviation along them."""

    names: tuple[str, ...]
    """Of the columns, in the order of the data."""
    values: Floats
    """(m, k)"""
    titles: tuple[str, ...]
    """Of the components."""
    left_out: int
    """Columns with smaller loadings."""


@dataclass(frozen=True, eq=False)
class Bars:
    """Numbers of columns or rows, largest first."""

    names: tuple[str, ...]
    heights: Floats
    """(m,)"""
    lines: tuple[float, ...]
    """What all would have if they shared alike."""
    title: str
    """What the numbers are."""
    left_out: int
    """Smaller ones."""
    what: str
    """What has them: columns or rows."""


def circle(fit: LinearFit, correlations: Floats, axes: Sequence[int], most: int, prefix: str = "PC") -> Circle:
    """Correlations (p, k) in the plane of two axes, counted from 1, of the `most` columns that it shows best."""
    ends = correlations[:, [axis - 1 for axis in axes]]
    cos2 = (ends**2).sum(axis=1)
    order = np.argsort(-cos2, kind="stable")
    order = order[cos2[order] > 0]
    chosen, names = order[:most], column_names(fit)
    titles = axis_titles(prefix, axes, fit.shares)
    left = len(order) - len(chosen)
    return Circle(tuple(names[j] for j in chosen), ends[chosen], cos2[chosen], tuple(titles), left)


def loadings_map(fit: LinearFit, axes: Sequence[int], most: int, prefix: str = "PC") -> LoadingsMap:
    """Loadings v √λ along these axes, of the `most` columns with the largest, in the order of the data."""
    chosen_axes = [axis - 1 for axis in axes]
    values = fit.components[chosen_axes].T * fit.strengths[chosen_axes]
    chosen = np.sort(np.argsort(-np.abs(values).max(axis=1), kind="stable")[:most])
    names = column_names(fit)
    titles = axis_titles(prefix, axes, None)
    return LoadingsMap(tuple(names[j] for j in chosen), values[chosen], tuple(titles), len(values) - len(chosen))


def component_bars(fit: LinearFit, axis: int, most: int, prefix: str = "PC") -> Bars:
    """Entries of one component, largest magnitude first; the lines are ±1/√p, where all columns would share alike."""
    even = 1 / np.sqrt(fit.n_columns)
    (title,) = axis_titles(prefix, [axis], fit.shares)
    return bars(column_names(fit), fit.components[axis - 1], (-even, even), f"entry of {title}", most, "column")


def bars(
    names: Sequence[str], heights: Floats, lines: Sequence[float], title: str, most: int, what: str = "column"
) -> Bars:
    """The `most` largest magnitudes; values that are not known count as none."""
    known = np.nan_to_num(heights)
    chosen = np.argsort(-np.abs(known), kind="stable")[:most]
    left = len(known) - len(chosen)
    return Bars(tuple(names[j] for j in chosen), known[chosen], tuple(lines), title, left, what)


def joint_contributions(shares: Floats, variances: Floats, axes: Sequence[int]) -> Floats:
    """(m,) share of each column or row (m, k) in the variance of these axes together.

    The mean of its shares, weighted by the variances, as factoextra's fviz_contrib has it.
    """
    chosen = [axis - 1 for axis in axes]
    weight = variances[chosen]
    total = float(weight.sum())
    return np.asarray(np.nan_to_num(shares[:, chosen]) @ (weight / total if total > 0 else np.zeros_like(weight)))


# What is lost against what is kept: error by bytes, or by components.


@dataclass(frozen=True)
class Rates:
    """Points or curves of one model."""

    name: str
    kept: Floats
    """(m,) bytes, as a share of the original."""
    error: Floats
    """(m,)"""
    counts: NDArray[np.int64]
    """(m,) components of each."""


@dataclass(frozen=True)
class RateDistortion:
    """Several models, each a point or a curve."""

    models: tuple[Rates, ...]
    measure: str
    """What the error is."""


def model_rates(name: str, compression: dict[str, NDArray[np.float64]]) -> RateDistortion:
    """The curve of one model, from its table of 1, …, k components."""
    kept, error, counts = (np.asarray(compression[key]) for key in ("of_original", "relative_error", "k"))
    one = Rates(name, kept.astype(np.float64), error.astype(np.float64), counts.astype(np.int64))
    return RateDistortion((one,), "error |X − X̂| / |X − mean|")


def comparison_rates(comparison: Comparison) -> RateDistortion:
    """A point for each model of a comparison whose bytes are known."""
    known = [one for one in comparison.representations if not np.isnan(one.of_original)]
    points = tuple(
        Rates(one.name, np.array([one.of_original]), np.array([one.error]), np.array([one.k])) for one in known
    )
    return RateDistortion(points, f"error |X − X̂| / |X|, {comparison.judged}")


# Columns and components: the circle of correlations, the map of loadings, sorted bars.

LONGEST = 30
"""Letters of a name beside a bar."""

NUMBERED = 150
"""Cells up to which a map of loadings has its numbers in it."""


def draw_circle(found: Circle, ax: Any) -> Any:
    """Arrows to the correlations of columns with two components, within the circle that none can leave.

    The nearer to the circle, and the darker (on dark paper the lighter), the more of a column is in this plane.
    """
    ink = inks(ax)
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=ink.faint, linewidth=1)
    ax.axhline(0, color=ink.faint, linewidth=0.6, zorder=1)
    ax.axvline(0, color=ink.faint, linewidth=0.6, zorder=1)
    colours = shades(ink)
    dots = ax.scatter(*found.ends.T, c=found.cos2, cmap=colours, vmin=0, vmax=1, s=0)
    colors = colours(found.cos2)
    for end, color in zip(found.ends, colors, strict=True):
        look = {"arrowstyle": "-|>", "color": color, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", end, (0, 0), arrowprops=look, zorder=3)
    shafts = (found.ends[:, None, :] * np.linspace(0.2, 1.0, 7)[:, None]).reshape(-1, 2)
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    ax.set_xticks([-1, -0.5, 0, 0.5, 1])
    ax.set_yticks([-1, -0.5, 0, 0.5, 1])
    put_labels(ax, found.ends, found.names, others=shafts)
    bar = ax.figure.colorbar(dots, ax=ax, pad=0.02, aspect=30, shrink=0.85)
    bar.set_label("share of the column's variance in this plane (cos²)")
    bar.outline.set_visible(False)
    ax.set(xlabel=f"correlation with {literal(found.titles[0])}", ylabel=f"correlation with {literal(found.titles[1])}")
    if found.left_out:
        note(ax, f"{found.left_out:,} columns that this plane shows less well are left out")
    return plain(ax)


def draw_loadings(found: LoadingsMap, ax: Any) -> Any:
    """A map of loadings: columns of the data down, components across; white (dark paper) is zero."""
    ink, values = inks(ax), found.values
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    picture = ax.imshow(values, cmap=ink.signed, vmin=-most, vmax=most, aspect="auto", interpolation="nearest")
    size = "small" if len(found.names) <= 30 else "x-small"
    ax.set_yticks(range(len(found.names)), [literal(shortened(name, LONGEST)) for name in found.names], fontsize=size)
    ax.set_xticks(range(values.shape[1]), [literal(title) for title in found.titles], fontsize="small")
    if values.shape[1] > 12:
        every = int(np.ceil(values.shape[1] / 12))
        ax.set_xticks(range(0, values.shape[1], every), found.titles[::every], fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.size <= NUMBERED and values.shape[1] <= 10:
        for (i, j), value in np.ndenumerate(values):
            color = readable_on(picture.to_rgba(value))
            ax.text(j, i, _two_digits(value), ha="center", va="center", fontsize=7.5, color=color)
    bar = ax.figure.colorbar(picture, ax=ax, pad=0.02, aspect=30)
    bar.set_label("loading")
    bar.outline.set_visible(False)
    if found.left_out:
        note(ax, f"{found.left_out:,} columns with smaller loadings are left out")
    return ax


def draw_bars(found: Bars, ax: Any) -> Any:
    """Bars, the largest on top; dashed: what all would have if they shared alike; in full colour those beyond it."""
    ink = inks(ax)
    places = np.arange(len(found.names))
    limit = max(map(abs, found.lines), default=0.0)
    for beyond in (True, False):
        some = (np.abs(found.heights) > limit) == beyond
        ax.barh(places[some], found.heights[some], color=ink.first, alpha=1.0 if beyond else 0.45, height=0.72)
    for line in found.lines:
        ax.axvline(line, color=ink.second, linewidth=1.2, linestyle="--", zorder=3)
    ax.axvline(0, color=ink.text, linewidth=0.8)
    ax.set_yticks(places, [literal(shortened(name, LONGEST)) for name in found.names], fontsize="small")
    ax.set_ylim(len(found.names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(literal(found.title))
    told = ["dashed: all share alike"] if found.lines else []
    told += [f"{found.left_out:,} smaller {found.what}s left out"] if found.left_out else []
    if told:
        note(ax, "; ".join(told))
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _two_digits(value: float) -> str:
    """With a minus sign of its own width, and none before zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


# Figures of what columns have to do with the components of a linear model.


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


# What is lost against what is kept.

MARKED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of components that are written beside a curve."""


def draw_rates(found: RateDistortion, ax: Any) -> Any:
    """Error against bytes kept, each model a point with its name, or a curve with its numbers of components."""
    ink = inks(ax)
    points: list[tuple[float, float]] = []
    names: list[str] = []
    for i, one in enumerate(found.models):
        colour = ink.groups[i % len(ink.groups)]
        if len(one.kept) > 1:
            ax.plot(one.kept, one.error, color=colour, linewidth=1.6, zorder=2)
            some = np.isin(one.counts, MARKED) | (one.counts == one.counts.max())
        else:
            some = np.ones(1, dtype=bool)
        ax.scatter(one.kept[some], one.error[some], color=colour, s=28, zorder=3)
        points += list(zip(one.kept[some], one.error[some], strict=True))
        names += [one.name if len(one.kept) == 1 else str(k) for k in one.counts[some]]
    ax.set(xlabel="bytes kept, of the original", ylabel=found.measure)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    _limits(found, ax)
    if points:
        put_labels(ax, np.array(points), names)
    ax.grid(color=ink.faint, alpha=0.25, linewidth=0.5)
    return plain(ax)


def _limits(found: RateDistortion, ax: Any) -> None:
    kept = [value for one in found.models for value in one.kept if np.isfinite(value)]
    error = [value for one in found.models for value in one.error if np.isfinite(value)]
    ax.set_xlim(0.0, 1.15 * max(kept, default=0.8) or 1.0)
    ax.set_ylim(0.0, 1.15 * max(error, default=0.8) or 1.0)


# Figures of linear models whose rows are pictures: eigenfaces, and what they make of faces.


class PicturePlots(GalleryPlots, NestedReconstructionPlots, TraversalPlots):
    """The mean and the axes as pictures, in the data's units."""

    def compression(self, ax: Any = None) -> Any:
        """What is lost against what is kept: error against the bytes of 1, 2, …, k components, of the original's.

        The error is |X − X̂| / |X − mean| over the rows of the fit.
        """
        checked_axes(None, self._model.fit_.k)
        table = {name: np.asarray(values) for name, values in dict(self._model.compression()).items()}
        return draw_rates(model_rates(type(self._model).__name__, table), self._axes(ax))

    def _basis(self) -> Basis:
        fit = self._model.fit_
        titles = axis_titles(self._prefix, range(1, fit.k + 1), fit.shares)
        return Basis(fit.mean if self._model.center else None, fit.axes(whiten=False), titles)

    def _made_of(self, rows: ArraySource, counts: Sequence[int]) -> Floats:
        wanted = set(counts)
        made = enumerate(self._model.reconstructions(rows), start=1)
        return np.stack([row for k, row in made if k in wanted]).astype(np.float64)

    def _cloud(self) -> tuple[Floats, Floats]:
        fit = self._model.fit_
        return np.zeros(fit.k), np.ones(fit.k) if self._model.whiten else np.sqrt(fit.variances)
