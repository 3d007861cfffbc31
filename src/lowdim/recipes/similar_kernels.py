"""Compiled: patches filled by the Gaussian of the patches most like them. Imported only where it is used."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.hidden_kernels import ANY_ORDER, expect_from_seen, expect_hidden, split

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def fill_by_similar(
    values: Floats,
    filled: Floats,
    unsure: Floats,
    corners: Places,
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
    picture: Floats, top: int, left: int, width: int, reach: int, distances: Floats, tops: Places, lefts: Places
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
