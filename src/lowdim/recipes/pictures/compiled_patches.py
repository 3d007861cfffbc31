"""Compiled loops over patches: distances, groups, and patches filled by those most like them."""

from __future__ import annotations

import numpy as np

from lowdim.models.ppca_mixture.compiled_conditionals import padded, room_of, step_of
from lowdim.runtime.native import Kernel, scratch
from lowdim.types import Floats, Indices, Singles

_distances = Kernel(
    "distances",
    "planes[c,height,length]:float top:int lefts[r]:int64 width:int reach:int *out[r,square]:float "
    "*columns[length]:float *sums[length]:float",
)

_gather = Kernel(
    "gather_patches",
    "planes[c,height,length] tops[groups,n]:int64 lefts[groups,n]:int64 width:int *out[groups,c,n,square]",
)

_scatter = Kernel(
    "scatter_patches",
    "values[groups,c,n,square] variances[groups,c,square] weights[groups,c,square] tops[groups,n]:int64 "
    "lefts[groups,n]:int64 width:int *out[three,c,height,length]",
)

_fill_by_similar = Kernel(
    "fill_by_similar",
    "values[height,length,channels] filled[height,length,channels] unsure[height,length,channels] corners[r,2]:int64 "
    "width:int reach:int members:int predicted:int common[p,p] strength doubt[p,p] noise "
    "*weighed[height,length,channels] *weights[height,length,channels] *counts[height,length,channels] "
    "*work[room] *places[both]:int64 *at[around]:int64",
)


def distances(planes: Singles, top: int, lefts: Indices, width: int, reach: int, out: Singles) -> None:
    """Squared distances of the patches at (top, lefts) to all at most `reach` pixels away, infinite off the picture.

    planes is (c, height, width), out (len(lefts), (2 reach + 1)²). All references move together by one displacement at
    a time, so that the innermost loops run along rows of the picture.
    """
    length = planes.shape[2]
    assert out.shape[1] == (2 * reach + 1) ** 2
    room = scratch(length, dtype=np.float32), scratch(length, dtype=np.float32)
    _distances(planes, top, lefts, width, reach, out, *room)


def gather(planes: Floats, tops: Indices, lefts: Indices, width: int, out: Floats) -> None:
    """Patches of planes (c, height, width) at places (groups, n), to out (groups, c, n, width²)."""
    assert out.shape[3] == width**2
    _gather(planes, tops, lefts, width, out)


def scatter(
    values: Floats, variances: Floats, weights: Floats, tops: Indices, lefts: Indices, width: int, out: Floats
) -> None:
    """Add groups at places (groups, n) to out (3, c, height, width): weights, weighted values and second moments.

    values is (groups, c, n, width²); variances and weights, the same for all patches of a group, (groups, c, width²).
    """
    assert (len(out), values.shape[3]) == (3, width**2)
    _scatter(values, variances, weights, tops, lefts, width, out)


def fill_by_similar(
    values: Floats,
    filled: Floats,
    unsure: Floats,
    corners: Indices,
    width: int,
    reach: int,
    members: int,
    predicted: int,
    common: Floats,
    strength: float,
    doubt: Floats,
    noise: float,
    weighed: Floats,
    weights: Floats,
    counts: Floats,
) -> None:
    """Lay what is expected of patches on a canvas (height, width, channels): Σ weight · mean, Σ weight, count.

    values: pixels with NaN where they are missing; filled: the picture as it is thought to be by now; unsure: its
    variances. Each patch at a corner (row, column) gets the Gaussian of the `members` patches nearest to it within
    `reach` pixels, and so do the first `predicted` of these that have holes. common (p, p) counts as `strength` more
    members, scaled to the variance of the group; doubt (p, p) is the form of the covariance of filled patches about
    the true ones, which is added to that among the filled ones.
    """
    p, around = len(common), (2 * reach + 1) ** 2
    assert p == width**2 * values.shape[2]
    assert width <= min(values.shape[:2])
    size = room_of(p) + padded(p) * (2 * step_of(p) + 4) + padded(around) + min(members, around) * step_of(p)
    room = scratch(size), scratch(2 * p, dtype=np.int64), scratch(around, dtype=np.int64)
    settings = width, reach, members, predicted, common, strength, doubt, noise
    _fill_by_similar(values, filled, unsure, corners, *settings, weighed, weights, counts, *room)
