"""Genotypes of made-up populations, whose structure is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def balding_nichols(
    sizes: tuple[int, ...], snps: int, fst: float, seed: int = 0, missing: float = 0.0
) -> NDArray[np.int8]:
    """(Σ sizes, snps) calls of populations that drifted from one (Balding & Nichols 1995), −1 where missing."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, snps)
    spread = (1 - fst) / fst
    parts = [rng.binomial(2, rng.beta(p * spread, (1 - p) * spread), size=(n, snps)) for n in sizes]
    calls = np.concatenate(parts).astype(np.int8)
    calls[rng.random(calls.shape) < missing] = -1
    return calls


def patterson(calls: NDArray[np.int8], price: bool = False) -> NDArray[np.float64]:
    """(g − 2p) / √(p (1 − p)), zero where missing, written as in the paper; SNPs that do not vary are left out."""
    g = np.where(calls < 0, np.nan, calls.astype(float))
    mean, seen = np.nanmean(g, axis=0), (~np.isnan(g)).sum(axis=0)
    p = (1 + np.nansum(g, axis=0)) / (2 + 2 * seen) if price else mean / 2
    varies = np.nanmax(g, axis=0) > np.nanmin(g, axis=0)
    Z = ((g - mean) / np.sqrt(np.where(varies, p * (1 - p), 1.0)))[:, varies]
    return np.where(np.isnan(Z), 0.0, Z)
