"""`model.plot`, of pictures and of missing values, for every model that has them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim.errors import BadParameter, Words
from lowdim.matrices.preparation import dense
from lowdim.models.base import parameters
from lowdim.models.base.input import checked_shape, picture_shape_of, refuse_other_size
from lowdim.models.base.plots import Plots, checked_most
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.plots import missing, pictures
from lowdim.views.plots.pictures import SIGNED, mosaic_size
from lowdim.views.plots.scores import axis_titles, checked_axes

# Figures of tables with holes: where they are, what fills them, and how sure the scores of such rows are.


def holes(self: Plots, X: Any, ax: Any = None, *, order: str = "given") -> Any:
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
    if order not in missing.ORDERS:
        raise BadParameter.of("plot.holes", "order", order, " or ".join(map(repr, missing.ORDERS)))
    source: Source = self._model._opened(self._rows(X), reset=False).unweighted()
    rows = np.concatenate([np.asarray(dense(block.rows), dtype=np.float64) for block in source.blocks()])
    known = missing.holes(rows, deviations=self._model._deviations(source))
    found = missing.hole_map(known, source.columns or self._model.fit_.columns, order)
    p = len(found.columns)
    size = (min(3.2 + 0.24 * p, 9.0), min(2.4 + 0.02 * len(found.rows), 5.5))
    return missing.draw_hole_map(found, self._axes(ax, *size))


# Figures of models whose rows are pictures: what they are made of, what they make of rows, what lies between rows.


@dataclass(frozen=True)
class Basis:
    """What a model is made of, in the data's units."""

    center: Floats | None
    """(p,) the mean; None: there is none."""
    components: Floats
    """(k, p)"""
    titles: Sequence[str]
    """(k,)"""
    kind: str = SIGNED
    """What their numbers are, as views/plots/pictures.py says."""
    caption: str = ""
    """What a reader should know of the titles."""


def _decoded(model: Any, scores: Floats) -> Floats:
    """(m, p) rows of any scores (m, k)."""
    return np.asarray(model.inverse_transform(scores), dtype=np.float64)


def _made_of_all(model: Any, rows: ArraySource, counts: Sequence[int]) -> Floats:
    """(1, m, p) rows of all components."""
    return _decoded(model, np.asarray(model._scores(rows), dtype=np.float64))[None]


@dataclass(frozen=True)
class Pictures:
    """How a kind of model makes rows: functions of a fitted model, for the figures below."""

    basis: Callable[[Any], Basis]
    noun: str = "component"
    """What one of these is called."""
    nested: bool = False
    """Whether the first components make rows by themselves."""
    made_of: Callable[[Any, ArraySource, Sequence[int]], Floats] = _made_of_all
    """(c, m, p) rows of so many components each."""
    cloud: Callable[[Any], tuple[Floats, Floats]] | None = None
    """(k,) mean and (k,) standard deviation of the scores."""
    decoded: Callable[[Any, Floats], Floats] = _decoded


CHANGE = "what changes where one grows from −2 to 2 standard deviations"
"""What is drawn of a model whose components are no rows."""


def effects(
    model: Any, cloud: tuple[Floats, Floats], decoded: Callable[[Any, Floats], Floats] = _decoded
) -> tuple[Floats, Floats]:
    """(p,) the row of mean scores, and (k, p) how rows change where a component grows as CHANGE says."""
    center, spread = cloud
    steps = np.diag(2.0 * spread)
    made = decoded(model, np.concatenate([center[None], center + steps, center - steps]))
    k = len(center)
    return made[0], made[1 : k + 1] - made[k + 1 :]


def _shape(model: Any, figure: str, given: Any, X: Any = None) -> tuple[int, ...]:
    """The shape that was given, or that of the pictures of the fit or of X; else an error that teaches."""
    columns = int(model.fit_.n_columns)
    known = getattr(model, "_picture_shape", None) or _shape_of(X)
    if given is None and known is not None:
        return tuple(known)
    if given is None:
        side = round(columns**0.5)
        such = f"({side}, {side})" if side * side == columns else "(height, width)"
        raise BadParameter(
            f"plot.{figure} draws rows as pictures, but a row of {columns:,} numbers does not tell its shape: ",
            Words(
                f"pass picture_shape={such}, or (height, width, 3)",
                f"add --set picture_shape={such.strip('()').replace(', ', ',')}, or with ,3",
            ),
            " for colours.",
        )
    shape = checked_shape(f"plot.{figure}", given)
    refuse_other_size(f"plot.{figure}", shape, columns)
    return shape


def _shape_of(X: Any) -> tuple[int, ...] | None:
    """Of files and folders of pictures their shape, as a model that was loaded knows none."""
    if isinstance(X, (str, os.PathLike)):
        X = open_source(X)
    return picture_shape_of(X) if isinstance(X, Source) else None


