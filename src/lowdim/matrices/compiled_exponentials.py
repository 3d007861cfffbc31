"""Compiled exponentials: NumPy's take longer than the product that makes the exponents."""

from __future__ import annotations

from lowdim.runtime.native import Kernel
from lowdim.types import Floats

_powers_of_sums = Kernel("powers_of_sums", "*values[n,m] of_row[n] of_column[m] factor")


def powers_of_sums(values: Floats, of_row: Floats, of_column: Floats, factor: float) -> None:
    """values[i, j] ← factor · 2^min(values[i, j] + of_row[i] + of_column[j], 0), in place; no NaN may be there."""
    _powers_of_sums(values, of_row, of_column, factor)
