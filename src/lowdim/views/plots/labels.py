"""Names beside points that never cover one another, nor leave the axes.

Places are tried greedily, from near to far, in twelve directions (Christensen, Marks & Shieber 1995, "An empirical
study of algorithms for point-feature label placement"); a name that is moved away gets a line to its point, one without
any free place is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.views.lines import shortened
from lowdim.views.plots.canvas import before_drawing, halo, inks, literal, text_size

Floats = NDArray[np.float64]

STEPS = (4.0, 10.0, 18.0, 28.0, 40.0, 54.0)
"""Points of type between a point and its name, tried in this order."""

BESIDE = ((1, 0.6), (-1, 0.6), (1, -0.6), (-1, -0.6), (0, 1), (0, -1), (1, 0), (-1, 0))
ACROSS = ((0.3, 1), (-0.3, 1), (0.3, -1), (-0.3, -1))
DIRECTIONS = np.array((*BESIDE, *ACROSS), dtype=float)
"""Where a name is, from its point: beside it, or above or below and more or less in the middle."""

LEADER = 8.0
"""Points of type from which on a line leads to the point."""

MOST = 250
"""Names that are tried; measuring one takes about a tenth of a millisecond."""

LONGEST = 28
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
    for i, name in enumerate(names[:MOST]):
        own = {} if colors is None else {"color": colors[i]}
        leader = {"arrowstyle": "-", "color": ink.faint, "linewidth": 0.7, "shrinkA": 0.5, "shrinkB": 2.0}
        text = ax.annotate(
            literal(shortened(str(name), LONGEST)),
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
    unmeasured = max(len(names) - MOST, 0)
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
