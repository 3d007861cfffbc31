"""Rows as small pictures: the colours of their pixels, and mosaics of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.views.plots.canvas import Inks, faded, inks, literal, polygons, signed_colours
from lowdim.views.plots.representations import row_picture
from lowdim.views.text.lines import shortened

Shape = tuple[int, ...]
"""(height, width) or (height, width, 3)"""

PICTURE, SIGNED, PART = "picture", "signed", "part"
"""What the numbers of a tile are: those of a picture; of either sign about zero; none of them negative."""


# Many small pictures in one axes: tiles in a grid, with gaps that show the paper, and words around them.

GAP = 0.10
"""Of a tile's side, between two."""

TEXT = 0.17
"""Inches of a line of words."""

LONGEST = 22
"""Letters of a word above or below a tile."""

MISSING = 0.55
"""How much of the ink for hints a missing pixel has."""


@dataclass(frozen=True)
class Spot:
    """A tile with its words."""

    pixels: NDArray[Any]
    """(h, w, 4)"""
    above: str = ""
    below: str = ""


def picture_pixels(row: Floats, like: Floats, shape: tuple[int, ...], ink: Inks) -> Floats:
    """(h, w, 4) a row from black to white over the range of another; what is missing is a tint of the paper's ink."""
    known = like[np.isfinite(like)]
    filled = np.where(np.isfinite(row), row, known.mean() if len(known) else 0.0)
    colours = row_picture(filled, known if len(known) else np.zeros(1), shape)
    pixels = np.concatenate([colours, np.ones((*shape[:2], 1))], axis=2)
    hole = ~np.isfinite(row).reshape(*shape[:2], -1).all(axis=2)
    pixels[hole] = faded(ink.second, MISSING)
    return pixels


def signed_pixels(row: Floats, shape: tuple[int, ...], ink: Inks, most: float | None = None) -> Floats:
    """(h, w, 4) numbers about zero, which is the paper; `most` is what the strongest colour stands for, or the largest.

    Rows of colour pictures have three numbers a pixel: grey is zero there, and a colour is what is added of it.
    """
    largest = float(np.nanmax(np.abs(row), initial=0.0)) if most is None else most
    scaled = np.clip(row / largest, -1.0, 1.0) if largest > 0 else np.zeros_like(row)
    if shape[2:] == (3,):
        return np.concatenate([0.5 + 0.5 * np.nan_to_num(scaled.reshape(shape)), np.ones((*shape[:2], 1))], axis=2)
    return np.asarray(signed_colours(scaled.reshape(shape[:2]), ink))


def part_pixels(row: Floats, shape: tuple[int, ...], ink: Inks) -> Floats:
    """(h, w, 4) numbers from zero, which is the paper, to the largest, which is the ink."""
    largest = float(row.max(initial=0.0))
    strength = (row / largest if largest > 0 else np.zeros_like(row)).reshape(*shape[:2], -1)
    if shape[2:] == (3,):
        return np.concatenate([strength, np.ones((*shape[:2], 1))], axis=2)
    text, paper = (np.array(faded(colour, 1.0)) for colour in (ink.text, ink.paper))
    return np.asarray(paper + strength * (text - paper))


def tile_pixels(row: Floats, kind: str, shape: tuple[int, ...], ink: Inks) -> Floats:
    """Pixels of a row by what its numbers are."""
    if kind == SIGNED:
        return signed_pixels(row, shape, ink)
    return part_pixels(row, shape, ink) if kind == PART else picture_pixels(row, row, shape, ink)


def mosaic_size(
    lines: int, columns: int, shape: tuple[int, ...], words: int = 0, most: tuple[float, float] = (9.0, 8.0)
) -> tuple[float, float]:
    """Inches, (width, height), of axes for so many tiles with `words` lines of words each."""
    tall = shape[0] / shape[1]
    side = min(1.15, most[0] / columns, max(0.45, (most[1] / lines - words * TEXT) / tall))
    return columns * side * (1 + GAP) + 0.7, lines * (side * tall * (1 + GAP) + words * TEXT) + 0.7


