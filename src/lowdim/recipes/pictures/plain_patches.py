"""What the compiled loops over patches do, in NumPy: for machines without them, and to hold them against."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from lowdim.models.ppca_mixture.solvers import condition
from lowdim.types import Array, Floats, Indices, Singles


def distances(planes: Singles, top: int, lefts: Indices, width: int, reach: int, out: Singles) -> None:
    """As `compiled_patches.distances`."""
    _, height, length = planes.shape
    out[:] = np.inf
    for dy in range(max(-reach, -top), min(reach, height - width - top) + 1):
        for dx in range(max(-reach, width - length), min(reach, length - width) + 1):
            first, last = max(0, -dx), min(length, length - dx)
            here = planes[:, top : top + width, first:last]
            there = planes[:, top + dy : top + dy + width, first + dx : last + dx]
            sums = sliding_window_view(((here - there) ** 2).sum(axis=(0, 1)), width).sum(axis=1)
            inside = (first <= lefts) & (lefts < first + len(sums))
            out[inside, (dy + reach) * (2 * reach + 1) + dx + reach] = sums[lefts[inside] - first]


def gather(planes: Floats, tops: Indices, lefts: Indices, width: int, out: Floats) -> None:
    """As `compiled_patches.gather`."""
    out[:] = _patches(planes, width)[tops, lefts].transpose(0, 2, 1, 3, 4).reshape(out.shape)


def scatter(
    values: Floats, variances: Floats, weights: Floats, tops: Indices, lefts: Indices, width: int, out: Floats
) -> None:
    """As `compiled_patches.scatter`."""
    each, spread = np.broadcast_to(weights[:, :, None], values.shape), variances[:, :, None]
    inside = np.arange(width)[:, None] * out.shape[3] + np.arange(width)
    places = ((tops * out.shape[3] + lefts)[:, :, None] + inside.ravel()).ravel()
    for canvas, sums in zip(out, (each, each * values, each * (spread + values**2)), strict=True):
        for c, plane in enumerate(canvas):
            plane += np.bincount(places, sums[:, c].ravel(), plane.size).reshape(plane.shape)


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
    """As `compiled_patches.fill_by_similar`."""
    p = len(common)
    seen, known, open_ = (_patches(np.moveaxis(one, 2, 0), width) for one in (values, filled, unsure))
    for top, left in corners:
        tops, lefts = (one.ravel() for one in np.broadcast_arrays(*_around(known.shape[:2], top, left, reach)))
        around = known[tops, lefts]
        order = np.argsort(((around - known[top, left]) ** 2).sum(axis=(1, 2, 3)), kind="stable")[:members]
        group = _rows(around[order])
        n, mean = len(group), group.mean(axis=0)
        scatter, doubted = (group - mean).T @ (group - mean), open_[top, left].mean()
        scale = np.trace(scatter) / (n * p) + doubted
        cov = (scatter + n * doubted * doubt + strength * scale * common) / (n + strength) + noise * np.eye(p)
        for y, z in zip(tops[order[:predicted]], lefts[order[:predicted]], strict=True):
            x = _rows(seen[y, z][None])[0]
            if not 0 < np.isfinite(x).sum() < p:
                continue  # nothing is known, or nothing asked
            _, mu, left_over = condition(x, mean, cov)
            weight = 1.0 / (np.maximum(np.diag(left_over), 0.0) + noise)
            here = slice(y, y + width), slice(z, z + width)
            form = (width, width, values.shape[2])
            weighed[here] += (weight * mu).reshape(form)
            weights[here] += weight.reshape(form)
            counts[here] += 1.0


def _patches(planes: Array, width: int) -> Array:
    """(tops, lefts, c, width, width) view of planes (c, height, width)."""
    return sliding_window_view(planes, (width, width), axis=(1, 2)).transpose(1, 2, 0, 3, 4)


def _rows(patches: Array) -> Array:
    """(n, p) patches (n, c, width, width) as rows, channels last."""
    return patches.transpose(0, 2, 3, 1).reshape(len(patches), -1)


def _around(shape: tuple[int, ...], top: int, left: int, reach: int) -> tuple[Indices, Indices]:
    """Corners at most `reach` pixels away, as a column and a row."""
    tops, lefts = (
        np.arange(max(0, at - reach), min(count - 1, at + reach) + 1)
        for at, count in zip((top, left), shape, strict=True)
    )
    return tops[:, None], lefts[None, :]
