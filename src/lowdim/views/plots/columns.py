"""Columns and components: the circle of correlations, the map of loadings, sorted bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.columns import Bars, Circle, LoadingsMap
from lowdim.views.lines import shortened
from lowdim.views.plots.canvas import inks, literal, note, plain, readable_on, shades
from lowdim.views.plots.labels import put_labels

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
