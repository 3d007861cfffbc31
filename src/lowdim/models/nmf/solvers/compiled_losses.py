"""Compiled losses and ratios of numbers and their fits: all that multiplicative updates need of single entries."""

from __future__ import annotations

from lowdim.runtime.native import Kernel
from lowdim.types import Floats

_count_ratios = Kernel("count_ratios", "X[n,p] *fitted[n,p] least_fit", gives=True)

_spectrum_ratios = Kernel("spectrum_ratios", "X[n,p] *fitted[n,p] *inverse[n,p] least_fit", gives=True)


def count_ratios(X: Floats, fitted: Floats, least_fit: float) -> float:
    """fitted (n, p) ← x / wh; the Kullback–Leibler divergence."""
    return float(_count_ratios(X, fitted, least_fit))


def spectrum_ratios(X: Floats, fitted: Floats, inverse: Floats, least_fit: float) -> float:
    """fitted (n, p) ← x / (wh)² and inverse ← 1 / wh; the divergence of Itakura & Saito."""
    return float(_spectrum_ratios(X, fitted, inverse, least_fit))
