"""`model.plot`: what the figures of every model stand on; scores, the spectrum, and the path of the search."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from lowdim.errors import BadParameter, Setting, WrongShape
from lowdim.matrices.empty_rows import find_empty_rows
from lowdim.models.base import parameters
from lowdim.models.base.output import (
    frame_kind,
    named_columns,
    names_of_rows,
    only_columns,
    overview_file,
    row_labels,
)
from lowdim.results.k_choice import KChoice
from lowdim.results.uncertainty import Uncertainty
from lowdim.sources.columns import suggest
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats, Places
from lowdim.views.overview import SearchPath
from lowdim.views.plots.canvas import inks, note, plain, shown_figure, solid_axes
from lowdim.views.plots.groups import Colour, colour_of
from lowdim.views.plots.k_choice import draw_k_choice, k_choice_height
from lowdim.views.plots.scores import axis_titles, check_axes, draw_scores, score_map
from lowdim.words import listed, plural

if TYPE_CHECKING:
    from lowdim.models.base.picture_plots import Pictures

# What docstrings of figures say of parameters that many have: it is written once, and is the same everywhere.

SHARED = {
    "X": "array (n, p), frame or file\n    Rows. A frame or file may have more columns than the model.",
    "ax": "matplotlib Axes, or None for a new figure",
    "color": "name of a column of X, or a value for each row\n"
    "    Texts, flags and whole numbers with few different values are groups, with a legend; other numbers have a\n"
    "    colour bar; an array (n, 3) from 0 to 1 holds colours. None: the label of X, or one colour where it has none.",
    "names": "name of a column of X, a name for each row, True, False or None\n"
    "    True: the index of a pandas frame, else places from 0. None: the names that X has, if its rows are few. As\n"
    "    many as find room are drawn, outermost rows first.",
    "ellipses": "float or None\n"
    "    Of each group, the ellipse that holds this share of it if it is normal, such as 0.95.",
    "wanted": "float\n    A share of the variance.",
    "intervals": "what the model's `uncertainty` gave, or None\n    Whiskers or a band: how sure the shares are.",
    "picture_shape": "(height, width), (height, width, 3) or None\n"
    "    Of a row; None: that of the pictures the model was fitted on.",
    "sample_weight": "array (n,) or None\n    How often each row of X counts: 2 means twice. None: once each.",
}
"""Name → what it is, and below that what it does."""

Drawing = TypeVar("Drawing", bound=Callable[..., Any])


def figure(draw: Drawing) -> Drawing:
    """Complete the docstring of a figure: parameters that it leaves out are as SHARED has them, and it returns Axes."""
    takes = [*inspect.signature(draw).parameters]
    head, *rest = re.split(r"\n\n(?=\w+\n---)", inspect.cleandoc(draw.__doc__ or ""))
    sections = dict(one.split("\n", 1) for one in rest)  # title → dashes and what is below
    own = re.split(r"\n(?=\w)", sections.get("Parameters", ""))[1:]
    told = {name: f"{name} : {SHARED[name]}" for name in takes if name in SHARED}
    told |= {one.partition(" ")[0]: one for one in own}
    listed = [told[name] for name in sorted(told, key=takes.index)]
    sections = {"Parameters": "", "Returns": "-------\nmatplotlib Axes"} | sections
    sections["Parameters"] = "\n".join(["----------", *listed])
    draw.__doc__ = "\n\n".join([head, *(f"{title}\n{below}" for title, below in sections.items())])
    return draw


# What `model.plot` of every model has: the model, axes to draw on, and rows with their names and colours.


class Plots:
    """Figures of a fitted model, one a method; each takes `ax=` and gives it back. Needs the package matplotlib.

    Figures of rows take them as X, as a model does not keep them. A frame may have other columns beside those of the
    model: colours and names may be columns of it. The class of a model lists its figures, which are functions.
    """

    _pictures: ClassVar[Pictures]
    """How rows are made, for figures of pictures."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __repr__(self) -> str:
        return f"figures of {type(self._model).__name__}: {', '.join(self.names())}"

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the figures."""
        found = [name for name in dir(cls) if not name.startswith("_") and name != "names"]
        return tuple(found)

    def _axes(self, ax: Any, width: float = 5.0, height: float = 4.0) -> Any:
        """The axes that came, if a flat figure can be drawn on them, or those of a new figure."""
        if ax is None:
            return shown_figure(width, height).subplots()
        if not hasattr(ax, "transData"):
            raise BadParameter(f"ax is a {type(ax).__name__}, but Axes are needed, as figure.subplots() gives.")
        if ax.name == "3d":
            raise BadParameter("ax has three dimensions, but this figure is flat: pass axes of figure.subplots().")
        return ax

    @property
    def _prefix(self) -> str:
        """What a component is called before its number."""
        return str(self._model.score_name)

    def _rows(self, X: Any) -> Any:
        """Rows as the model takes them: of a frame, its own columns."""
        return only_columns(X, getattr(self._model, "_columns", None))

    def _empty_rows(self, rows: Any) -> Places:
        """Places of the rows of which nothing was observed; none where the model takes no missing values."""
        if not self._model._takes.missing:
            return np.zeros(0, dtype=np.intp)
        source = self._model._opened(rows, reset=False)
        return np.zeros(0, dtype=np.intp) if source.sparse else find_empty_rows(source)[0]

    def _colour(self, X: Any, color: Any, n: int) -> Colour | None:
        """What `color` says of n rows: the name of a column of X, or a value for each; None: the label of X, if any."""
        if color is None:
            color = X.label if isinstance(X, Source) else None
        if color is None:
            return None
        if isinstance(color, str):
            return colour_of(column_of(X, color, "color"), n, color)
        return colour_of(color, n, getattr(color, "name", None))

    def _names(self, X: Any, names: Any, n: int, most: int | None = None) -> list[str] | None:
        """Names of n rows: a column of X, a name for each, True for the index of a frame, False for none.

        None: those that the data have, if there are `most` rows or fewer.
        """
        if names is None:
            found = None if most is not None and n > most else names_of_rows(X)
            return found if found is not None and len(found) == n else None
        if names is False:
            return None
        if names is True:
            return row_labels(X, n)
        listed = [str(one) for one in (column_of(X, names, "names") if isinstance(names, str) else names)]
        if len(listed) != n:
            raise WrongShape(f"names has {len(listed):,} names, but there are {n:,} rows: one for each.")
        return listed


MOST_NAMED_POINTS = 60
"""Rows whose names stand in a map though nobody asked for them, at most."""


def check_most(most: Any) -> int:
    """How many columns, rows or arrows are drawn at most."""
    parameters.whole("plot", "most", most, 1, None)
    return int(most)


def join_titles(titles: list[str]) -> str:
    """PC1, PC1 and PC2, …: axes in words."""
    return listed(titles)


def column_of(X: Any, name: str, setting: str) -> Any:
    """A column of the data, also one that the model does not take."""
    if frame_kind(X) is not None:
        from lowdim.sources.frames import as_frame

        frame = as_frame(X)
        known = [] if frame is None else [str(one) for one in frame.columns]
        if frame is not None and name in known:
            column = frame.columns[known.index(name)]
            return named_columns(frame.select([column]).to_native())[name]
    else:
        source = X if isinstance(X, Source) else open_source(X) if isinstance(X, (str, os.PathLike)) else None
        known = [] if source is None else source.every_column or list(source.beside)
        if source is not None and name in known:
            return source.aside(name)
    if not known:
        raise BadParameter(
            Setting(setting, name),
            f" names a column, but a {type(X).__name__} has no names: pass a value for each row.",
        )
    raise BadParameter(Setting(setting, name), f": there is no such column{suggest(name, known)}")


# Figures that many models have: how the model was found, rows by their scores, shares of the variance.


@figure
def path(self: Plots, ax: Any = None, *, gaps: bool = False) -> Any:
    """The likelihood that rose, or the loss that fell, after each step; the title says whether it converged.

    Parameters
    ----------
    gaps : bool
        Draw how far each step is from the last one, on a logarithmic scale, where slow searches show.
    """
    fit = self._model.fit_
    found: SearchPath | None = overview_file(fit).search_path(fit)
    if found is None:
        raise BadParameter(
            "This model was found in closed form, so no likelihood rose step by step: fit with solver='em' to see one."
        )
    ax = self._axes(ax)
    ink = inks(ax)
    style = {"marker": "o" if len(found.steps) <= 40 else None, "markersize": 3.5, "linewidth": 1.6}
    if gaps:
        off = found.gaps[:-1]
        shown = off > 0
        ax.plot(found.steps[:-1][shown], off[shown], color=ink.first, **style)
        if shown.any():
            ax.set_yscale("log")
        ax.set_ylabel(f"distance from the last {found.step}")
    else:
        ax.plot(found.steps, found.values, color=ink.first, label=found.what, **style)
        if found.prior is not None:
            ax.plot(found.steps, found.prior, color=ink.second, label="with the log-prior", **style)
            ax.legend(frameon=False, fontsize="small")
        _mark_end(found, ax, ink)
        ax.set_ylabel(found.what)
    ax.set_xlabel(found.step)
    ax.xaxis.get_major_locator().set_params(integer=True)
    note(ax, f"{found.what}: {found.verdict}" if gaps else found.verdict)
    return plain(ax)


def _mark_end(found: SearchPath, ax: Any, ink: Any) -> None:
    if not len(found.values) or not np.isfinite(found.values[-1]):
        return
    colour = ink.first if found.converged else ink.second
    ax.plot(found.steps[-1], found.values[-1], "o", color=colour, markersize=7, zorder=4)
    ax.annotate(
        f"{found.values[-1]:,.6g}".replace("-", "−"),
        (found.steps[-1], found.values[-1]),
        textcoords="offset points",
        xytext=(-4, -15 if found.rises else 9),
        ha="right",
        fontsize="small",
    )


@figure
def scores(
    self: Plots,
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
    ax : matplotlib Axes, or None for a new figure
        For three components, flat axes of a figure's grid are replaced by those that are returned.
    axes : numbers of one, two or three components, counted from 1; None: the first two

    Examples
    --------
    >>> import lowdim
    >>> foods = lowdim.datasets.uk_foods().to_pandas()
    >>> model = lowdim.PCA(2).fit(foods)
    >>> ax = model.plot.scores(foods, names=True)
    >>> ax.get_xlabel()
    'PC1 (67.4 %)'
    """
    rows = self._rows(X)
    found = np.asarray(self._model._scores(rows), dtype=np.float64)
    chosen = check_axes(axes, found.shape[1])
    colour, called = self._colour(X, color, len(found)), self._names(X, names, len(found), MOST_NAMED_POINTS)
    empty = self._empty_rows(rows)
    if len(empty):  # all of them would lie at one point, which no value of theirs says
        there = np.setdiff1d(np.arange(len(found)), empty)
        found, colour = found[there], None if colour is None else colour.of(there)
        called = None if called is None else [called[i] for i in there]
    shown = score_map(
        found,
        chosen,
        axis_titles(self._prefix, chosen, getattr(self._model.fit_, "shares", None)),
        colour,
        called,
        ellipses,
    )
    flat = len(chosen) < 3
    size = (6.0, 1.8 if colour is None else 3.0) if len(chosen) == 1 else (5.6, 4.4)
    ax = draw_scores(shown, self._axes(ax, *size) if flat else solid_axes(*size, ax=ax))
    if len(empty):
        before = ax.get_title(loc="left")
        left_out = f"{plural(len(empty), 'row')} left out, of which nothing was observed"
        note(ax, f"{before}\n{left_out}" if before else left_out)
    return ax


