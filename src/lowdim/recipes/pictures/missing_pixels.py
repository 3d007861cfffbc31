"""Which pixels are missing, and a first, smooth value for each."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.ndimage import distance_transform_edt, gaussian_filter, label
from scipy.sparse.linalg import spsolve

from lowdim.errors import BadInput, BadParameter, NotNumeric, Setting, WrongShape
from lowdim.recipes.pictures.picture import Picture
from lowdim.types import Floats, Mask

# Which numbers of a picture are missing, and which observed ones are hidden to learn how far to trust filling.

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
                Setting("missing", missing),
                ": it must be alpha, or the colour of missing pixels as #rrggbb, such as #ff00ff.",
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


# A first, smooth value for every missing pixel: a mean of observed ones near it, or what diffuses into a hole.

NARROWEST, WIDER = 0.7, 1.4
"""Width of the first Gaussian in pixels, and by how much each next one is wider."""

ENOUGH = 0.05
"""Share of a Gaussian that must lie on observed pixels for their mean to be taken."""

DEEP = 4.0
"""Pixels from the nearest observed one, from which on a hole is filled by diffusion instead: means of far pixels leave
out that nearer ones lie on the other side. Nearer ones differ by little, and most holes have no others."""

MOST, SWEEPS = 100_000, 20
"""Unknowns that are solved for at once; more are first solved for in a picture of half the size, and then swept."""


def local_fill(values: Floats) -> Floats:
    """Values (height, width) or (height, width, channels) with each NaN replaced by a mean of the same channel.

    Normalised convolution (Knutsson & Westin 1993): observed values and their indicator are smoothed alike and
    divided. Each pixel takes the narrowest Gaussian that sees enough, so that dense places stay sharp. Holes that reach
    deeper than 4 pixels are filled by diffusion: each pixel in them is the mean of its four neighbours. A channel
    without any value takes the mean of the others.
    """
    if values.ndim == 2:
        return _fill(values, float(np.nanmean(values)))
    overall = float(np.nanmean(values))
    return np.stack([_fill(values[:, :, c], overall) for c in range(values.shape[2])], axis=2)


def _fill(channel: Floats, overall: float) -> Floats:
    seen = np.isfinite(channel)
    if not seen.any():
        return np.full_like(channel, overall)
    shown, indicator = np.where(seen, channel, 0.0), seen.astype(float)
    filled, todo, width = channel.copy(), ~seen, NARROWEST
    while todo.any():
        share = gaussian_filter(indicator, width, mode="nearest")
        last = width > max(channel.shape)
        here = todo & (share > (0.0 if last else ENOUGH))
        filled[here] = gaussian_filter(shown, width, mode="nearest")[here] / share[here]
        todo &= ~here
        if last:
            filled[todo] = channel[seen].mean()
            break
        width *= WIDER
    solid = deep_parts(~seen)
    if solid.any():
        deep = depth(~seen) > DEEP
        filled[deep] = diffuse(np.where(solid > 0, np.nan, filled))[deep]
    return filled


def depth(holes: Mask) -> Floats:
    """(height, width) distance of every missing pixel from the nearest that is not, 0 of those; inf if all are."""
    return np.where(holes, np.inf, 0.0) if holes.all() else np.asarray(distance_transform_edt(holes))


def depths(values: Floats) -> Floats:
    """(height, width, channels) the same of each channel of a picture with NaN."""
    return np.stack([depth(np.isnan(values[:, :, c])) for c in range(values.shape[2])], axis=2)


def deep_parts(holes: Mask) -> NDArray[np.int_]:
    """(height, width) numbers from 1 of the parts of holes around what is deep in them; 0 elsewhere.

    A picture of which most is missing here and there is one hole, in which only the parts without dots are deep.
    """
    deep = depth(holes) > DEEP
    if not deep.any():  # the corner of a square lies √2 as far from what is deep in it as its sides do
        return np.zeros(holes.shape, dtype=np.int_)
    return np.asarray(label(holes & (depth(~deep) <= 1.5 * DEEP + 1))[0])


def diffuse(channel: Floats) -> Floats:
    """A channel (height, width) with NaN, in which every missing pixel is the mean of its neighbours in the picture."""
    holes = np.isnan(channel)
    if holes.sum() > MOST:
        return _swept(channel, holes)
    places = np.full(channel.shape, -1)
    places[holes] = np.arange(holes.sum())
    n = int(holes.sum())
    degree, right = np.zeros(n), np.zeros(n)
    links: list[tuple[NDArray[np.int_], NDArray[np.int_]]] = []
    for axis in (0, 1):
        for one, other in ((slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1))):
            here, there = (
                ((one, slice(None)), (other, slice(None))) if axis == 0 else ((slice(None), one), (slice(None), other))
            )
            asked = holes[here]
            mine = places[here][asked]
            degree[mine] += 1
            unknown = holes[there][asked]
            right[mine[~unknown]] += channel[there][asked][~unknown]
            links.append((mine[unknown], places[there][asked][unknown]))
    rows, columns = (np.concatenate(ends) for ends in zip(*links, strict=True))
    matrix = sparse.csc_array((np.full(len(rows), -1.0), (rows, columns)), shape=(n, n)) + sparse.diags_array(degree)
    found = channel.copy()
    found[holes] = spsolve(sparse.csc_array(matrix), right)
    return found


def _swept(channel: Floats, holes: Mask) -> Floats:
    """The same by halves: a picture of half the size first, and then sweeps over this one."""
    height, width = channel.shape
    even = np.pad(channel, ((0, height % 2), (0, width % 2)), constant_values=np.nan)
    blocks = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2)
    known = np.isfinite(blocks).sum(axis=(1, 3))
    means = np.nansum(blocks, axis=(1, 3)) / np.where(known > 0, known, 1)
    half = diffuse(np.where(known > 0, means, np.nan))
    found = np.where(holes, np.kron(half, np.ones((2, 2)))[:height, :width], channel)
    for _ in range(SWEEPS):
        around = np.pad(found, 1, mode="edge")
        mean = (around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]) / 4
        found = np.where(holes, mean, found)
    return found
