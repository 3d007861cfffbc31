"""Columns of a kernel matrix: the kernel of any rows with some that stay the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.distances import LOST
from lowdim.matrices.kernel_functions import Gaussian, Kernel

Floats = NDArray[np.float64]

LOG2E = float(np.log2(np.e))

COMPILED_FROM = 10_000_000
"""Values of a kernel from which compiled exponentials pay: NumPy takes as long for these as loading the compiler."""


@dataclass(frozen=True)
class KernelColumns:
    """The kernel with m rows of p columns."""

    kernel: Kernel
    basis: Floats
    """(m, p)"""
    compiled: bool = False
    """Whether exponentials are compiled ones."""

    def of(self, rows: Floats) -> Floats:
        """(n, m) kernel of rows (n, p) with those of the basis; a new array in row order."""
        if self.compiled and isinstance(self.kernel, Gaussian):
            return self._gaussian(self.kernel, rows)
        return np.ascontiguousarray(self.kernel.between(rows, self.basis))

    def _gaussian(self, kernel: Gaussian, rows: Floats) -> Floats:
        """2^(2g a·b − g|a|² − g|b|²), g = γ log₂e, a, b rows less the middle of the basis: a product, a pass."""
        middle, ahead, of_column = self._prepared
        apart = rows - middle
        of_row = -LOG2E * kernel.gamma * np.einsum("ij,ij->i", apart, apart)
        farthest = -float(of_row.min(initial=0.0) + of_column.min(initial=0.0))
        if np.finfo(float).eps * farthest > LOST:  # then |a|² and |b|² share digits that count
            return kernel.between(rows, self.basis)
        from lowdim.matrices.exponential import powers_of_sums  # loads numba

        values: Floats = apart @ ahead
        powers_of_sums(values, of_row, of_column, kernel.factor)
        return values

    @cached_property
    def _prepared(self) -> tuple[Floats, Floats, Floats]:
        """Middle of the basis (p,), 2g bᵀ (p, m) and −g|b|² (m,)."""
        assert isinstance(self.kernel, Gaussian)
        g, middle = LOG2E * self.kernel.gamma, self.basis.mean(axis=0)
        B = self.basis - middle
        return middle, np.ascontiguousarray(2 * g * B.T), -g * np.einsum("ij,ij->i", B, B)
