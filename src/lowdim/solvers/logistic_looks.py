"""One look at rows under natural parameters: how likely they are, how far from their means, how much entries weigh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.families import Bernoulli, Family

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

COMPILED_FROM = 2_000_000
"""Entries of all rows from which compiled code saves more time than loading it takes, half a second, once."""


def pays_to_compile(n: int, p: int) -> bool:
    """Whether a block of n rows × p columns is of a source so large that compiled code is worth loading."""
    return n * p >= COMPILED_FROM // 4


@dataclass(frozen=True)
class Look:
    """What Newton's method needs to know of rows (n, p); entries that are missing (NaN) count for nothing."""

    loss: Floats
    """(n,) Σ A(θ) − x θ over the entries of a row."""
    apart: Floats
    """(n, p) mean − x: the gradient by θ."""
    weight: Singles
    """(n, p) A″(θ). Single precision is enough for what only scales steps, and twice as fast to multiply."""

    def __getitem__(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Look:
        return Look(self.loss[rows], self.apart[rows], self.weight[rows])

    def put(self, rows: NDArray[np.intp], other: Look) -> None:
        """Overwrite some rows."""
        self.loss[rows], self.apart[rows], self.weight[rows] = other.loss, other.apart, other.weight


def look(family: Family, x: Floats, theta: Floats, compiled: bool = False) -> Look:
    """At rows (n, p) of float64 under parameters of the same shape."""
    if compiled and isinstance(family, Bernoulli):
        return _look_compiled(x, theta)
    mean = family.mean(theta)
    with np.errstate(over="ignore", invalid="ignore"):  # parameters so large that no step will accept them
        apart, loss, weight = mean - x, family.loss(x, theta), family.variance(mean).astype(np.float32)
    missing = np.isnan(x)
    if missing.any():
        apart[missing], loss[missing], weight[missing] = 0.0, 0.0, 0.0
    return Look(loss.sum(axis=1), apart, weight)


def _look_compiled(x: Floats, theta: Floats) -> Look:
    from lowdim.solvers.logistic_kernels import look_at_coins  # loads numba

    found = Look(np.empty(len(x)), np.empty(x.shape), np.empty(x.shape, dtype=np.float32))
    look_at_coins(x, np.ascontiguousarray(theta), found.loss, found.apart, found.weight)
    return found
