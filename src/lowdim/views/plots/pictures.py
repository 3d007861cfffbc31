"""Components, reconstructions and traversals as pictures, each a mosaic in one axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lowdim.views.figures.pictures import PART, SIGNED, Gallery, Series, Traversal
from lowdim.views.lines import percent
from lowdim.views.plots.canvas import LIGHT, inks
from lowdim.views.plots.mosaic import Spot, draw_mosaic, picture_pixels, signed_pixels, tile_pixels

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
