"""Rows along one, two or three components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, WrongShape
from lowdim.results.certificate import counted
from lowdim.views.figures.groups import Colour, Groups
from lowdim.views.lines import percent

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ellipse:
    """Where a normal population with the mean and the covariance of a group has most of its rows."""

    code: int
    """Of the group; −1: all rows."""
    centre: Floats
    """(2,)"""
    shape: Floats
    """(2, 2): the unit circle becomes the ellipse about the centre."""

    def outline(self, count: int = 120) -> Floats:
        """(count, 2) points around it, the last of which is the first."""
        turn = np.linspace(0, 2 * np.pi, count)
        return np.asarray(self.centre + np.column_stack([np.cos(turn), np.sin(turn)]) @ self.shape.T)


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """Rows by their scores."""

    points: Floats
    """(n, d) with d = 1, 2 or 3."""
    titles: tuple[str, ...]
    """Of the axes."""
    colour: Colour | None = None
    names: tuple[str, ...] | None = None
    """Of the rows."""
    ellipses: tuple[Ellipse, ...] = ()
    level: float | None = None
    """Share of a normal population that ellipses hold."""
    equal: bool = True
    """Whether a unit is as long on each axis, so that distances between rows can be seen."""


def score_map(
    scores: Floats,
    axes: Sequence[int],
    titles: Sequence[str],
    colour: Colour | None = None,
    names: Sequence[Any] | None = None,
    level: float | None = None,
    equal: bool = True,
) -> ScoreMap:
    """Rows of scores (n, k) along these axes, counted from 1; with a level, an ellipse for each group.

    A group needs three rows that are not on a line for an ellipse.
    """
    points = np.asarray(scores, dtype=np.float64)[:, [axis - 1 for axis in axes]]
    if names is not None and len(names) != len(points):
        raise WrongShape(f"names has {len(names):,} names, but there are {len(points):,} rows: one for each.")
    listed = None if names is None else tuple(map(str, names))
    if level is None:
        return ScoreMap(points, tuple(titles), colour, listed, equal=equal)
    if len(axes) != 2:
        raise BadParameter(f"ellipses are drawn in a plane, but {len(axes)} axes were asked for: axes=(1, 2).")
    if not 0 < level < 1:
        raise BadParameter.of("plot", "ellipses", level, "the share of a group that they hold, such as 0.95")
    groups = colour if isinstance(colour, Groups) else Groups((), np.full(len(points), -1))
    codes = range(len(groups.names)) if groups.names else [-1]
    found = [ellipse(points[groups.rows(code)], code, level) for code in codes]
    kept = tuple(one for one in found if one is not None)
    return ScoreMap(points, tuple(titles), colour, listed, kept, level, equal)


def ellipse(points: Floats, code: int, level: float) -> Ellipse | None:
    """Mean and covariance of points (m, 2), as the curve within which a normal population has the share `level`.

    The squared distance in standard deviations is χ² with 2 degrees of freedom, whose quantile is −2 log(1 − level).
    """
    if len(points) < 3:
        return None
    covariance = np.cov(points.T)
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= 1e-12 * values[1]:
        return None
    return Ellipse(code, points.mean(axis=0), vectors * np.sqrt(values * -2 * np.log1p(-level)))


def axis_titles(prefix: str, axes: Sequence[int], shares: Floats | None) -> list[str]:
    """PC1 (46.1 %), …: what axes are called, with their shares of the variance where there are some."""
    words = [f"{prefix}{axis}" for axis in axes]
    if shares is None:
        return words
    return [f"{word} ({percent(float(shares[axis - 1]))})" for word, axis in zip(words, axes, strict=True)]


def checked_axes(axes: Any, k: int, most: int = 3, least: int = 1) -> tuple[int, ...]:
    """Axes, counted from 1, as a tuple; None: the first two, or as many as there are."""
    if axes is None:
        axes = tuple(range(1, min(2, k, most) + 1))
    if k < least:
        alone = "one component alone" if k == 1 else f"{k} components"
        raise BadParameter(
            f"This figure needs {counted(least, 'component')}, but the model has {alone}: fit it with more, or "
            "draw its scores."
        )
    given = tuple(np.atleast_1d(np.asarray(axes)).tolist())
    whole = all(isinstance(axis, int) and not isinstance(axis, bool) and 1 <= axis <= k for axis in given)
    if not whole or not least <= len(given) <= most or len(set(given)) < len(given):
        one = f"{least} different numbers" if least == most > 1 else f"{least} to {most} different numbers"
        needed = "a number" if most == 1 else one
        hint = f" (this model has {k})" if k > 1 else ", as the model has one component alone"
        raise BadParameter.of("plot", "axes", axes, f"{needed} from 1 to {k}{hint}")
    return given
