"""`model.plot`, of pictures and of missing values, for every model that has them."""

from __future__ import annotations

import math
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
from lowdim.models.base.plots import Plots, check_most, figure
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.plots import missing, pictures
from lowdim.views.plots.canvas import LIGHT, inks
from lowdim.views.plots.pictures import PART, PICTURE, SIGNED, Spot, draw_mosaic, mosaic_size
from lowdim.views.plots.scores import axis_titles, check_axes
from lowdim.views.text.lines import percent

# The map of missing values: where they are, and how sure what fills them is.


@figure
def holes(self: Plots, X: Any, ax: Any = None, *, order: str = "given") -> Any:
    """A map of rows × columns: what was observed, what is missing, and how sure the model is of what fills it.

    Parameters
    ----------
    X : array (n, p), frame or file
        Rows with holes. Of very many, each line of the map stands for several.
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

USUAL_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of components that `reconstruction` goes through."""

LEGENDS = {
    SIGNED: {"light": "red adds, blue takes away, white is zero", "dark": "red adds, blue takes away, black is zero"},
    PART: {"light": "white is zero, black the largest", "dark": "black is zero, white the largest"},
}

MOST_CLIPPED = 0.005
"""Share of the pixels of what is left that may be beyond the strongest colour: one glint would make all others pale."""


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


@figure
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
    most : int
        Components, at most.
    columns : int or None
        Pictures beside one another; None: as many as make the whole look well.

    References
    ----------
    Turk & Pentland 1991, "Eigenfaces for recognition"; Lee & Seung 1999 for parts.
    """
    shape, how = _shape(self._model, "gallery", picture_shape), self._pictures
    basis = how.basis(self._model)
    if columns is not None:
        parameters.whole("plot.gallery", "columns", columns, 1, None, or_else=" or None")
    rows = basis.components[: check_most(most)]
    lines, wide = gallery_grid(len(rows) + (basis.center is not None), shape, columns)
    ax = self._axes(ax, *mosaic_size(lines, wide, shape, 1))
    ink = inks(ax)
    spots = (
        [] if basis.center is None else [Spot(pictures.tile_pixels(basis.center, PICTURE, shape, ink), above="mean")]
    )
    for row, title in zip(rows, basis.titles, strict=False):
        spots.append(Spot(pictures.tile_pixels(row, basis.kind, shape, ink), above=title))
    draw_mosaic([spots[i * wide : (i + 1) * wide] for i in range(lines)], ax)
    words = [basis.caption] if basis.caption else []
    if basis.kind in LEGENDS and len(rows) and shape[2:] != (3,):
        words.append(LEGENDS[basis.kind]["light" if ink.text == LIGHT.text else "dark"])
    left_out = len(basis.components) - len(rows)
    words += [f"{left_out:,} more {how.noun}s not shown"] if left_out else []
    ax.set_xlabel("; ".join(words), fontsize="small")
    return ax


def gallery_grid(count: int, shape: tuple[int, ...], columns: int | None = None) -> tuple[int, int]:
    """Lines and columns of tiles: wider than high, and with full lines where that can be."""
    about = min(max(1, round(math.sqrt(1.6 * count * shape[0] / shape[1]))), count)
    near = [about, about + 1, about - 1, about + 2, about + 3]
    wide = columns or next((one for one in near if one >= 1 and count % one == 0), about)
    return -(-count // wide), min(wide, count)


@figure
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
    picture_shape : (height, width), (height, width, 3) or None
        Of a row; None: that of the pictures the model was fitted on, or of the files of X.
    counts : whole numbers, or None
        How many components; None: 1, 2, 5, 10, … and all. Models whose components do not build on one another
        (NMF, autoencoders, codebooks) have all of them alone.
    most : int
        Rows, at most.
    """
    model, how = self._model, self._pictures
    shape = _shape(model, "reconstruction", picture_shape, X)
    rows = first_rows(model, self._rows(X), check_most(most))
    chosen = _counts(model, how, counts)
    originals, made = np.asarray(rows.array, dtype=np.float64), how.made_of(model, rows, chosen)
    errors, left = reconstruction_errors(originals, made), originals - made[-1]
    sizes = np.abs(left[np.isfinite(left)])
    strongest = float(np.quantile(sizes, 1 - MOST_CLIPPED)) if len(sizes) else 0.0
    ax = self._axes(ax, *mosaic_size(len(originals), len(chosen) + 2, shape, 1))
    ink, grid = inks(ax), []
    for i, row in enumerate(originals):
        line = [Spot(pictures.picture_pixels(row, row, shape, ink))]
        for j in range(len(chosen)):
            below = "" if np.isnan(errors[j, i]) else percent(float(errors[j, i]))
            line.append(Spot(pictures.picture_pixels(made[j, i], row, shape, ink), below=below))
        grid.append([*line, Spot(pictures.signed_pixels(left[i], shape, ink, strongest))])
    heads = [f"{how.noun}s: {k}" if j == 0 else f"{k}" for j, k in enumerate(chosen)]
    draw_mosaic(grid, ax, top=["original", *heads, "what is left"])
    ax.set_xlabel("below each: error |x − x̂| / |x|", fontsize="small")
    return ax


