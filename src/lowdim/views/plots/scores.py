"""Rows along one component, in the plane of two, or in the space of three."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.views.figures.groups import Groups
from lowdim.views.figures.scores import ScoreMap
from lowdim.views.lines import shortened
from lowdim.views.plots.canvas import inks, literal, note, plain
from lowdim.views.plots.labels import put_labels
from lowdim.views.plots.points import draw_points, group_look

Floats = NDArray[np.float64]

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
    if found.equal:
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
    if found.equal:
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
