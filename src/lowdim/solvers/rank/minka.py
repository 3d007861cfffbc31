"""Minka's choice of dimension (T. Minka, "Automatic choice of dimensionality for PCA", NIPS 2000), in O(p²)."""

from __future__ import annotations

import numpy as np
import scipy

from lowdim.types import EPS, Floats

LOG_CURVATURE_OF_EQUALS = float(np.log(2 / np.pi))
"""Logarithm of the curvature of a pair of equal variances. The Laplace approximation √(2π/A) of an integral over the
angle between two axes grows without end as they become exchangeable; the angle has only a half turn: √(2π/A) = π."""

PAIRS_AT_A_TIME = 2**22
"""Pairs that are worked on at a time."""


def minka_dimension(values: Floats, p: int, n: float) -> int:
    """The k in 1 … p − 1 with the largest evidence; `values` are the eigenvalues, in any unit, descending."""
    if p == 1:
        return 1
    return int(np.argmax(minka_evidence(values, p, n))) + 1


def minka_evidence(values: Floats, p: int, n: float, most: int | None = None) -> Floats:
    """Log evidence of k = 1, 2, …, up to a common constant of the unit of `values`.

    k ends at p − 1, at the rank (eigenvalues that are zero are never counted as kept), and one below it where the n
    rows are the reason of the rank, as noise would seem to be zero there.
    """
    least = max(EPS * max(p, n) * float(values[0]), float(np.finfo(float).tiny))
    spectrum = np.zeros(p)
    spectrum[: min(len(values), p)] = np.maximum(values[:p], 0.0)
    rank = int((spectrum > least).sum())
    possible = min(rank - 1 if rank >= n - 1 else rank, p - 1)
    most = max(1, possible if most is None else min(possible, most))

    k = np.arange(1, most + 1)
    kept = np.maximum(spectrum[:most], least)
    noise = np.maximum((spectrum.sum() - np.cumsum(spectrum[:most])) / (p - k), least)
    half = (p - k + 1) / 2  # (p − i + 1) / 2: the volume of the Stiefel manifold
    log_volume = -k * np.log(2.0) + np.cumsum(scipy.special.gammaln(half) - half * np.log(np.pi))
    m = p * k - k * (k + 1) / 2
    return np.asarray(
        log_volume
        - n / 2 * np.cumsum(np.log(kept))
        - n * (p - k) / 2 * np.log(noise)
        + (m + k) / 2 * np.log(2 * np.pi)
        - _log_hessian(spectrum, noise, n, least) / 2
        - k / 2 * np.log(n)
    )


def _log_hessian(spectrum: Floats, noise: Floats, n: float, least: float) -> Floats:
    """(most,) log |A| for every k at once.

    log |A| = Σ_{i ≤ k} Σ_{j > i} log (1/l_j − 1/l_i) + log (λ_i − λ_j) + log n, with l_j = λ_j for j ≤ k and the
    noise variance beyond. What does not depend on k is cumulated, so that it costs O(p²) in place of O(p³).
    """
    p, most = len(spectrum), len(noise)
    k = np.arange(1, most + 1)
    # the last that is equal to each, but for rounding: -spectrum ascends
    ends = np.searchsorted(-spectrum, least - spectrum[:most], side="right")
    kept = np.maximum(spectrum[:most], least)
    logs = np.log(kept)
    pairs, across = np.empty(most), np.empty(most)
    for rows in _cut_rows(most, p):
        i = np.arange(most)[rows, None]
        gaps = spectrum[rows, None] - spectrum
        later = np.arange(p) >= ends[rows, None]
        pairs[rows] = np.where(later, np.log(np.where(later, gaps, 1.0)), 0.0).sum(axis=1)
        pairs[rows] += (ends[rows] - k[rows]) * (LOG_CURVATURE_OF_EQUALS - np.log(n))
        # (1/λ_i − 1/λ_j) of the kept j before i, that are larger
        earlier = ends <= i
        steep = np.log(np.where(earlier, -gaps[:, :most], 1.0)) - logs[rows, None] - logs
        across[rows] = np.where(earlier, steep, 0.0).sum(axis=1)
    beyond = np.empty(most)
    for rows in _cut_rows(most, most):
        steep = np.maximum(1 / noise[rows, None] - 1 / kept, EPS / noise[rows, None])
        other = p - np.maximum(k[rows, None], ends)  # how many variances beyond k are not equal to the i-th
        beyond[rows] = np.where(np.arange(most) < k[rows, None], other * np.log(steep), 0.0).sum(axis=1)
    m = p * k - k * (k + 1) / 2
    return np.asarray(np.cumsum(pairs) + np.cumsum(across) + beyond + m * np.log(n))


def _cut_rows(count: int, width: int) -> list[slice]:
    """Rows of a matrix of so many, a few at a time."""
    step = max(1, PAIRS_AT_A_TIME // width)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]
