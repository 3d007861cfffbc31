"""Points of rows, coloured by their groups or by a number, with a legend or a colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.views.figures.groups import Colour, Groups, Painted, Shades
from lowdim.views.lines import shortened
from lowdim.views.plots.canvas import Inks, inks, literal, note, shades

Floats = NDArray[np.float64]

MARKERS = ("o", "^", "s")
"""Where there are more groups than colours, these tell them apart."""

SIZES = ((30, 34.0, 1.0), (400, 18.0, 0.85), (4000, 9.0, 0.7), (40_000, 4.0, 0.5))
"""Rows, up to which points have this area and opacity."""

DOTS = 5000
"""Points from which on a vector file holds a picture of them instead: it would be slow to open."""

UNKNOWN = "×: not known"
"""What is said of crosses."""

LONGEST = 24
"""Letters of a name in a legend."""


def draw_points(ax: Any, points: Floats, colour: Colour | None) -> None:
    """Draw points (n, d), d = 2 or 3."""
    ink, style = inks(ax), _style(len(points))
    if isinstance(colour, Groups):
        _draw_groups(ax, points, colour, ink, style)
    elif isinstance(colour, Shades):
        _draw_shades(ax, points, colour, ink, style)
    elif isinstance(colour, Painted):
        ax.scatter(*points.T, c=colour.rgb, **style)
    else:
        ax.scatter(*points.T, color=ink.first, **style)


def group_look(ink: Inks, code: int) -> tuple[str, str]:
    """Colour and marker of a group; faint where the group is not known."""
    if code < 0:
        return ink.faint, "o"
    count = len(ink.groups)
    return ink.groups[code % count], MARKERS[code // count % len(MARKERS)]


def _style(n: int) -> dict[str, Any]:
    area, alpha = next(((area, alpha) for most, area, alpha in SIZES if n <= most), (2.0, 0.35))
    return {"s": area, "alpha": alpha, "linewidths": 0, "zorder": 3, "rasterized": n > DOTS}


def _draw_groups(ax: Any, points: Floats, groups: Groups, ink: Inks, style: dict[str, Any]) -> None:
    handles, names = [], []
    for code in (-1, *range(len(groups.names))):
        rows = groups.rows(code)
        if not len(rows):
            continue
        color, marker = group_look(ink, code)
        handles.append(ax.scatter(*points[rows].T, color=color, marker=marker, **style))
        names.append(literal(shortened(groups.names[code], LONGEST)) if code >= 0 else "not known")
    if names:
        put_legend(ax, handles, names, groups.title)


def put_legend(ax: Any, handles: list[Any], names: list[str], title: str | None = None) -> None:
    """A legend beside the axes, where it covers nothing; the points in it are as large as in a figure of few rows."""
    # matplotlib leaves names that begin with _ out; a letter without width stands before those
    shown = [f"\u200b{name}" if name.startswith("_") else name for name in names]
    legend = ax.legend(
        handles,
        shown,
        title=None if title is None else literal(title),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        handletextpad=0.3,
        ncols=1 + (len(names) - 1) // 14,
    )
    for handle in legend.legend_handles:
        handle.set_sizes([28.0])
        handle.set_alpha(1.0)


def _draw_shades(ax: Any, points: Floats, numbers: Shades, ink: Inks, style: dict[str, Any]) -> None:
    known = np.isfinite(numbers.values)
    if not known.all():
        ax.scatter(*points[~known].T, color=ink.faint, marker="x", **style | {"linewidths": 0.8})
    if not known.any():
        note(ax, UNKNOWN)
        return
    drawn = ax.scatter(*points[known].T, c=numbers.values[known], cmap=shades(ink), **style)
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, aspect=30)
    bar.set_alpha(1.0)
    bar.outline.set_visible(False)
    if numbers.dates:
        bar.ax.yaxis.set_major_formatter(lambda day, _: _date(day, float(np.ptp(numbers.values[known]))))
    said = [literal(numbers.title)] if numbers.title else []
    if said or not known.all():
        bar.set_label("; ".join([*said, *([] if known.all() else [UNKNOWN])]))


def _date(day: float, span: float) -> str:
    """A day since 1970, with the hour where all are of the same few days."""
    return str(np.datetime_as_string(np.datetime64(round(day * 1440), "m"), unit="D" if span > 5 else "m"))
