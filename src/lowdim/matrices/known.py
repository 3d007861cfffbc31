"""Rows that are gone, of which the moments are known: after partial_fit and merge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np

from lowdim.errors import NeedsAnotherPass
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.moments import Moments
from lowdim.matrices.scaling import Scaling
from lowdim.sources.source import Block, Source


@final
class KnownMoments(RowBlocks):
    """A matrix of which only count, mean and scatter are left."""

    def __init__(self, moments: Moments, scaling: Scaling, columns: tuple[str, ...] | None):
        super().__init__(_Gone(moments.n_rows, len(moments.mean), columns), scaling)
        self.set_moments(moments)
        self.passes = 1


@final
class _Gone(Source):
    repeatable = False
    dtype = np.dtype(float)

    def __init__(self, n_rows: int, n_columns: int, columns: tuple[str, ...] | None):
        self.n_rows, self.n_columns, self.columns = n_rows, n_columns, columns

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        raise NeedsAnotherPass("Rows given to partial_fit are not kept, so they cannot be read again.")

    def describe(self) -> str:
        return f"{self.n_rows:,} rows × {self.n_columns:,} columns, batch by batch"
