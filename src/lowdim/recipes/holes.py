"""Which numbers of a picture are missing, and which observed ones are hidden to learn how far to trust filling."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.errors import BadInput, BadParameter, NotNumeric, WrongShape
from lowdim.recipes.picture import Picture

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

HIDDEN, MOST_HIDDEN = 0.05, 0.1
"""Share of the observed numbers that are hidden, and the most that a moved copy of the holes may hide."""

MOVES = 8
"""Copies of the holes that are laid elsewhere, at most."""


def missing_in(
    picture: Picture, mask: str | os.PathLike[str] | ArrayLike | None, missing: str | ArrayLike | None
) -> Mask:
    """Which numbers of `picture.values` are missing: NaN, and those that a mask, alpha or a colour marks."""
    holes = np.isnan(picture.values)
    if mask is not None:
        holes = holes | _from_mask(picture, mask)
    if missing is not None:
        marked = _clear(picture) if isinstance(missing, str) and missing == "alpha" else _of_colour(picture, missing)
        holes = holes | (marked if holes.ndim == 2 else marked[:, :, None])
    if holes.all():
        raise BadInput(f"All {holes.size:,} values of the picture are missing: there is nothing to fill it from.")
    return holes


def held_out(holes: Mask, rng: np.random.Generator) -> Mask:
    """Observed numbers to hide, so that filling them tells how well the holes are filled.

    Copies of the holes laid elsewhere are like them, whether they are dots, letters or scratches. Where these would
    hide too much, as of a picture that is mostly holes, 5 % are drawn at random.
    """
    seen = ~holes
    hidden, wanted, most = np.zeros_like(holes), HIDDEN * seen.sum(), MOST_HIDDEN * seen.sum()
    for _ in range(MOVES):
        down, right = rng.integers(1, np.maximum(holes.shape[:2], 2))
        moved = hidden | (np.roll(holes, (down, right), axis=(0, 1)) & seen)
        if moved.sum() <= most:
            hidden = moved
        if hidden.sum() >= wanted / 2:
            return hidden
    if hidden.any():
        return hidden
    together = holes.ndim == 2 or bool((holes.any(axis=2) == holes.all(axis=2)).all())
    drawn = rng.random(holes.shape[:2] if together else holes.shape) < HIDDEN
    drawn = drawn[:, :, None] if together and holes.ndim == 3 else drawn
    hidden = seen & drawn
    return hidden if (seen & ~hidden).any() else np.zeros_like(holes)


def _from_mask(picture: Picture, mask: str | os.PathLike[str] | ArrayLike) -> Mask:
    marked = _read_mask(mask) if isinstance(mask, (str, os.PathLike)) else _marks(np.asarray(mask))
    shape = picture.values.shape
    if marked.ndim == 3 and marked.shape[2] == 1:
        marked = marked[:, :, 0]
    channels = len(shape) == 3 or picture.grey_in_colour
    if marked.shape[:2] != shape[:2] or marked.ndim > 3 or (marked.ndim == 3 and marked.shape[2] != 3):
        raise WrongShape(
            f"The mask has shape {marked.shape}, but the picture has {shape[0]} × {shape[1]} pixels: one mark a pixel "
            f"is needed{', or one for each of three channels' if channels else ''}."
        )
    if marked.ndim == 3 and not channels:
        raise WrongShape(
            f"The mask has {marked.shape[2]} marks a pixel, but the picture is grey, with one value: give a mask of "
            f"shape {shape}, such as mask.any(axis=2)."
        )
    if marked.ndim == 3 and len(shape) == 2:  # grey in three channels: one that was observed tells the value
        return np.asarray(marked.all(axis=2), dtype=np.bool_)
    return np.broadcast_to(marked[:, :, None], shape) if marked.ndim < len(shape) else marked


def _marks(given: NDArray[Any]) -> Mask:
    """True where an array is not 0. Real numbers between might be shares or shades, so they must be 0 or 1."""
    if given.dtype.kind not in "buif":
        raise NotNumeric.dtype(given.dtype)
    if given.dtype.kind == "f":
        other = given[(given != 0) & (given != 1)]
        if other.size:
            raise BadInput(
                f"{other.size:,} of the {given.size:,} real numbers of the mask are neither 0 (known) nor 1 (missing), "
                f"as {other[0]:g}: say which are missing, as in mask > 0.5."
            )
    return np.asarray(given != 0, dtype=np.bool_)


def _read_mask(path: str | os.PathLike[str]) -> NDArray[np.bool_]:
    """White is missing, black is known; half of the light decides, so that a JPEG serves as well."""
    marks = Picture.of(path)
    white = marks.peak if marks.peak is not None else float(np.nanmax(marks.values))
    return np.asarray(2 * marks.values > white, dtype=np.bool_)


def _clear(picture: Picture) -> Mask:
    if picture.alpha is None:
        raise BadInput("Missing pixels should be the transparent ones, but the picture has no alpha: give a mask.")
    return np.asarray(picture.alpha == 0, dtype=np.bool_)


def _of_colour(picture: Picture, missing: str | ArrayLike) -> Mask:
    if isinstance(missing, str):
        if not re.fullmatch("#[0-9a-fA-F]{6}", missing):
            raise BadParameter(
                f"missing={missing!r}: it must be alpha, or the colour of missing pixels as #rrggbb, such as #ff00ff."
            )
        colour = np.array([int(missing[i : i + 2], 16) for i in (1, 3, 5)]) * ((picture.peak or 255.0) / 255.0)
    else:
        colour = np.atleast_1d(np.asarray(missing, dtype=float))
    spread = picture.values[:, :, None] if picture.values.ndim == 2 else picture.values
    if len(colour) not in (1, 3):
        raise BadParameter(f"missing={missing!r}: a colour has one number, or three.")
    # pixels of a colour that was rounded are within half a step of it
    near = np.abs(spread - colour) <= 0.5 * (picture.peak or 255.0) / 255.0
    return np.asarray(near.all(axis=2), dtype=np.bool_)