@figure
def scree(
    self: Plots,
    ax: Any = None,
    *,
    rules: KChoice | None = None,
    wanted: float = 0.9,
    intervals: Uncertainty | None = None,
) -> Any:
    """Bars: the share of each component, in full colour as many as reach the share `wanted`.

    Parameters
    ----------
    rules : what `lowdim.choose_k` gave, or None
        Every rule for the number of components is drawn in, beneath the bars, instead of `wanted` and `intervals`.

    References
    ----------
    Cattell 1966, "The scree test for the number of factors".

    Examples
    --------
    >>> import lowdim
    >>> model = lowdim.PCA(scale=True).fit(lowdim.datasets.wine().values)
    >>> ax = model.plot.scree(wanted=0.8)
    >>> ax.get_title(loc="left")
    '5 of 13 reach 80 %'
    """
    if rules is not None and not isinstance(rules, KChoice):
        raise BadParameter.of("plot.scree", "rules", rules, "what lowdim.choose_k(model, X) gave")
    if rules is not None:
        return draw_k_choice(rules, self._axes(ax, 7.0, k_choice_height(rules)))
    shares, reached = self._model.fit_.shares, _components_needed(self._model.fit_, wanted, intervals)
    ends = _interval_ends(intervals, "shares", len(shares))
    ax = self._axes(ax)
    ink, number = inks(ax), np.arange(1, len(shares) + 1)
    needed, width = number <= (reached or len(number)), 0.75 if len(number) <= 60 else 1.0
    for some, alpha in ((needed, 1.0), (~needed, 0.45)):
        ax.bar(number[some], shares[some], color=ink.first, alpha=alpha, width=width)
    if ends is not None:
        reach = np.abs(np.nan_to_num(ends - shares, nan=0.0))
        ax.errorbar(number, shares, yerr=reach, fmt="none", ecolor=ink.text, elinewidth=1, capsize=3)
    top = max(float(shares.max(initial=0.0)), 0.0 if ends is None else float(np.nanmax(ends, initial=0.0)))
    ax.set_ylim(0, 1.12 * top if top > 0 else 1.0)
    if len(number) <= 15:
        for j, share in zip(number, shares, strict=True):
            high = share if ends is None else max(share, float(np.nan_to_num(ends[1, j - 1])))
            text = f"{100 * share:.1f}" if share >= 0.0005 else "< 0.1" if share > 0 else "0"
            place = {"xytext": (0, 2), "textcoords": "offset points"}
            ax.annotate(text, (j, high), **place, ha="center", fontsize="small")
    return _finish_shares(ax, shares, reached, wanted, intervals)


