"""A symmetric matrix that was formed already, as something an iterative solver can multiply with."""

from __future__ import annotations

from typing import final

import numpy as np

from lowdim.matrices.matrix import Matrix
from lowdim.matrices.products import Floats
from lowdim.matrices.rounding import Rounding
from lowdim.sources.workers import in_order

SLAB = 1000
"""Rows of S that one thread multiplies with at a time."""


@final
class FormedMatrix(Matrix):
    """S = YᵀY, (p, p)."""

    def __init__(self, S: Floats, rounding: Rounding):
        self.S = S
        self.passes = 0
        self._rounding = rounding

    @property
    def n_columns(self) -> int:
        """Number of columns, p."""
        return len(self.S)

    @property
    def total(self) -> float:
        """Trace of S."""
        return float(self.S.trace())

    @property
    def rounding(self) -> Rounding:
        """Probable error of S."""
        return self._rounding

    def normal_times(self, Q: Floats) -> Floats:
        """Q S, by slabs of rows of S (it is symmetric), so that all cores share the work."""
        slabs = (self.S[start : start + SLAB] for start in range(0, len(self.S), SLAB))
        return np.concatenate(list(in_order(lambda slab: Q @ slab.T, slabs)), axis=1)
