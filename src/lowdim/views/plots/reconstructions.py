"""Lecture 5's figure, after figure 2 of Hinton & Salakhutdinov 2006: pictures, and what each model makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import WrongShape
from lowdim.views.plots.canvas import new_figure
from lowdim.views.representations import row_picture

Floats = NDArray[np.float64]

TILE, LABEL, HEAD = 0.8, 2.0, 0.4
"""Inches of a picture's side, of the names at the left, and of what stands above."""

GAP = 0.08
"""Of a picture's side, white between two."""


@dataclass(frozen=True)
class Reconstructions:
    """What one model makes of the pictures."""

    title: str
    rows: NDArray[Any]
    """(m, p)"""
    error: float
    """Over all pictures it was judged on, not only those that are drawn."""


def draw_reconstructions(
    originals: NDArray[Any],
    models: Sequence[Reconstructions],
    shape: tuple[int, ...],
    heading: str = "",
    real: str = "real",
    measure: str = "squared error",
) -> Any:
    """The figure: a line of real pictures, below it a line for each model with its error; (m, p) rows of this shape."""
    for one in models:
        if one.rows.shape != originals.shape:
            raise WrongShape(
                f"{one.title}: rows of shape {one.rows.shape}, but {originals.shape} as the real ones are needed."
            )
    lines = [(real, originals), *((f"{one.title}\n{measure} {one.error:.2f}", one.rows) for one in models)]
    tall, wide = (TILE * side / max(shape[:2]) for side in shape[:2])
    width, height = LABEL + len(originals) * wide * (1 + GAP), len(lines) * tall * (1 + 2 * GAP)
    figure = new_figure(width, height + (HEAD if heading else 0))
    if heading:
        figure.suptitle(heading, fontsize=12, weight="bold")
    for panel, (label, rows) in zip(figure.subplots(len(lines), squeeze=False)[:, 0], lines, strict=True):
        panel.imshow(line_picture(rows, originals, shape), interpolation="nearest")
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
        panel.set_ylabel(label, rotation=0, ha="right", va="center", linespacing=1.4)
    return figure


def line_picture(rows: NDArray[Any], originals: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    """(height, …, 3) pictures side by side, each from black to white over the range of its original."""
    space = np.ones((shape[0], max(1, round(GAP * shape[1])), 3))
    pieces = [space] * (2 * len(rows) - 1)
    pieces[::2] = [row_picture(row, original, shape) for row, original in zip(rows, originals, strict=True)]
    return np.concatenate(pieces, axis=1)
