"""Intervals that the eigenvalues of a kernel matrix, and their shares, are certain to lie in, given those of landmarks.

The centred kernel matrix is F Fᵀ (centred) plus a positive semi-definite rest whose trace is at most the slack s. So no
eigenvalue falls, λⱼ ≥ λ̂ⱼ, and the sum of the k largest grows by at most s (Ky Fan 1949). The k-th is largest when all s
goes into raising it together with those before it that it would overtake, up to one level, as water fills a pit:

    λₖ ≤ t  with  Σ_{j ≤ k} max(t − λ̂ⱼ, 0) = s        or        λₖ ≤ min over i ≤ k of (λ̂ᵢ + … + λ̂ₖ + s) / (k − i + 1),

which is never above λ̂ₖ + s and tighter where eigenvalues are close. Shares divide by total + s at both ends: what is
spent on raising λₖ adds as much to the total, and what is not spent there would only lower the share.

No more can be said from the trace alone: for each end there is a rest with that trace for which it is reached.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.kernel_axes import KernelAxes

Floats = NDArray[np.float64]

ROUNDING = 1e-13
"""Share of the largest eigenvalue that sums over rows and eigenvectors in float64 are wrong by, at most."""


ENTRIES = 8 * float(np.finfo(float).eps)
"""Share of the trace, before centring, that rounding of the kernel's entries may add to an eigenvalue or take away."""


def value_intervals(axes: KernelAxes) -> Floats:
    """(k, 2) least and greatest that every eigenvalue can be; NaN where nothing is known."""
    return _widened(np.stack([axes.values, _highest(axes)], axis=1), rounding(axes))


def share_intervals(axes: KernelAxes) -> Floats:
    """(k, 2) least and greatest share of the trace that every component can have."""
    ends = np.stack([axes.values, _highest(axes)], axis=1) / (axes.total + axes.slack)
    return np.clip(_widened(ends, rounding(axes) / axes.total), 0.0, 1.0)


def cumulative_intervals(axes: KernelAxes) -> Floats:
    """(k, 2) least and greatest share of the trace that the first components can have together."""
    sums = np.cumsum(axes.values)
    ends = np.stack([sums, sums + axes.slack], axis=1) / (axes.total + axes.slack)
    return np.clip(_widened(ends, rounding(axes) / axes.total), 0.0, 1.0)


def _highest(axes: KernelAxes) -> Floats:
    """(k,) greatest that every eigenvalue can be."""
    values, slack = axes.values, axes.slack
    sums = np.append(0.0, np.cumsum(values))
    highest = np.empty_like(values)
    for k in range(len(values)):
        first = np.arange(k + 1)
        highest[k] = ((sums[k + 1] - sums[first] + slack) / (k + 1 - first)).min()
    return highest


def rounding(axes: KernelAxes) -> float:
    """What float64 may have made of an eigenvalue: by sums, and by entries that centring shrinks."""
    entries = axes.total + axes.n_rows * axes.mean_square
    return ROUNDING * float(axes.values.max(initial=0.0)) + ENTRIES * entries


def _widened(ends: Floats, by: float) -> Floats:
    return np.asarray(ends + np.array([-by, by]))
