"""Components, reconstructions and traversals as pictures: the numbers, and mosaics of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.views.plots.canvas import LIGHT, Inks, faded, inks, literal, polygons, signed_colours
from lowdim.views.plots.representations import row_picture
from lowdim.views.text.lines import percent, shortened

# Components, reconstructions and traversals as pictures: the numbers behind their pixels.

Shape = tuple[int, ...]
"""(height, width) or (height, width, 3)"""

PICTURE, SIGNED, PART = "picture", "signed", "part"
"""What the numbers of a tile are: those of a picture; of either sign about zero; none of them negative."""

USUAL = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of components that a series of reconstructions goes through."""


@dataclass(frozen=True)
class Tile:
    """A picture among others."""

    row: Floats
    """(p,) in the data's units."""
    title: str
    kind: str
    """PICTURE, SIGNED or PART."""


@dataclass(frozen=True)
class Gallery:
    """What a model is made of, as pictures."""

    tiles: tuple[Tile, ...]
    shape: Shape
    left_out: int
    """Components for which there is no room."""
    noun: str
    """What one of these is called."""
    caption: str
    """What a reader should know of the titles."""


@dataclass(frozen=True)
class Series:
    """Rows, and what the first 1, 2, 5, … components make of them."""

    originals: Floats
    """(m, p), NaN where nothing is known."""
    counts: tuple[int, ...]
    """(c,) how many components."""
    rows: Floats
    """(c, m, p)"""
    errors: Floats
    """(c, m) |x − x̂| / |x| over the entries that are known; NaN of a row that is zero."""
    shape: Shape
    noun: str

    @property
    def left(self) -> Floats:
        """(m, p) what the most components leave of the rows."""
        return np.asarray(self.originals - self.rows[-1])


