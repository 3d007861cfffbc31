"""A first, smooth value for every missing pixel: a mean of observed ones near it, or what diffuses into a hole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.ndimage import distance_transform_edt, gaussian_filter, label
from scipy.sparse.linalg import spsolve

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

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
        return _filled(values, float(np.nanmean(values)))
    overall = float(np.nanmean(values))
    return np.stack([_filled(values[:, :, c], overall) for c in range(values.shape[2])], axis=2)


def _filled(channel: Floats, overall: float) -> Floats:
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
        filled[deep] = diffused(np.where(solid > 0, np.nan, filled))[deep]
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


def diffused(channel: Floats) -> Floats:
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
    half = diffused(np.where(known > 0, means, np.nan))
    found = np.where(holes, np.kron(half, np.ones((2, 2)))[:height, :width], channel)
    for _ in range(SWEEPS):
        around = np.pad(found, 1, mode="edge")
        mean = (around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]) / 4
        found = np.where(holes, mean, found)
    return found
