"""Sparse rows whose entries that are not stored are not zeros but unknown: ratings that nobody gave, say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np

from lowdim.sources.source import Block, Source


@final
class UnstoredMissing(Source):
    """Another source, sparse, as dense rows with NaN where nothing is stored; stored zeros are zeros."""

    repeatable = True

    def __init__(self, source: Source):
        self._source = source
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.columns, self.title, self.weighted = source.columns, source.title, source.weighted
        self.dtype = np.dtype(np.float64)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows, as many at a time as a block may hold."""
        step = self.rows_per_block(least_rows)
        for block in self._source.blocks():
            for start in range(0, block.rows.shape[0], step):
                stored = block.rows[start : start + step].tocoo()
                rows = np.full(stored.shape, np.nan)
                rows[stored.row, stored.col] = stored.data
                weight = None if block.weight is None else block.weight[start : start + step]
                yield Block(block.start + start, rows, weight)

    def unweighted(self) -> Source:
        """The same rows, each counted once."""
        return UnstoredMissing(self._source.unweighted()) if self.weighted else self

    def describe(self) -> str:
        """Say what the rows are."""
        return f"{self._source.describe()}, of which what is not stored is missing"
