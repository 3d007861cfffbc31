"""Points of rows, coloured by group or number, and names beside them that never cover one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.views.plots.canvas import Inks, before_drawing, halo, inks, literal, note, shades, text_size
from lowdim.views.plots.groups import Colour, Groups, Painted, Shades
from lowdim.views.text.lines import shortened

# Names beside points that never cover one another, nor leave the axes.
#
# Places are tried greedily, from near to far, in twelve directions (Christensen, Marks & Shieber 1995, "An empirical
# study of algorithms for point-feature label placement"); a name that is moved away gets a line to its point, one
# without any free place is left out and counted.

STEPS = (4.0, 10.0, 18.0, 28.0, 40.0, 54.0)
"""Points of type between a point and its name, tried in this order."""

BESIDE = ((1, 0.6), (-1, 0.6), (1, -0.6), (-1, -0.6), (0, 1), (0, -1), (1, 0), (-1, 0))
ACROSS = ((0.3, 1), (-0.3, 1), (0.3, -1), (-0.3, -1))
DIRECTIONS = np.array((*BESIDE, *ACROSS), dtype=float)
"""Where a name is, from its point: beside it, or above or below and more or less in the middle."""

LEADER = 8.0
"""Points of type from which on a line leads to the point."""

MOST_NAMES = 250
"""Names that are tried; measuring one takes about a tenth of a millisecond."""

LONGEST_LABEL = 28
"""Letters of a name."""

MARKER = 3.0
"""Points of type that a point takes to each side."""

GAP = 1.0
"""Points of type that stay free around a name."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where a name goes."""

    box: Floats
    """(4,) left, bottom, right, top in pixels."""
    step: float
    """How far from its point, in points of type."""


def put_labels(
    ax: Any,
    points: Floats | Callable[[], Floats],
    names: Sequence[str],
    *,
    colors: Sequence[Any] | None = None,
    others: Floats | None = None,
    **style: Any,
) -> list[Any]:
    """Put names beside points (m, 2), the first ones first; placed anew whenever the axes are drawn.

    Parameters
    ----------
    points : array of shape (m, 2), or a function that gives it
        In the units of the axes; a function where these move, as those of three dimensions do.
    names : m texts
        Taken letter by letter.
    colors : m colours, or None for the colour of text
    others : array of shape (l, 2), or None
        More points that names rather leave free.
    **style
        Of the texts, such as fontsize.

    Returns
    -------
    The texts, as matplotlib's; those without a place are not visible.
    """
    ink = inks(ax)
    style = {"fontsize": "small", "color": ink.text, "annotation_clip": False, "path_effects": halo(ax), **style}
    texts = []
    for i, name in enumerate(names[:MOST_NAMES]):
        own = {} if colors is None else {"color": colors[i]}
        leader = {"arrowstyle": "-", "color": ink.faint, "linewidth": 0.7, "shrinkA": 0.5, "shrinkB": 2.0}
        text = ax.annotate(
            literal(shortened(str(name), LONGEST_LABEL)),
            (0.0, 0.0),
            xytext=(0.0, 0.0),
            textcoords="offset points",
            ha="left",
            va="bottom",
            zorder=6,
            arrowprops=leader,
            **style | own,
        )
        text.set_in_layout(False)
        texts.append(text)
    note = ax.annotate("", (0, 0), xycoords="axes fraction", fontsize="x-small", color=ink.text, zorder=6)
    note.set_in_layout(False)
    unmeasured = max(len(names) - MOST_NAMES, 0)
    before_drawing(ax, lambda renderer: _place(ax, renderer, points, texts, others, note, unmeasured))
    return texts


def _place(
    ax: Any,
    renderer: Any,
    points: Floats | Callable[[], Floats],
    texts: list[Any],
    others: Floats | None,
    note: Any,
    unmeasured: int,
) -> None:
    """Move every text to its place, in pixels; hide those without one."""
    px = renderer.points_to_pixels(1.0)
    now = points() if callable(points) else points
    anchors = ax.transData.transform(np.asarray(now, dtype=float))[: len(texts)]
    more = np.zeros((0, 2)) if others is None else ax.transData.transform(others)
    frame = ax.get_window_extent(renderer)
    edges = (frame.x0, frame.y0, frame.x1, frame.y1)
    crowd = np.concatenate([anchors, more])
    sizes = [_size(renderer, text) for text in texts]
    corner, box = _emptiest_corner(crowd, edges, (130 * px, 14 * px))
    found = _boxes(anchors, sizes, px, edges, crowd, [])
    if unmeasured or None in found:  # then the note needs room too
        found = _boxes(anchors, sizes, px, edges, crowd, [np.array(box)])
    for text, anchor, where, one in zip(texts, anchors, now, found, strict=False):
        text.set_visible(one is not None)
        if one is not None:
            text.xy = (float(where[0]), float(where[1]))
            text.set_position(tuple((one.box[:2] - anchor) / px + GAP))
            text.arrow_patch.set_visible(one.step >= LEADER)
    _say_hidden(note, found.count(None) + unmeasured, corner)


