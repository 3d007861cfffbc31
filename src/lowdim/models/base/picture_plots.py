"""`model.plot`, of pictures and of missing values, for every model that has them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.errors import BadParameter, Words
from lowdim.matrices.preparation import dense
from lowdim.models.base import parameters
from lowdim.models.base.input import checked_shape, picture_shape_of, refuse_other_size
from lowdim.models.base.plots import Plots, checked_most
from lowdim.models.probabilistic_pca.rows import RowModel, filled_rows_with_deviations
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.plots.missing import ORDERS, draw_hole_map, draw_posterior_plane, hole_map, holes, posterior_plane
from lowdim.views.plots.pictures import (
    SIGNED,
    draw_gallery,
    draw_series,
    draw_traversal,
    gallery,
    gallery_lines,
    mosaic_size,
    series,
    traversal,
    usual_counts,
)
from lowdim.views.plots.scores import axis_titles, checked_axes

# Figures of tables with holes: where they are, what fills them, and how sure the scores of such rows are.


class HolePlots(Plots):
    """Of models that take rows with holes."""

    def holes(self, X: Any, ax: Any = None, *, order: str = "given") -> Any:
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
        if order not in ORDERS:
            raise BadParameter.of("plot.holes", "order", order, " or ".join(map(repr, ORDERS)))
        source: Source = self._model._opened(self._rows(X), reset=False).unweighted()
        rows = np.concatenate([np.asarray(dense(block.rows), dtype=np.float64) for block in source.blocks()])
        known = holes(rows, deviations=self._deviations(source))
        found = hole_map(known, source.columns or self._model.fit_.columns, order)
        p = len(found.columns)
        size = (min(3.2 + 0.24 * p, 9.0), min(2.4 + 0.02 * len(found.rows), 5.5))
        return draw_hole_map(found, self._axes(ax, *size))

    def _deviations(self, source: Source) -> Floats | None:
        """(n, p) of what fills the holes."""
        work = partial(filled_rows_with_deviations, model=RowModel.of(self._model.fit_))
        p = source.n_columns
        return np.asarray(source.map_rows(work, 2 * p, np.float64))[:, p:]


class PosteriorPlots(Plots):
    """Of models that say how sure hidden values are."""

    def posterior(self, X: Any, ax: Any = None, *, axes: Any = None, level: float = 0.5) -> Any:
        """Rows in the plane of two components, each with the ellipse that holds it; larger ones for rows with holes.

        Parameters
        ----------
        X : array (n, p), frame or file
        ax : matplotlib Axes, or None for a new figure
        axes : numbers of two components, counted from 1; None: the first two
        level : float
            Probability with which an ellipse holds the hidden values of its row, if the model is right.

        Returns
        -------
        matplotlib Axes

        References
        ----------
        Tipping & Bishop 1999, "Probabilistic principal component analysis", figure 2.
        """
        model = self._model
        if not 0 < level < 1:
            raise BadParameter.of("plot.posterior", "level", level, "a probability between 0 and 1, such as 0.5")
        if model.fit_.k < 2:
            raise BadParameter("plot.posterior draws a plane, but this model has one component: fit two or more.")
        first, second = checked_axes(axes, model.fit_.k, most=2, least=2)
        rows = self._rows(X)
        means, covariances = model.posterior(rows)
        source: Source = model._opened(rows, reset=False).unweighted()
        counts = np.concatenate([np.isnan(dense(block.rows)).sum(axis=1) for block in source.blocks()])
        titles = axis_titles(self._prefix, (first, second), None)
        found = posterior_plane(
            np.asarray(means, dtype=np.float64),
            np.asarray(covariances),
            counts,
            source.n_columns,
            (titles[0], titles[1]),
            (first - 1, second - 1),
            level,
        )
        return draw_posterior_plane(found, self._axes(ax, 5.6, 4.6))


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
    noun: str = "component"
    caption: str = ""
    """What a reader should know of the titles."""


CHANGE = "what changes where one grows from −2 to 2 standard deviations"
"""What is drawn of a model whose components are no rows."""


class _Pictures(Plots):
    """Of rows that are pictures."""

    def _shape(self, figure: str, given: Any, X: Any = None) -> tuple[int, ...]:
        """The shape that was given, or that of the pictures of the fit or of X; else an error that teaches."""
        columns = int(self._model.fit_.n_columns)
        known = getattr(self._model, "_picture_shape", None) or self._shape_of(X)
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

    def _shape_of(self, X: Any) -> tuple[int, ...] | None:
        """Of files and folders of pictures their shape, as a model that was loaded knows none."""
        if isinstance(X, (str, os.PathLike)):
            X = open_source(X)
        return picture_shape_of(X) if isinstance(X, Source) else None


class GalleryPlots(_Pictures):
    """Of models that are made of rows."""

    def gallery(
        self,
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
        shape, basis = self._shape("gallery", picture_shape), self._basis()
        if columns is not None:
            parameters.whole("plot.gallery", "columns", columns, 1, None, or_else=" or None")
        found = gallery(basis.center, basis.components, basis.titles, basis.kind, shape, checked_most(most))
        found = replace(found, noun=basis.noun, caption=basis.caption)
        lines, wide = gallery_lines(found, columns)
        return draw_gallery(found, self._axes(ax, *mosaic_size(lines, wide, shape, 1)), columns)

    def _basis(self) -> Basis:
        raise NotImplementedError


class ReconstructionPlots(_Pictures):
    """Of models that turn rows into scores and back."""

    _noun = "component"

    def reconstruction(
        self,
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
        shape = self._shape("reconstruction", picture_shape, X)
        rows = self._first_rows(X, checked_most(most))
        chosen = self._counts(counts)
        made = self._made_of(rows, chosen)
        found = series(np.asarray(rows.array, dtype=np.float64), chosen, made, shape, self._noun)
        size = mosaic_size(len(found.originals), len(chosen) + 2, shape, 1)
        return draw_series(found, self._axes(ax, *size))

    def _made_of(self, rows: ArraySource, counts: Sequence[int]) -> Floats:
        """(c, m, p) rows of so many components each; here all of them."""
        back = self._model.inverse_transform(np.asarray(self._model._scores(rows), dtype=np.float64))
        return np.asarray(back, dtype=np.float64)[None]

    def _counts(self, counts: Any) -> tuple[int, ...]:
        """Numbers of components, here all of them or nothing."""
        k = int(self._model.fit_.k)
        if counts is None or tuple(np.atleast_1d(counts)) == (k,):
            return (k,)
        name = type(self._model).__name__
        raise BadParameter(
            f"plot.reconstruction(counts={counts!r}): the {self._noun}s of {name} do not build on one another, so only "
            f"all {k} of them make rows: leave counts out."
        )

    def _first_rows(self, X: Any, most: int) -> ArraySource:
        """The first rows of X, of which no more are read."""
        source: Source = self._model._opened(self._rows(X), reset=False).unweighted()
        parts, have = [], 0
        for block in source.blocks():
            parts.append(np.asarray(dense(block.rows[: most - have])))
            have += len(parts[-1])
            if have >= most:
                break
        return ArraySource(np.concatenate(parts), source.columns)


class NestedReconstructionPlots(ReconstructionPlots):
    """Of models whose first components make rows by themselves."""

    def _counts(self, counts: Any) -> tuple[int, ...]:
        k = int(self._model.fit_.k)
        if counts is None:
            return usual_counts(k)
        given = tuple(np.atleast_1d(np.asarray(counts)).tolist())
        if not given or not all(isinstance(one, int) and 1 <= one <= k for one in given):
            needed = f"whole numbers from 1 to {k}, the {self._noun}s that there are"
            raise BadParameter.of("plot.reconstruction", "counts", counts, needed)
        return tuple(sorted(set(given)))


class TraversalPlots(_Pictures):
    """Of models that turn any scores into rows."""

    def traversal(
        self,
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
        shape = self._shape("traversal", picture_shape)
        parameters.whole("plot.traversal", "steps", steps, 2, None)
        parameters.real("plot.traversal", "reach", reach, 0.0)
        center, spread = self._cloud()
        chosen = checked_axes(axes, len(center), most=2)
        titles = axis_titles(self._prefix, range(1, len(center) + 1), None)
        places = [axis - 1 for axis in chosen]
        found = traversal(self._decoded, center, spread, places, titles, shape, float(reach), int(steps))
        size = mosaic_size(len(found.up), len(found.across), shape)
        return draw_traversal(found, self._axes(ax, size[0] + 0.6, size[1]))

    def _cloud(self) -> tuple[Floats, Floats]:
        """(k,) mean and (k,) standard deviation of the scores."""
        raise NotImplementedError

    def _decoded(self, scores: Floats) -> Floats:
        return np.asarray(self._model.inverse_transform(scores), dtype=np.float64)

    def _effects(self, reach: float = 2.0) -> tuple[Floats, Floats]:
        """(p,) the row of mean scores, and (k, p) how rows change where a component grows from −reach to reach."""
        center, spread = self._cloud()
        steps = np.diag(reach * spread)
        made = self._decoded(np.concatenate([center[None], center + steps, center - steps]))
        k = len(center)
        return made[0], made[1 : k + 1] - made[k + 1 :]
