"""Compiled losses and ratios of numbers and their fits: all that multiplicative updates need of single entries."""

from __future__ import annotations

import numpy as np

from lowdim.runtime.native import Kernel
from lowdim.types import Floats

_count_ratios = Kernel("count_ratios", "X[n,p] *fitted[n,p] least_fit", gives=True)

_spectrum_ratios = Kernel("spectrum_ratios", "X[n,p] *fitted[n,p] *inverse[n,p] least_fit", gives=True)

_update = Kernel("update", "W[n,k] taken[n,k] added[n,k] tiny floors[n] by_root:int *out[n,k]")

_part_residuals = Kernel("part_residuals", "W[n,k] taken[n,k] added[n,k] *over[k] *sums[k]")


def count_ratios(X: Floats, fitted: Floats, least_fit: float) -> float:
    """fitted (n, p) ← x / wh; the Kullback–Leibler divergence."""
    return float(_count_ratios(X, fitted, least_fit))


def spectrum_ratios(X: Floats, fitted: Floats, inverse: Floats, least_fit: float) -> float:
    """fitted (n, p) ← x / (wh)² and inverse ← 1 / wh; the divergence of Itakura & Saito."""
    return float(_spectrum_ratios(X, fitted, inverse, least_fit))


def update(W: Floats, taken: Floats, added: Floats, tiny: float, floors: Floats, exponent: float, out: Floats) -> None:
    """out (n, k) ← W · (taken / added)^exponent, of which there are 1 and ½, not below the floor (n,) of its row."""
    assert exponent in (0.5, 1.0)
    _update(*map(_by_rows, (W, taken, added)), tiny, floors, exponent == 0.5, out)


def part_residuals(W: Floats, taken: Floats, added: Floats) -> Floats:
    """(k,) sums of squares of what `loss.residual` means."""
    over, sums = np.empty(W.shape[1]), np.empty(W.shape[1])
    _part_residuals(*map(_by_rows, (W, taken, added)), over, sums)
    return sums


def _by_rows(array: Floats) -> Floats:
    """The same numbers with those of a row side by side."""
    return array if array.strides[1] == array.itemsize else np.ascontiguousarray(array)
