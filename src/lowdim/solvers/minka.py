"""Minka's choice of dimension (T. Minka, "Automatic choice of dimensionality for PCA", NIPS 2000), in O(p²)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]


def minka_dimension(values: Floats, p: int, n: float) -> int:
    """The k in 1 … p − 1 with the largest evidence; `values` are the eigenvalues, in any unit, descending."""
    if p == 1:
        return 1
    return int(np.argmax(minka_evidence(values, p, n))) + 1


def minka_evidence(values: Floats, p: int, n: float) -> Floats:
    """Log evidence of k = 1 … min(p − 1, rank), up to a common constant of the unit of `values`.

    Eigenvalues that are zero are never counted as kept; ties are separated by the rounding of the largest one, as
    the Laplace approximation has no value where two kept eigenvalues are equal.
    """
    least = np.finfo(float).eps * max(p, n) * values[0]
    rank = int((values > least).sum())
    most = max(1, min(rank, p - 1))
    spectrum = np.zeros(p)
    spectrum[: min(len(values), p)] = values[:p]
    spectrum = np.maximum(spectrum, 0.0)

    k = np.arange(1, most + 1)
    kept = spectrum[:most]
    log_kept = np.log(np.maximum(kept, least if least > 0 else 1.0))
    noise = np.maximum((spectrum.sum() - np.cumsum(kept)) / (p - k), least if least > 0 else 1.0)
    inner, outer, noise_pairs = _pairs(spectrum, noise, most, least if least > 0 else 1.0)

    half = (p - np.arange(1, most + 1) + 1) / 2  # (p − i + 1) / 2: the volume of the Stiefel manifold, eq. 5 there
    log_volume = -k * np.log(2.0) + np.cumsum(gammaln(half) - half * np.log(np.pi))
    m = p * k - k * (k + 1) / 2
    log_hessian = inner + outer + noise_pairs + m * np.log(n)
    return np.asarray(
        log_volume
        - n / 2 * np.cumsum(log_kept)
        - n * (p - k) / 2 * np.log(noise)
        + (m + k) / 2 * np.log(2 * np.pi)
        - log_hessian / 2
        - k / 2 * np.log(n)
    )


def _pairs(spectrum: Floats, noise: Floats, most: int, least: float) -> tuple[Floats, Floats, Floats]:
    """The sums over pairs in log |A|, for every k at once.

    log |A| = Σ_{i ≤ k} Σ_{j > i} log (1/l_j − 1/l_i) + log (λ_i − λ_j) + log n, with l_j = λ_j for j ≤ k and the
    noise variance beyond. Cumulated over k it costs O(p²) in place of O(p³).
    """
    p = len(spectrum)
    inner = np.zeros(most)  # pairs with both kept: log (1/λ_j − 1/λ_i)
    outer = np.zeros(most)  # all pairs with i kept: log (λ_i − λ_j)
    for i in range(most):
        gaps = np.log(np.maximum(spectrum[i] - spectrum[i + 1 :], least))
        outer[i] = gaps.sum()
        before = np.maximum(spectrum[:i] - spectrum[i], least)
        own = max(spectrum[i], least)
        inner[i] = np.sum(np.log(before) - np.log(np.maximum(spectrum[:i], least)) - np.log(own))
    inverse = 1.0 / noise[:, None] - 1.0 / np.maximum(spectrum[None, :most], least)
    floor = np.finfo(float).eps / noise[:, None]
    kept = np.tril(np.log(np.maximum(inverse, floor)))
    noise_pairs = (p - np.arange(1, most + 1)) * kept.sum(axis=1)
    return np.cumsum(inner), np.cumsum(outer), noise_pairs
