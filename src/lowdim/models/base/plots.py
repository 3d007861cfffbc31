"""`model.plot`: what the figures of every model stand on; scores, the spectrum, and the path of the search."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lowdim.errors import BadParameter, Setting
from lowdim.models.base import parameters
from lowdim.models.base.output import frame_kind, named_columns, only_columns, row_labels
from lowdim.models.base.overview import part_for
from lowdim.results.k_choice import KChoice
from lowdim.results.uncertainty import Uncertainty
from lowdim.sources.columns import near
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.views.plots import spectrum
from lowdim.views.plots.canvas import shown_figure, solid_axes
from lowdim.views.plots.groups import Colour, colour_of
from lowdim.views.plots.paths import draw_path
from lowdim.views.plots.scores import axis_titles, checked_axes, draw_scores, score_map

if TYPE_CHECKING:
    from lowdim.models.base.picture_plots import Pictures

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

    def _colour(self, X: Any, color: Any, n: int) -> Colour | None:
        """What `color` says of n rows: the name of a column of X, or a value for each."""
        if color is None:
            return None
        if isinstance(color, str):
            return colour_of(column_of(X, color, "color"), n, color)
        return colour_of(color, n, getattr(color, "name", None))

    def _names(self, X: Any, names: Any, n: int) -> list[str] | None:
        """Names of n rows: a column of X, a name for each, True for the index of a frame, None and False for none."""
        if names is None or names is False:
            return None
        if names is True:
            return row_labels(X, n)
        return [str(one) for one in (column_of(X, names, "names") if isinstance(names, str) else names)]


def checked_most(most: Any) -> int:
    """How many columns, rows or arrows are drawn at most."""
    parameters.whole("plot", "most", most, 1, None)
    return int(most)


def together(titles: list[str]) -> str:
    """PC1, PC1 and PC2, …: axes in words."""
    return titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"


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
        known = [] if source is None else list(getattr(source, "every_column", source.beside))
        if source is not None and name in known:
            return source.aside(name)
    if not known:
        raise BadParameter(
            Setting(setting, name),
            f" names a column, but a {type(X).__name__} has no names: pass a value for each row.",
        )
    raise BadParameter(Setting(setting, name), f": there is no such column{near(name, known)}")


# Figures that many models have: how the model was found, rows by their scores, shares of the variance.


def path(self: Plots, ax: Any = None, *, gaps: bool = False) -> Any:
    """The likelihood that rose, or the loss that fell, after each step; the title says whether it converged.

    With `gaps`, how far each step is from the last one on a logarithmic scale, where slow searches show.
    """
    fit = self._model.fit_
    found = part_for(fit, "overview").search_path(fit)
    if found is None:
        raise BadParameter(
            "This model was found in closed form, so no likelihood rose step by step: fit with solver='em' to see one."
        )
    return draw_path(found, self._axes(ax), gaps)


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
        axis_titles(self._prefix, chosen, getattr(self._model.fit_, "shares", None)),
        self._colour(X, color, len(found)),
        self._names(X, names, len(found)),
        ellipses,
    )
    flat = len(chosen) < 3
    size = (6.0, 1.8 if color is None else 3.0) if len(chosen) == 1 else (5.6, 4.4)
    return draw_scores(shown, self._axes(ax, *size) if flat else solid_axes(*size, ax=ax))


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
    ax : matplotlib Axes, or None for a new figure
    rules : what `lowdim.choose_k` gave, or None
        Every rule for the number of components is drawn in, beneath the bars, instead of the share.
    wanted : float
        A share of the variance.
    intervals : what the model's `uncertainty` gave, or None
        Whiskers: how sure each share is.

    Returns
    -------
    matplotlib Axes

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
    if rules is None:
        return spectrum.draw_scree(_shares(self._model.fit_, wanted, intervals), self._axes(ax))
    if not isinstance(rules, KChoice):
        raise BadParameter.of("plot.scree", "rules", rules, "what lowdim.choose_k(model, X) gave")
    return spectrum.draw_k_choice(rules, self._axes(ax, 7.0, spectrum.k_choice_height(rules)))


def cumulative(self: Plots, ax: Any = None, *, wanted: float = 0.9, intervals: Uncertainty | None = None) -> Any:
    """A line: the share of all components up to each; dashed: the share `wanted`, and where it is reached.

    With what the model's `uncertainty` gave as `intervals`, a band shows how sure it is.
    """
    return spectrum.draw_cumulative(_shares(self._model.fit_, wanted, intervals), self._axes(ax))


def _shares(fit: Any, wanted: float, intervals: Any) -> spectrum.Scree:
    """Of each component, if there are some."""
    checked_axes(None, fit.k)
    if intervals is not None and not isinstance(intervals, Uncertainty):
        raise BadParameter.of("plot", "intervals", intervals, "what model.uncertainty(X) gave")
    return spectrum.scree(fit, wanted, intervals)