@dataclass(frozen=True)
class Traversal:
    """What rows would be like for all values of two components, the others at their mean."""

    rows: Floats
    """(b, a, p) from the lowest to the highest value, of the second component and of the first."""
    across: Floats
    """(a,) standard deviations of the first component …"""
    up: Floats
    """(b,) … and of the second; (0,) alone where there is only one."""
    names: tuple[str, str]
    shape: Shape

    @property
    def limits(self) -> tuple[float, float]:
        """What is drawn black, and white: 1 % of the numbers may be beyond either.

        Where pixels never change and are among the darkest (or lightest) of the picture in the middle, as the ground
        of a drawing is, they are black (or white): what lies beyond is no colour of such pictures.
        """
        every = self.rows.reshape(-1, self.rows.shape[-1])
        low, high = (float(end) for end in np.quantile(every, [0.01, 0.99]))
        middle = every[len(every) // 2]
        size = float(middle.max() - middle.min())
        still = np.ptp(every, axis=0) <= 1e-3 * size
        if still.any() and middle[still].min() <= middle.min() + 0.01 * size:
            low = max(low, float(middle.min()))
        if still.any() and middle[still].max() >= middle.max() - 0.01 * size:
            high = min(high, float(middle.max()))
        return low, high


def gallery(
    center: Floats | None,
    components: Floats,
    titles: Sequence[str],
    kind: str,
    shape: Shape,
    most: int,
    noun: str = "component",
    caption: str = "",
) -> Gallery:
    """The mean, if there is one, and the first components (k, p), `most` at most."""
    first = () if center is None else (Tile(center, "mean", PICTURE),)
    tiles = tuple(Tile(row, title, kind) for row, title in zip(components[:most], titles, strict=False))
    return Gallery((*first, *tiles), shape, max(0, len(components) - most), noun, caption)


def series(originals: Floats, counts: Sequence[int], rows: Floats, shape: Shape, noun: str = "component") -> Series:
    """How far each reconstruction (c, m, p) is from the rows (m, p)."""
    known = np.isfinite(originals)
    lengths = np.sqrt(np.where(known, originals, 0.0) ** 2 @ np.ones(originals.shape[1]))
    off = np.sqrt(np.where(known, rows - originals, 0.0) ** 2 @ np.ones(originals.shape[1]))
    errors = np.divide(off, lengths, out=np.full(off.shape, np.nan), where=lengths > 0)
    return Series(originals, tuple(int(k) for k in counts), rows, errors, shape, noun)


def usual_counts(most: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … up to all that there are, which come last."""
    return (*(k for k in USUAL if k < most), most)


def traversal(
    decode: Callable[[Floats], Floats],
    center: Floats,
    spread: Floats,
    axes: Sequence[int],
    names: Sequence[str],
    shape: Shape,
    reach: float = 2.0,
    steps: int = 5,
) -> Traversal:
    """Decode scores center + t spread, t from −reach to reach, along one or two components."""
    across = np.linspace(-reach, reach, steps)
    up = across if len(axes) > 1 else np.zeros(1)
    scores = np.tile(np.asarray(center, dtype=np.float64), (len(up), len(across), 1))
    scores[..., axes[0]] += across * spread[axes[0]]
    if len(axes) > 1:
        scores[..., axes[1]] += (up * spread[axes[1]])[:, None]
    rows = np.asarray(decode(scores.reshape(-1, len(center))), dtype=np.float64)
    both = (names[axes[0]], names[axes[1]] if len(axes) > 1 else "")
    return Traversal(rows.reshape(len(up), len(across), -1), across, up, both, shape)


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


# Components, reconstructions and traversals as pictures, each a mosaic in one axes.

LEGENDS = {
    SIGNED: {"light": "red adds, blue takes away, white is zero", "dark": "red adds, blue takes away, black is zero"},
    PART: {"light": "white is zero, black the largest", "dark": "black is zero, white the largest"},
}

GLINTS = 0.005
"""Share of the pixels of what is left that may be beyond the strongest colour: one glint would make all others pale."""


def gallery_lines(found: Gallery, columns: int | None = None) -> tuple[int, int]:
    """Lines and columns of tiles: wider than high, and with full lines where that can be."""
    count = len(found.tiles)
    about = min(max(1, round(math.sqrt(1.6 * count * found.shape[0] / found.shape[1]))), count)
    near = [about, about + 1, about - 1, about + 2, about + 3]
    wide = columns or next((one for one in near if one >= 1 and count % one == 0), about)
    return -(-count // wide), min(wide, count)


def draw_gallery(found: Gallery, ax: Any, columns: int | None = None) -> Any:
    """Each component as a picture, on a scale of its own."""
    ink = inks(ax)
    lines, wide = gallery_lines(found, columns)
    spots = [Spot(tile_pixels(tile.row, tile.kind, found.shape, ink), above=tile.title) for tile in found.tiles]
    grid = [spots[i * wide : (i + 1) * wide] for i in range(lines)]
    draw_mosaic(grid, ax)
    kinds = {tile.kind for tile in found.tiles} & set(LEGENDS)
    paper = "light" if ink.text == LIGHT.text else "dark"
    said = [found.caption] if found.caption else []
    said += [LEGENDS[kind][paper] for kind in sorted(kinds)] if found.shape[2:] != (3,) else []
    said += [f"{found.left_out:,} more {found.noun}s not shown"] if found.left_out else []
    ax.set_xlabel("; ".join(said), fontsize="small")
    return ax


def draw_series(found: Series, ax: Any) -> Any:
    """A line for each row: itself, what more and more components make of it with the error below, and what is left."""
    ink = inks(ax)
    left = found.left
    sizes = np.abs(left[np.isfinite(left)])
    most = float(np.quantile(sizes, 1 - GLINTS)) if len(sizes) else 0.0
    grid = []
    for i, row in enumerate(found.originals):
        line = [Spot(picture_pixels(row, row, found.shape, ink))]
        for j in range(len(found.counts)):
            error = found.errors[j, i]
            below = "" if np.isnan(error) else percent(float(error))
            line.append(Spot(picture_pixels(found.rows[j, i], row, found.shape, ink), below=below))
        grid.append([*line, Spot(signed_pixels(left[i], found.shape, ink, most))])
    heads = [f"{found.noun}s: {k}" if j == 0 else f"{k}" for j, k in enumerate(found.counts)]
    draw_mosaic(grid, ax, top=["original", *heads, "what is left"])
    ax.set_xlabel("below each: error |x − x̂| / |x|", fontsize="small")
    return ax


def draw_traversal(found: Traversal, ax: Any) -> Any:
    """What rows are like where the first component grows from left to right, and the second from below."""
    ink = inks(ax)
    limits = np.array(found.limits)
    pictures = [[Spot(picture_pixels(row, limits, found.shape, ink)) for row in line] for line in found.rows[::-1]]
    sides = [_deviations(value) for value in found.up[::-1]] if len(found.up) > 1 else []
    draw_mosaic(pictures, ax, left=sides, top=[_deviations(value) for value in found.across])
    ax.set_xlabel(f"{found.names[0]} →", fontsize="medium")
    if len(found.up) > 1:
        ax.set_ylabel(f"{found.names[1]} →", labelpad=34, fontsize="medium")
    return ax


def _deviations(value: float) -> str:
    return f"{value:+.2g} sd".replace("-", "−") if value else "mean"