@figure
def cumulative(self: Plots, ax: Any = None, *, wanted: float = 0.9, intervals: Uncertainty | None = None) -> Any:
    """A line: the share of all components up to each; dashed: the share `wanted`, and where it is reached."""
    shares, reached = self._model.fit_.shares, _components_needed(self._model.fit_, wanted, intervals)
    total, ends = np.cumsum(shares), _interval_ends(intervals, "cumulative", len(shares))
    ax = self._axes(ax)
    ink, number = inks(ax), np.arange(1, len(shares) + 1)
    if ends is not None:
        ax.fill_between(number, *ends, color=ink.first, alpha=0.2, linewidth=0)
    ax.plot(number, total, color=ink.first, **({"marker": "o", "markersize": 4} if len(number) <= 60 else {}))
    dashed = {"color": ink.second, "linewidth": 1.2, "linestyle": "--", "zorder": 1}
    ax.axhline(wanted, **dashed)
    if reached is not None:
        ax.plot([reached], [total[reached - 1]], "o", color=ink.second, markersize=7, zorder=4)
        ax.plot([reached] * 2, [0, total[reached - 1]], **dashed)
    ax.set_ylim(0, 1.03)
    return _finish_shares(ax, shares, reached, wanted, intervals)


def _components_needed(fit: Any, wanted: float, intervals: Any) -> int | None:
    """Fewest components that reach the wanted share, if these do; an error if there are none, or settings are wrong."""
    check_axes(None, fit.k)
    if intervals is not None and not isinstance(intervals, Uncertainty):
        raise BadParameter.of("plot", "intervals", intervals, "what model.uncertainty(X) gave")
    if not 0 < wanted <= 1:
        raise BadParameter.of("plot", "wanted", wanted, "a share of the variance, such as 0.9")
    reached = np.cumsum(fit.shares) >= wanted - 1e-12
    for name in ("shares", "cumulative"):
        _interval_ends(intervals, name, len(fit.shares))
    return int(np.argmax(reached)) + 1 if reached.any() else None


