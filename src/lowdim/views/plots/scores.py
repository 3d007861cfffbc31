"""Rows along one, two or three components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, literal, note, plain
from lowdim.views.plots.groups import Colour, Groups
from lowdim.views.plots.points import draw_points, group_look, put_labels
from lowdim.views.text.lines import percent, shortened
from lowdim.words import plural

# Rows along one, two or three components.


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


def score_map(
    scores: Floats,
    axes: Sequence[int],
    titles: Sequence[str],
    colour: Colour | None = None,
    names: Sequence[Any] | None = None,
    level: float | None = None,
) -> ScoreMap:
    """Rows of scores (n, k) along these axes, counted from 1; with a level, an ellipse for each group.

    A group needs three rows that are not on a line for an ellipse.
    """
    points = np.asarray(scores, dtype=np.float64)[:, [axis - 1 for axis in axes]]
    listed = None if names is None else tuple(map(str, names))
    if level is None:
        return ScoreMap(points, tuple(titles), colour, listed)
    if len(axes) != 2:
        raise BadParameter(f"ellipses are drawn in a plane, but {len(axes)} axes were asked for: axes=(1, 2).")
    if not 0 < level < 1:
        raise BadParameter.of("plot", "ellipses", level, "the share of a group that they hold, such as 0.95")
    groups = colour if isinstance(colour, Groups) else Groups((), np.full(len(points), -1))
    codes = range(len(groups.names)) if groups.names else [-1]
    found = [ellipse(points[groups.rows(code)], code, level) for code in codes]
    kept = tuple(one for one in found if one is not None)
    return ScoreMap(points, tuple(titles), colour, listed, kept, level)


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


def check_axes(axes: Any, k: int, most: int = 3, least: int = 1) -> tuple[int, ...]:
    """Axes, counted from 1, as a tuple; None: the first two, or as many as there are."""
    if axes is None:
        axes = tuple(range(1, min(2, k, most) + 1))
    if k < least:
        alone = "one component alone" if k == 1 else f"{k} components"
        raise BadParameter(
            f"This figure needs {plural(least, 'component')}, but the model has {alone}: fit it with more, or "
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


# Rows along one component, in the plane of two, or in the space of three.

JITTERED = 30
"""Rows from which on points on a line are spread across it, so that they can be told apart."""


def draw_scores(found: ScoreMap, ax: Any) -> Any:
    """Rows as points, with their names where these find room; ellipses of groups as the map has them."""
    draw = {1: _draw_line, 2: _draw_plane, 3: _draw_space}[found.points.shape[1]]
    return draw(found, ax)


def draw_rows(found: ScoreMap, ax: Any) -> None:
    """Points, ellipses, lines at zero and titles of a plane, without names."""
    ink = inks(ax)
    ax.axhline(0, color=ink.faint, linewidth=0.6, zorder=1)
    ax.axvline(0, color=ink.faint, linewidth=0.6, zorder=1)
    draw_points(ax, found.points, found.colour)
    for one in found.ellipses:
        color = group_look(ink, one.code)[0] if one.code >= 0 else ink.first
        outline = one.outline()
        ax.fill(*outline.T, color=color, alpha=0.08, linewidth=0, zorder=2)
        ax.plot(*outline.T, color=color, linewidth=1.1, zorder=2)
    if found.level is not None:
        of = "each group" if isinstance(found.colour, Groups) else "the rows"
        note(ax, f"ellipses hold {100 * found.level:g} % of {of}, if normal")
    ax.margins(0.1)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel=literal(found.titles[0]), ylabel=literal(found.titles[1]))
    plain(ax)


def _draw_plane(found: ScoreMap, ax: Any) -> Any:
    draw_rows(found, ax)
    if found.names is not None:
        order = _outermost_first(found.points)
        put_labels(ax, found.points[order], [found.names[i] for i in order])
    return ax


def _draw_line(found: ScoreMap, ax: Any) -> Any:
    """One component: a line, on it the rows with their names; a line for each group."""
    ink, x = inks(ax), found.points[:, 0]
    groups = found.colour if isinstance(found.colour, Groups) else None
    heights = np.zeros(len(x)) if groups is None else -groups.codes.astype(float)
    lines = np.unique(heights)
    for height in lines:
        ax.axhline(height, color=ink.faint, linewidth=0.6, zorder=1)
    ax.axvline(0, color=ink.faint, linewidth=0.6, zorder=1)
    if len(x) > JITTERED:
        heights = heights + 0.5 * (_van_der_corput(len(x)) - 0.5)
    points = np.column_stack([x, heights])
    draw_points(ax, points, found.colour)
    if groups is not None:
        ax.get_legend().remove()  # the lines have the names
        codes = [int(-height) for height in lines]
        words = [literal(shortened(groups.names[code], 24)) if code >= 0 else "not known" for code in codes]
        ax.set_yticks(lines, words)
    else:
        ax.set_yticks([])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(lines.min() - 0.7, lines.max() + 0.7)
    ax.margins(x=0.1)
    ax.set_xlabel(literal(found.titles[0]))
    ax.spines[["top", "right", "left"]].set_visible(False)
    if found.names is not None:
        order = _outermost_first(found.points)
        put_labels(ax, points[order], [found.names[i] for i in order])
    return ax


def _draw_space(found: ScoreMap, ax: Any) -> Any:
    """Three components; names follow the points when the figure is turned."""
    ink = inks(ax)
    draw_points(ax, found.points, found.colour)
    titles = map(literal, found.titles)
    for axis, title in zip((ax.xaxis, ax.yaxis, ax.zaxis), titles, strict=True):
        axis.set_label_text(title)
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
        axis.line.set_color(ink.faint)
    ax.tick_params(labelsize="small", pad=0)
    ax.set_aspect("equal")
    ax.set_box_aspect(ax.get_box_aspect(), zoom=0.9)  # titles of the axes stay on the paper
    if found.names is not None:
        order = _outermost_first(found.points)
        spots = found.points[order]
        put_labels(ax, lambda: _flat(ax, spots), [found.names[i] for i in order])
    return ax


def _flat(ax: Any, points: Floats) -> Floats:
    """(n, 2) where points (n, 3) are seen, in the units of the paper of the axes."""
    seen = np.column_stack([points, np.ones(len(points))]) @ ax.get_proj().T
    return np.asarray(seen[:, :2] / seen[:, 3:])


def _outermost_first(points: Floats) -> NDArray[np.int64]:
    """Rows that stand apart get their names first."""
    spread = points.std(axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.argsort(-(scaled**2).sum(axis=1), kind="stable")


def _van_der_corput(n: int) -> Floats:
    """(n,) numbers from 0 to 1 that fill it evenly, in an order without pattern: 1/2, 1/4, 3/4, 1/8, …"""
    number, total, unit = np.arange(1, n + 1), np.zeros(n), 0.5
    while number.any():
        total += unit * (number % 2)
        number, unit = number // 2, unit / 2
    return total
