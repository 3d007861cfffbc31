"""What `model.plot` of every model has: the model, axes to draw on, and rows with their names and colours."""

from __future__ import annotations

import os
from typing import Any

from lowdim.errors import BadParameter
from lowdim.models import settings
from lowdim.models.frames import frame_kind, named_columns, only_columns, row_labels
from lowdim.sources.open import open_source
from lowdim.sources.selection import near
from lowdim.sources.source import Source
from lowdim.views.figures.groups import Colour, colour_of
from lowdim.views.plots.canvas import shown_figure


class Plots:
    """Figures of a fitted model, one a method; each takes `ax=` and gives it back. Needs the package matplotlib.

    Figures of rows take them as X, as a model does not keep them. A frame may have other columns beside those of the
    model: colours and names may be columns of it.
    """

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
    settings.whole("plot", "most", most, 1, None)
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
            f"{setting}={name!r} names a column, but a {type(X).__name__} has no names: pass a value for each row."
        )
    raise BadParameter(f"{setting}={name!r}: there is no such column{near(name, known)}")