def _interval_ends(found: Uncertainty | None, name: str, k: int) -> Floats | None:
    """(2, k) lower and upper ends of intervals, if there are such."""
    known = None if found is None else found.intervals.get(name)
    if known is None:
        return None
    if known.lower.shape != (k,):
        raise BadParameter(
            f"intervals has {len(known.lower)} components, but the model has {k}: pass what its uncertainty(X) gave."
        )
    return np.stack([known.lower, known.upper])


def _finish_shares(ax: Any, shares: Floats, reached: int | None, wanted: float, intervals: Uncertainty | None) -> Any:
    """Axes of shares by component; above them how many reach what is wanted."""
    k = len(shares)
    ax.set(xlabel="component", ylabel="share of the variance", xlim=(0.4, k + 0.6))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.set_xticks(np.arange(1, k + 1) if k <= 15 else np.unique(np.linspace(1, k, 6).round().astype(int)))
    words = f"{reached:,} of {k:,} {'reaches' if reached == 1 else 'reach'} {100 * wanted:g} %" if reached else ""
    words = words or f"{'the one' if k == 1 else f'all {k:,}'} kept: {100 * np.cumsum(shares)[-1]:.1f} %"
    note(ax, words if intervals is None else f"{words}; {100 * intervals.level:g} % intervals")
    return plain(ax)
