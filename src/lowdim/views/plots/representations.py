"""What figures and screens show of bases and codes: pictures of them, and the columns that stand out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, plain
from lowdim.views.plots.points import put_labels

# Which columns, or words, stand out in a row: a part, a topic, a codeword.


@dataclass(frozen=True)
class Leading:
    """The columns that stand out in a row, largest first."""

    names: tuple[str, ...]
    values: Floats
    """(m,) their entries."""
    title: str = ""
    """What the row is called."""
    note: str = ""
    """A fact about it, such as its share."""

    @property
    def pairs(self) -> list[tuple[str, float]]:
        """Names with their values."""
        return list(zip(self.names, map(float, self.values), strict=True))


def leading(
    row: Floats, names: Sequence[str], most: int, least: float = 0.0, title: str = "", note: str = ""
) -> Leading:
    """The `most` columns of largest magnitude in a row (p,), those left out that are not above `least` of the largest.

    >>> leading(np.array([0.1, -3.0, 0.0, 2.0]), "abcd", 3).names
    ('b', 'd', 'a')
    """
    sizes = np.abs(row)
    order = np.argsort(-sizes, kind="stable")[:most]
    order = order[sizes[order] > least * sizes.max(initial=0.0)]
    return Leading(tuple(names[int(j)] for j in order), np.asarray(row[order], dtype=np.float64), title, note)


# What is lost against what is kept: error by bytes.

MARKED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of components that are written beside a curve."""


@dataclass(frozen=True)
class Rates:
    """A point or a curve of one model."""

    name: str
    kept: Floats
    """(m,) bytes, as a share of the original."""
    error: Floats
    """(m,)"""
    counts: NDArray[np.int64]
    """(m,) components of each."""


def draw_rates(models: Sequence[Rates], measure: str, ax: Any) -> Any:
    """Error against bytes kept, each model a point with its name, or a curve with its numbers of components."""
    ink = inks(ax)
    points: list[tuple[float, float]] = []
    names: list[str] = []
    for i, one in enumerate(models):
        colour = ink.groups[i % len(ink.groups)]
        if len(one.kept) > 1:
            ax.plot(one.kept, one.error, color=colour, linewidth=1.6, zorder=2)
            some = np.isin(one.counts, MARKED) | (one.counts == one.counts.max())
        else:
            some = np.ones(1, dtype=bool)
        ax.scatter(one.kept[some], one.error[some], color=colour, s=28, zorder=3)
        points += list(zip(one.kept[some], one.error[some], strict=True))
        names += [one.name if len(one.kept) == 1 else str(k) for k in one.counts[some]]
    ax.set(xlabel="bytes kept, of the original", ylabel=measure)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    for limit, values in ((ax.set_xlim, [one.kept for one in models]), (ax.set_ylim, [one.error for one in models])):
        known = [value for some in values for value in some if np.isfinite(value)]
        limit(0.0, 1.15 * max(known, default=0.8) or 1.0)
    if points:
        put_labels(ax, np.array(points), names)
    ax.grid(color=ink.faint, alpha=0.25, linewidth=0.5)
    return plain(ax)


# What figures and screens show of a comparison: pictures of bases and codes, and a table in words.

MOST_TILES = 100
"""Rows of a basis that are drawn."""

LINE = 0.82
"""Grey of the lines between tiles."""

CLIPPED = 0.01
"""Share of the pixels that may be beyond black, and beyond white: one glint would darken all the rest."""


RED = np.array([0.84, 0.10, 0.11])
"""Of what is negative. What is positive is black, as in Lee & Seung's figure."""


def signed_colours(values: Floats) -> Floats:
    """(…, 3) colours of numbers from −1 to 1: white for 0, black for 1, red for −1."""
    strength = np.clip(np.abs(values), 0.0, 1.0)[..., None]
    ink = np.where(values[..., None] >= 0, 0.0, RED)
    return np.asarray(1.0 - strength * (1.0 - ink))


def basis_picture(basis: Floats, shape: tuple[int, ...]) -> Floats:
    """Montage of the rows of a basis (k, p), each on its own scale, with lines between; first row first."""
    shown = basis[:MOST_TILES]
    side = grid_side(len(basis))
    height, width = shape[0], shape[1]
    rows = -(-len(shown) // side)
    montage = np.full((rows * (height + 1) + 1, side * (width + 1) + 1, 3), LINE)
    for i, row in enumerate(shown):
        top, left = 1 + (i // side) * (height + 1), 1 + (i % side) * (width + 1)
        montage[top : top + height, left : left + width] = tile_picture(row, shape)
    for i in range(len(shown), rows * side):  # places that no tile fills
        top, left = 1 + (i // side) * (height + 1), 1 + (i % side) * (width + 1)
        montage[top : top + height + 1, left : left + width + 1] = 1.0
    return montage


def code_picture(code: Floats) -> Floats:
    """The numbers of a code (k,) at the places of their tiles, on one scale."""
    shown = code[:MOST_TILES]
    side = grid_side(len(code))
    cells = np.zeros((-(-len(shown) // side), side))
    cells.flat[: len(shown)] = _scaled(shown)
    return signed_colours(cells)


def row_picture(row: Floats, original: Floats, shape: tuple[int, ...]) -> Floats:
    """A row as a picture, from black to white over the range of the original; its extreme pixels may be clipped."""
    low, high = np.quantile(original, [CLIPPED, 1 - CLIPPED])
    if not high > low:
        low, high = original.min(), original.max()
    values = np.clip((row - low) / (high - low), 0.0, 1.0) if high > low else np.zeros_like(row)
    picture = values.reshape(shape)
    return np.repeat(picture.reshape(*shape[:2], -1), 3, axis=2) if len(shape) == 2 or shape[2] == 1 else picture


def grid_side(k: int) -> int:
    """Tiles of one line of the montage: the same for basis and code, so that places agree."""
    return math.isqrt(min(k, MOST_TILES) - 1) + 1


def tile_picture(row: Floats, shape: tuple[int, ...]) -> Floats:
    """(height, width, 3) a row of a basis on its own scale: white for 0, black for its largest magnitude, or red."""
    values = row.reshape(shape)
    if values.ndim == 3 and values.shape[2] == 3:  # colours: grey where nothing is added
        return 0.5 + 0.5 * _scaled(values)
    return signed_colours(_scaled(values.reshape(values.shape[:2])))


def _scaled(values: Floats) -> Floats:
    largest = float(np.abs(values).max(initial=0.0))
    return values / largest if largest > 0 else np.zeros_like(values)