def draw_mosaic(
    grid: Sequence[Sequence[Spot | None]],
    ax: Any,
    left: Sequence[str] = (),
    top: Sequence[str] = (),
    fontsize: float = 8.0,
) -> Any:
    """Tiles of one shape in lines, as one image; `left` and `top` are words beside the lines and above the columns.

    A pixel is one unit of the axes. Room for words is whole pixels, as many as they need at the size of the axes.
    """
    ink = inks(ax)
    spots = {(i, j): spot for i, line in enumerate(grid) for j, spot in enumerate(line) if spot is not None}
    h, w = next(iter(spots.values())).pixels.shape[:2]
    above, below = any(spot.above for spot in spots.values()), any(spot.below for spot in spots.values())
    lines, columns = len(grid), max(len(line) for line in grid)
    gap = max(1, round(GAP * w))
    word = _word_height(ax, lines, columns, (h, w), above + below, bool(top), fontsize)
    step_x, step_y = w + gap, h + gap + word * (above + below)
    image = np.zeros((lines * step_y - gap, columns * step_x - gap, 4))
    corners = {(i, j): (i * step_y + word * above, j * step_x) for i, j in spots}
    for place, (y, x) in corners.items():
        spot = spots[place]
        image[y : y + h, x : x + w] = spot.pixels
        _say(ax, x + w / 2, y - 0.15 * word, spot.above, "bottom", fontsize)
        _say(ax, x + w / 2, y + h + 0.15 * word, spot.below, "top", fontsize)
    ax.imshow(image, extent=(0, image.shape[1], image.shape[0], 0), interpolation="nearest", zorder=1)
    ax.add_collection(_frames(list(corners.values()), h, w, ink))
    for i, text in enumerate(left):
        ax.text(-0.6 * gap, i * step_y + word * above + h / 2, _words(text), ha="right", va="center", fontsize=fontsize)
    for j, text in enumerate(top):
        _say(ax, j * step_x + w / 2, -0.25 * word, text, "bottom", fontsize)
    ax.set_xlim(-0.5, image.shape[1] + 0.5)
    ax.set_ylim(image.shape[0] + 0.5, -(1.3 * word if top else 0.5))
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return ax


def _word_height(
    ax: Any, lines: int, columns: int, tile: tuple[int, int], words: int, top: bool, fontsize: float
) -> int:
    """Pixels of the mosaic that a line of words takes.

    At the scale s, points of type a pixel, tiles and words fill the axes: s lines h (1 + GAP) + type (lines words +
    top) = height, or s columns w (1 + GAP) = width, whichever is less; a line of words is type / s pixels then.
    """
    box = ax.get_window_extent()
    wide, tall = 72 * box.width / ax.figure.dpi, 72 * box.height / ax.figure.dpi
    line = 1.45 * fontsize
    room = max(tall - line * (lines * words + 1.3 * top), 0.3 * tall)
    scale = min(wide / (columns * tile[1] * (1 + GAP)), room / (lines * tile[0] * (1 + GAP)))
    return max(1, math.ceil(float(line / scale)))


def _frames(corners: Sequence[tuple[int, int]], h: int, w: int, ink: Inks) -> Any:
    """A hair around each tile, so that those the colour of paper end somewhere."""
    outlines = [[(x, y), (x + w, y), (x + w, y + h), (x, y + h)] for y, x in corners]
    return polygons(np.array(outlines, dtype=float), facecolors="none", edgecolors=ink.faint, linewidths=0.5, zorder=2)


def _words(text: str) -> str:
    return literal(shortened(text, LONGEST))


def _say(ax: Any, x: float, y: float, text: str, va: str, size: float) -> None:
    if text:
        ax.text(x, y, _words(text), ha="center", va=va, fontsize=size)