def _boxes(
    anchors: Floats,
    sizes: list[tuple[float, float]],
    px: float,
    edges: tuple[float, ...],
    crowd: Floats,
    taken: list[Floats],
) -> list[Place | None]:
    """A place for each name, the first ones first; None where there is none, or the point is not seen."""
    found: list[Place | None] = []
    for anchor, size in zip(anchors, sizes, strict=True):
        seen = edges[0] <= anchor[0] <= edges[2] and edges[1] <= anchor[1] <= edges[3]
        boxes = np.array(taken).reshape(-1, 4)
        place = _free_place(anchor, size, px, edges, crowd, boxes) if seen else None
        found.append(place)
        if place is not None:
            taken.append(place.box)
    return found


def _size(renderer: Any, text: Any) -> tuple[float, float]:
    """(width, height) in pixels, with the gap around it."""
    text.set_visible(True)  # those that are not have no size
    gap = 2 * GAP * renderer.points_to_pixels(1.0)
    width, height = text_size(text, renderer)
    return width + gap, height + gap


def _free_place(
    anchor: Floats, size: tuple[float, float], px: float, edges: tuple[float, ...], crowd: Floats, taken: Floats
) -> Place | None:
    """The free box with the lowest price, which distance and covered points raise; None without any."""
    steps = np.repeat(STEPS, len(DIRECTIONS))
    unit = np.tile(DIRECTIONS, (len(STEPS), 1))
    half = np.array(size) / 2
    middle = anchor + unit * steps[:, None] * px + np.clip(2 * unit, -1, 1) * half
    boxes = np.hstack([middle - half, middle + half])
    inside = (boxes[:, :2] >= edges[:2]).all(axis=1) & (boxes[:, 2:] <= edges[2:]).all(axis=1)
    free = np.array(inside & ~_overlaps(boxes, taken).any(axis=1))
    far = steps >= LEADER
    for i in np.flatnonzero(free & far):
        free[i] = not _crosses(anchor, middle[i], taken)
    if not free.any():
        return None
    grown = np.hstack([crowd - MARKER * px, crowd + MARKER * px])
    covered = _overlaps(boxes, grown).sum(axis=1)
    price = np.where(free, 2.5 * covered + steps / 6 + 0.01 * np.arange(len(steps)), np.inf)
    best = int(np.argmin(price))
    return Place(boxes[best], float(steps[best]))


def _overlaps(boxes: Floats, others: Floats) -> NDArray[np.bool_]:
    """(a, b) whether each box meets each of the others."""
    a, b = boxes[:, None, :], others[None, :, :]
    return np.asarray(
        (a[..., 0] < b[..., 2]) & (b[..., 0] < a[..., 2]) & (a[..., 1] < b[..., 3]) & (b[..., 1] < a[..., 3])
    )


def _crosses(start: Floats, end: Floats, boxes: Floats) -> bool:
    """Whether a line from a point to the middle of its name runs through one of the boxes."""
    along = start + np.linspace(0.0, 1.0, 12)[:, None] * (end - start)
    points = np.hstack([along, along])
    return bool(_overlaps(points, boxes).any())


def _emptiest_corner(
    crowd: Floats, edges: tuple[float, ...], size: tuple[float, float]
) -> tuple[tuple[str, str], tuple[float, ...]]:
    """The corner of the axes with the fewest points, and the box there."""
    left, bottom, right, top = edges
    wide, tall = min(size[0], right - left), min(size[1], top - bottom)
    corners = {
        ("right", "bottom"): (right - wide, bottom, right, bottom + tall),
        ("left", "bottom"): (left, bottom, left + wide, bottom + tall),
        ("right", "top"): (right - wide, top - tall, right, top),
        ("left", "top"): (left, top - tall, left + wide, top),
    }
    points = np.hstack([crowd, crowd])
    counts = {where: int(_overlaps(points, np.array([box])).sum()) for where, box in corners.items()}
    where = min(counts, key=lambda one: counts[one])
    return where, corners[where]


def _say_hidden(note: Any, hidden: int, corner: tuple[str, str]) -> None:
    ha, va = corner
    note.set_visible(hidden > 0)
    note.set_text(f"{hidden:,} name{'' if hidden == 1 else 's'} without room")
    note.set_ha(ha)
    note.set_va(va)
    note.xy = (0.99 if ha == "right" else 0.01, 0.01 if va == "bottom" else 0.99)
    note.set_position(note.xy)


# Points of rows, coloured by their groups or by a number, with a legend or a colour bar.

MARKERS = ("o", "^", "s")
"""Where there are more groups than colours, these tell them apart."""

SIZES = ((30, 34.0, 1.0), (400, 18.0, 0.85), (4000, 9.0, 0.7), (40_000, 4.0, 0.5))
"""Rows, up to which points have this area and opacity."""

DOTS = 5000
"""Points from which on a vector file holds a picture of them instead: it would be slow to open."""

UNKNOWN = "×: not known"
"""What is said of crosses."""

LONGEST_IN_LEGEND = 24
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
        names.append(literal(shortened(groups.names[code], LONGEST_IN_LEGEND)) if code >= 0 else "not known")
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