def reconstruction_errors(originals: Floats, made: Floats) -> Floats:
    """(c, m) |x − x̂| / |x| of reconstructions (c, m, p) of rows (m, p), over entries that are known; NaN if x is 0."""
    known = np.isfinite(originals)
    lengths = np.sqrt(np.where(known, originals, 0.0) ** 2 @ np.ones(originals.shape[1]))
    off = np.sqrt(np.where(known, made - originals, 0.0) ** 2 @ np.ones(originals.shape[1]))
    return np.asarray(np.divide(off, lengths, out=np.full(off.shape, np.nan), where=lengths > 0))


def usual_counts(most: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … up to all that there are, which come last."""
    return (*(k for k in USUAL_COUNTS if k < most), most)


def _counts(model: Any, how: Pictures, counts: Any) -> tuple[int, ...]:
    """Numbers of components whose reconstructions are drawn."""
    k = int(model.fit_.k)
    if how.nested and counts is None:
        return usual_counts(k)
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


@figure
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
    axes : numbers of one or two components, counted from 1; None: the first two
        The first grows to the right, the second upwards.
    reach : float
        Standard deviations of the scores.
    steps : int
        Pictures beside one another; an odd number has the mean in the middle.
    """
    model, how = self._model, self._pictures
    shape = _shape(model, "traversal", picture_shape)
    parameters.whole("plot.traversal", "steps", steps, 2, None)
    parameters.real("plot.traversal", "reach", reach, 0.0)
    assert how.cloud is not None, "a model whose rows are traversed has a cloud of scores"
    center, spread = how.cloud(model)
    chosen = check_axes(axes, len(center), most=2)
    titles = axis_titles(self._prefix, chosen, None)
    across = np.linspace(-float(reach), float(reach), int(steps))
    rows = traversal_rows(partial(how.decoded, model), center, spread, [axis - 1 for axis in chosen], across)
    limits, size = np.array(grey_limits(rows)), mosaic_size(len(rows), len(across), shape)
    ax = self._axes(ax, size[0] + 0.6, size[1])
    ink, words = inks(ax), [f"{value:+.2g} sd".replace("-", "−") if value else "mean" for value in across]
    grid = [[Spot(pictures.picture_pixels(row, limits, shape, ink)) for row in line] for line in rows[::-1]]
    draw_mosaic(grid, ax, left=words[::-1] if len(rows) > 1 else [], top=words)
    ax.set_xlabel(f"{titles[0]} →", fontsize="medium")
    if len(rows) > 1:
        ax.set_ylabel(f"{titles[1]} →", labelpad=34, fontsize="medium")
    return ax


def traversal_rows(
    decode: Callable[[Floats], Floats], center: Floats, spread: Floats, axes: Sequence[int], across: Floats
) -> Floats:
    """(b, a, p) rows of the scores center + t spread, t going through `across` (a,): the first component from left to
    right, the second, if there is one, from the first line to the last."""
    up = across if len(axes) > 1 else np.zeros(1)
    scores = np.tile(np.asarray(center, dtype=np.float64), (len(up), len(across), 1))
    scores[..., axes[0]] += across * spread[axes[0]]
    if len(axes) > 1:
        scores[..., axes[1]] += (up * spread[axes[1]])[:, None]
    rows = np.asarray(decode(scores.reshape(-1, len(center))), dtype=np.float64)
    return rows.reshape(len(up), len(across), -1)


def grey_limits(rows: Floats) -> tuple[float, float]:
    """What is drawn black, and white, of pictures (b, a, p): 1 % of the numbers may be beyond either.

    Where pixels never change and are among the darkest (or lightest) of the picture in the middle, as the ground of a
    drawing is, they are black (or white): what lies beyond is no colour of such pictures.
    """
    every = rows.reshape(-1, rows.shape[-1])
    low, high = (float(end) for end in np.quantile(every, [0.01, 0.99]))
    middle = every[len(every) // 2]
    size = float(middle.max() - middle.min())
    still = np.ptp(every, axis=0) <= 1e-3 * size
    if still.any() and middle[still].min() <= middle.min() + 0.01 * size:
        low = max(low, float(middle.min()))
    if still.any() and middle[still].max() >= middle.max() - 0.01 * size:
        high = min(high, float(middle.max()))
    return low, high