def gallery(
    self: Plots,
    ax: Any = None,
    *,
    picture_shape: tuple[int, ...] | None = None,
    most: int = 23,
    columns: int | None = None,
) -> Any:
    """What the model is made of, each a picture on its own scale; the mean first, if there is one.

    Parameters
    ----------
    ax : matplotlib Axes, or None for a new figure
    picture_shape : (height, width), (height, width, 3) or None
        Of a row; None: that of the pictures the model was fitted on.
    most : int
        Components, at most.
    columns : int or None
        Pictures beside one another; None: as many as make the whole look well.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Turk & Pentland 1991, "Eigenfaces for recognition"; Lee & Seung 1999 for parts.
    """
    shape, how = _shape(self._model, "gallery", picture_shape), self._pictures
    basis = how.basis(self._model)
    if columns is not None:
        parameters.whole("plot.gallery", "columns", columns, 1, None, or_else=" or None")
    shown = (basis.center, basis.components, basis.titles, basis.kind)
    found = pictures.gallery(*shown, shape, checked_most(most), how.noun, basis.caption)
    lines, wide = pictures.gallery_lines(found, columns)
    return pictures.draw_gallery(found, self._axes(ax, *mosaic_size(lines, wide, shape, 1)), columns)


def reconstruction(
    self: Plots,
    X: Any,
    ax: Any = None,
    *,
    picture_shape: tuple[int, ...] | None = None,
    counts: Sequence[int] | None = None,
    most: int = 6,
) -> Any:
    """Pictures, what 1, 2, 5, 10, … components make of them with the error below each, and what is left.

    Parameters
    ----------
    X : array (n, p), frame or file
        Rows that are pictures; the first `most` are drawn. Pixels that are missing have a colour of their own.
    ax : matplotlib Axes, or None for a new figure
    picture_shape : (height, width), (height, width, 3) or None
        Of a row; None: that of the pictures the model was fitted on.
    counts : whole numbers, or None
        How many components; None: 1, 2, 5, 10, … and all. Models whose components do not build on one another
        (NMF, autoencoders, codebooks) have all of them alone.
    most : int
        Rows, at most.

    Returns
    -------
    matplotlib Axes
    """
    model, how = self._model, self._pictures
    shape = _shape(model, "reconstruction", picture_shape, X)
    rows = first_rows(model, self._rows(X), checked_most(most))
    chosen = _counts(model, how, counts)
    made = how.made_of(model, rows, chosen)
    found = pictures.series(np.asarray(rows.array, dtype=np.float64), chosen, made, shape, how.noun)
    size = mosaic_size(len(found.originals), len(chosen) + 2, shape, 1)
    return pictures.draw_series(found, self._axes(ax, *size))


def _counts(model: Any, how: Pictures, counts: Any) -> tuple[int, ...]:
    """Numbers of components whose reconstructions are drawn."""
    k = int(model.fit_.k)
    if how.nested and counts is None:
        return pictures.usual_counts(k)
    if how.nested:
        given = tuple(np.atleast_1d(np.asarray(counts)).tolist())
        if not given or not all(isinstance(one, int) and 1 <= one <= k for one in given):
            needed = f"whole numbers from 1 to {k}, the {how.noun}s that there are"
            raise BadParameter.of("plot.reconstruction", "counts", counts, needed)
        return tuple(sorted(set(given)))
    if counts is None or tuple(np.atleast_1d(counts)) == (k,):
        return (k,)
    raise BadParameter(
        f"plot.reconstruction(counts={counts!r}): the {how.noun}s of {type(model).__name__} do not build on one "
        f"another, so only all {k} of them make rows: leave counts out."
    )


def first_rows(model: Any, X: Any, most: int) -> ArraySource:
    """The first rows of X, of which no more are read."""
    source: Source = model._opened(X, reset=False).unweighted()
    parts, have = [], 0
    for block in source.blocks():
        parts.append(np.asarray(dense(block.rows[: most - have])))
        have += len(parts[-1])
        if have >= most:
            break
    return ArraySource(np.concatenate(parts), source.columns)


def traversal(
    self: Plots,
    ax: Any = None,
    *,
    picture_shape: tuple[int, ...] | None = None,
    axes: Any = None,
    reach: float = 2.0,
    steps: int = 5,
) -> Any:
    """What rows are like where components grow from −reach to reach standard deviations, all others at their mean.

    Parameters
    ----------
    ax : matplotlib Axes, or None for a new figure
    picture_shape : (height, width), (height, width, 3) or None
        Of a row; None: that of the pictures the model was fitted on.
    axes : numbers of one or two components, counted from 1; None: the first two
        The first grows to the right, the second upwards.
    reach : float
        Standard deviations of the scores.
    steps : int
        Pictures beside one another; an odd number has the mean in the middle.

    Returns
    -------
    matplotlib Axes
    """
    model, how = self._model, self._pictures
    shape = _shape(model, "traversal", picture_shape)
    parameters.whole("plot.traversal", "steps", steps, 2, None)
    parameters.real("plot.traversal", "reach", reach, 0.0)
    assert how.cloud is not None, "a model whose rows are traversed has a cloud of scores"
    center, spread = how.cloud(model)
    chosen = checked_axes(axes, len(center), most=2)
    titles = axis_titles(self._prefix, range(1, len(center) + 1), None)
    cloud = (partial(how.decoded, model), center, spread)
    found = pictures.traversal(*cloud, [axis - 1 for axis in chosen], titles, shape, float(reach), int(steps))
    size = mosaic_size(len(found.up), len(found.across), shape)
    return pictures.draw_traversal(found, self._axes(ax, size[0] + 0.6, size[1]))
