"""What resamples say of axes: turned next to those of all rows, how far they turned, and intervals of their entries.

The order of components is that of the resample: the first axis of a resample is its direction of largest variance,
whatever direction that is. Of two components with nearly equal variances the one that comes first changes from resample
to resample, and the interval of an entry then reaches over the whole plane of the two, as no direction of that plane is
known to come first. Matching them by their directions would hide it. Only the sign, which no data determine, is taken
from the axes of all rows. `procrustes` turns all kept axes together instead (Schönemann 1966): its intervals are those
of coordinates in the kept space and say how sure that space is, not each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from lowdim.results.uncertainty import Intervals, Stability
from lowdim.runtime.threads import in_order
from lowdim.solvers.resampling.bootstrap import Resamples
from lowdim.types import Floats, Mask

BASIS = "exchangeable rows"
"""What intervals from rows drawn anew, or from what each row adds, rest on."""

BLOCK_BYTES = 4 * 2**20
"""Of draws that are made and sorted at a time, by each thread: what intervals take beside their ends, for any p."""


@dataclass(frozen=True)
class Alignment:
    """How the axes of every resample are turned."""

    turns: Floats
    """(B, k, k) orthogonal, NaN where a resample has fewer directions: new axis j is Σ_i axis i · turns[i, j]."""
    stability: Stability


def align(overlaps: Floats, level: float, procrustes: bool) -> Alignment:
    """From cosines (B, k, k) between axes of all rows (first) and of each resample (second)."""
    k = overlaps.shape[1]
    known = np.asarray(np.isfinite(overlaps).all(axis=(1, 2)))
    diagonal = np.einsum("bii->bi", overlaps)
    if procrustes:
        turns = np.full_like(overlaps, np.nan)
        U, _, Vt = np.linalg.svd(np.swapaxes(overlaps[known], 1, 2))
        turns[known] = U @ Vt
    else:
        signs = np.where(diagonal < 0, -1.0, 1.0)
        turns = signs[:, :, None] * np.eye(k)
    return Alignment(turns, _measure_stability(overlaps, known, level))


def _measure_stability(overlaps: Floats, known: Mask, level: float) -> Stability:
    """How often each component kept its place, and how far axes and planes turned, in degrees."""
    k = overlaps.shape[1]
    if not known.any():
        nothing = np.full(k, np.nan)
        return Stability(nothing, nothing, nothing, nothing)
    sizes = np.minimum(np.abs(overlaps[known]), 1.0)
    places = np.array([scipy.optimize.linear_sum_assignment(-one)[1] for one in sizes])
    angles = np.degrees(np.arccos(np.einsum("bii->bi", sizes)))
    planes = np.stack([measure_largest_angle(overlaps[known][:, : i + 1, : i + 1]) for i in range(k)], axis=1)
    return Stability(
        kept=(places == np.arange(k)).mean(axis=0),
        angle=np.median(angles, axis=0),
        angle_upper=np.quantile(angles, level, axis=0),
        plane_upper=np.quantile(planes, level, axis=0),
    )


def measure_largest_angle(overlaps: Floats) -> Floats:
    """(B,) largest principal angle between the spaces of the first axes, in degrees (Björck & Golub 1973)."""
    least = np.linalg.svd(overlaps, compute_uv=False)[:, -1]
    return np.asarray(np.degrees(np.arccos(np.clip(least, 0.0, 1.0))))


def compute_overlaps(found: Resamples, axes: Floats) -> Floats:
    """(B, k, k) cosines between axes (k, p) of all rows and those of each resample."""
    sample = found.sample
    if sample.wide and not sample.rescale:  # an axis is Yᵀ times its coefficients: the scores of all rows are enough
        return np.asarray(np.einsum("ni,jbn->bij", sample.Y @ axes.T, found.axes, optimize=True))
    result = np.zeros((found.count, *(len(axes),) * 2))
    step = max(1, BLOCK_BYTES // (8 * found.count))
    for columns in (slice(start, start + step) for start in range(0, axes.shape[1], step)):
        for j, which in enumerate(found.axes):
            result[:, :, j] += (axes[:, columns] @ found.components(which, columns)).T
    return result


def axis_intervals(found: Resamples, turns: Floats, gains: Floats, estimate: Floats, level: float) -> Intervals:
    """Of entries of axes (k, p), each of length `gains` (B, k) in a resample before it is turned."""

    def draws(j: int) -> Callable[[slice], Floats]:
        which = _turn(found.axes, gains, turns, j)
        return lambda columns: found.components(which, columns)

    return make_intervals(draws, estimate, found.count, level)


def score_intervals(found: Resamples, turns: Floats, gains: Floats, estimate: Floats, level: float) -> Intervals:
    """Of scores (k, n) of all rows, `gains` (B, k) times as large as lengths along the axes."""
    Y = found.sample.Y

    def draws(j: int) -> Callable[[slice], Floats]:
        which = _turn(found.scores, gains, turns, j)
        if found.sample.wide:
            return lambda rows: np.ascontiguousarray(which[:, rows].T)
        offset = _turn(found.offsets[:, :, None], gains, turns, j)[:, 0]
        return lambda rows: np.asarray(Y[rows] @ which.T - offset)

    return make_intervals(draws, estimate, found.count, level)


def _turn(parts: Floats, gains: Floats, turns: Floats, j: int) -> Floats:
    """(B, q) coefficients of the j-th axis after turning, of (k, B, q)."""
    by = gains * turns[:, :, j]
    used = [i for i in range(len(parts)) if by[:, i].any()]
    return np.asarray(sum((parts[i] * by[:, i, None] for i in used), np.zeros(parts.shape[1:])))


def make_intervals(
    draws: Callable[[int], Callable[[slice], Floats]], estimate: Floats, count: int, level: float
) -> Intervals:
    """Intervals of numbers (k, m) whose draws (rows, B), component by component, are made a stretch at a time."""
    made = np.empty((4, *estimate.shape))
    step = max(1, BLOCK_BYTES // (8 * count))

    def stretches() -> Iterator[tuple[Callable[[slice], Floats], int, slice]]:
        for j in range(estimate.shape[0]):
            drawn = draws(j)
            yield from ((drawn, j, slice(start, start + step)) for start in range(0, estimate.shape[1], step))

    def work(place: tuple[Callable[[slice], Floats], int, slice]) -> None:
        drawn, j, some = place
        one = percentiles(drawn(some), estimate[j, some], level)
        made[:, j, some] = one.standard_error, one.lower, one.upper, one.bias

    for _ in in_order(work, stretches()):
        pass
    return Intervals(estimate, made[0], made[1], made[2], made[3], BASIS)


def percentiles(draws: Floats, estimate: Floats, level: float) -> Intervals:
    """Percentile intervals (Efron 1979) of numbers (m,) from draws (m, B), which are sorted in place; NaN where a draw
    is missing."""
    count = draws.shape[1]
    draws -= estimate[:, None]  # about the estimate no digits are lost, and one pass gives both moments
    bias = draws @ np.full(count, 1 / count)
    squares = np.einsum("mb,mb->m", draws, draws) - count * bias**2
    draws.sort(axis=1)  # NaN comes last
    missing = np.isnan(draws[:, -1])
    lower, upper = (
        np.where(missing, np.nan, estimate + _interpolate_quantile(draws, share))
        for share in (0.5 - level / 2, 0.5 + level / 2)
    )
    return Intervals(estimate, np.sqrt(np.maximum(squares, 0.0) / (count - 1)), lower, upper, bias, BASIS)


def _interpolate_quantile(ordered: Floats, share: float) -> Floats:
    """(m,) quantile between draws in order, (m, B): one more number of their kind is below the i-th of them with the
    probability i / (B + 1), which with few draws is less than i / B."""
    place = min(max(share * (ordered.shape[1] + 1) - 1, 0.0), ordered.shape[1] - 1.0)
    first = int(np.floor(place))
    last = min(first + 1, ordered.shape[1] - 1)
    return np.asarray(ordered[:, first] + (place - first) * (ordered[:, last] - ordered[:, first]))
