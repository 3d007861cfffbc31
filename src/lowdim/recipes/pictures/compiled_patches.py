"""Compiled loops over patches: distances, groups, and patches filled by those most like them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from lowdim.models.ppca_mixture.compiled_conditionals import ANY_ORDER, expect_from_seen, expect_hidden, split
from lowdim.types import Floats, Indices, Singles

# Compiled loops over patches: distances to those around, groups of them cut out, and groups laid back.
#
# Imported only where they are used, because loading the compiler takes a moment.

FAST_SUMS = {"reassoc", "contract", "nsz"}


@numba.njit(nogil=True, cache=True, fastmath=FAST_SUMS)
def distances(planes: Singles, top: int, lefts: Indices, width: int, reach: int, out: Singles) -> None:
    """Squared distances of the patches at (top, lefts) to all at most `reach` pixels away, infinite off the picture.

    planes is (c, height, width), out (len(lefts), (2 reach + 1)²). All references move together by one displacement at
    a time, so that the innermost loops run along rows of the picture.
    """
    channels, height, length = planes.shape
    side = 2 * reach + 1
    columns, sums = np.empty(length, np.float32), np.empty(length, np.float32)
    out[:] = np.inf
    for dy in range(max(-reach, -top), min(reach, height - width - top) + 1):
        for dx in range(-reach, reach + 1):
            first, last = max(0, -dx), min(length, length - dx)
            n = last - first
            if n < width:
                continue
            columns[:n] = 0
            for c in range(channels):
                for i in range(width):
                    here, there = planes[c, top + i, first:last], planes[c, top + dy + i, first + dx : last + dx]
                    for x in range(n):
                        apart = here[x] - there[x]
                        columns[x] += apart * apart
            n += 1 - width
            sums[:n] = columns[:n]
            for j in range(1, width):
                for x in range(n):
                    sums[x] += columns[x + j]
            place = (dy + reach) * side + dx + reach
            for r in range(len(lefts)):
                if first <= lefts[r] < first + n:
                    out[r, place] = sums[lefts[r] - first]


@numba.njit(nogil=True, cache=True)
def gather(planes: Floats, tops: Indices, lefts: Indices, width: int, out: Floats) -> None:
    """Patches of planes (c, height, width) at places (groups, n), to out (groups, c, n, width²)."""
    groups, n = tops.shape
    for g in range(groups):
        for c in range(len(planes)):
            for m in range(n):
                for i in range(width):
                    for j in range(width):
                        out[g, c, m, i * width + j] = planes[c, tops[g, m] + i, lefts[g, m] + j]


@numba.njit(nogil=True, cache=True)
def scatter(
    values: Floats, variances: Floats, weights: Floats, tops: Indices, lefts: Indices, width: int, out: Any
) -> None:
    """Add groups at places (groups, n) to out (3, c, height, width): weights, weighted values and second moments.

    values is (groups, c, n, width²); variances and weights, the same for all patches of a group, (groups, c, width²).
    """
    groups, n = tops.shape
    for g in range(groups):
        for c in range(values.shape[1]):
            for m in range(n):
                for i in range(width):
                    for j in range(width):
                        entry, y, x = i * width + j, tops[g, m] + i, lefts[g, m] + j
                        value, weight = values[g, c, m, entry], weights[g, c, entry]
                        out[0, c, y, x] += weight
                        out[1, c, y, x] += weight * value
                        out[2, c, y, x] += weight * (variances[g, c, entry] + value * value)


# Compiled: patches filled by the Gaussian of the patches most like them. Imported only where it is used.


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
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
    channels = values.shape[2]
    p = width * width * channels
    most = (2 * reach + 1) ** 2
    distances, tops, lefts = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    group, mean, cov = np.empty((members, p)), np.empty(p), np.empty((p, p))
    seen, hidden = np.empty(p, np.int64), np.empty(p, np.int64)
    L, B, v, apart, x = np.empty((p, p)), np.empty((p, p)), np.empty(p), np.empty(p), np.empty(p)
    mu, var = np.empty(p), np.empty(p)
    for r in range(len(corners)):
        top, left = corners[r]
        found = _near(filled, top, left, width, reach, distances, tops, lefts)
        n = min(members, found)
        order = np.argsort(distances[:found])[:n]
        for i in range(n):
            _cut(filled, tops[order[i]], lefts[order[i]], width, group[i])
        _centre(group, n, mean)
        here = group[:n]
        cov[:] = here.T @ here
        _regularise(cov, n, _mean_of(unsure, top, left, width), common, strength, doubt, noise)
        precision, inverted = cov, False
        for q in range(min(predicted, n)):
            y, z = tops[order[q]], lefts[order[q]]
            _cut(values, y, z, width, x)
            m = split(x, seen, hidden)
            if m == 0 or m == p:
                continue  # nothing is known, or nothing asked
            if 2 * m <= p:
                expect_from_seen(x, mean, cov, seen, m, L, B, v, mu, var)
            else:
                if not inverted:
                    precision, inverted = np.linalg.inv(cov), True
                expect_hidden(x, mean, precision, 0.0, hidden, p - m, L, B, v, apart, mu, var)
            _lay(mu, var, noise, y, z, width, weighed, weights, counts)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _near(
    picture: Floats, top: int, left: int, width: int, reach: int, distances: Floats, tops: Indices, lefts: Indices
) -> int:
    """Square distances to all patches within reach, and their corners; gives how many there are."""
    height, length, channels = picture.shape
    found = 0
    for y in range(max(0, top - reach), min(height - width, top + reach) + 1):
        for z in range(max(0, left - reach), min(length - width, left + reach) + 1):
            total = 0.0
            for i in range(width):
                a, b = picture[top + i], picture[y + i]
                for j in range(width):
                    for c in range(channels):
                        apart = a[left + j, c] - b[z + j, c]
                        total += apart * apart
            distances[found], tops[found], lefts[found] = total, y, z
            found += 1
    return found


@numba.njit(nogil=True, cache=True)
def _cut(picture: Floats, top: int, left: int, width: int, out: Floats) -> None:
    place = 0
    for i in range(width):
        for j in range(width):
            for c in range(picture.shape[2]):
                out[place] = picture[top + i, left + j, c]
                place += 1


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _centre(group: Floats, n: int, mean: Floats) -> None:
    """Take the mean of the first n rows off them."""
    mean[:] = 0.0
    for i in range(n):
        for j in range(len(mean)):
            mean[j] += group[i, j]
    for j in range(len(mean)):
        mean[j] /= n
    for i in range(n):
        for j in range(len(mean)):
            group[i, j] -= mean[j]


@numba.njit(nogil=True, cache=True)
def _mean_of(picture: Floats, top: int, left: int, width: int) -> float:
    total = 0.0
    for i in range(width):
        for j in range(width):
            for c in range(picture.shape[2]):
                total += picture[top + i, left + j, c]
    mean: float = total / (width * width * picture.shape[2])
    return mean


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _regularise(
    cov: Floats, n: int, unsure: float, common: Floats, strength: float, doubt: Floats, noise: float
) -> None:
    """From the scatter of n members to the covariance of the group.

    common and doubt have mean diagonal one; the first is brought to the variance of the group.
    """
    p = len(cov)
    own = 0.0
    for j in range(p):
        own += cov[j, j]
    scale = own / (n * p) + unsure
    factor = 1.0 / (n + strength)
    for i in range(p):
        for j in range(p):
            cov[i, j] = (cov[i, j] + n * unsure * doubt[i, j] + strength * scale * common[i, j]) * factor
        cov[i, i] += noise


@numba.njit(nogil=True, cache=True)
def _lay(
    mu: Floats,
    var: Floats,
    noise: float,
    top: int,
    left: int,
    width: int,
    weighed: Floats,
    weights: Floats,
    counts: Floats,
) -> None:
    place = 0
    for i in range(width):
        for j in range(width):
            for c in range(weights.shape[2]):
                weight = 1.0 / (var[place] + noise)
                weighed[top + i, left + j, c] += weight * mu[place]
                weights[top + i, left + j, c] += weight
                counts[top + i, left + j, c] += 1.0
                place += 1
