"""Rows of a source with columns shifted and divided, so that those in different units count alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from lowdim.sources.source import Block, ConvertibleSource, Source

Floats = NDArray[np.float64]


@final
class PreparedSource(ConvertibleSource):
    """Another source as dense rows (x − shift) / scale, made as they are read."""

    def __init__(self, source: Source, shift: Floats, scale: Floats):
        self.source, self.shift, self.scale = source, shift, scale
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.columns, self.title, self.weighted = source.columns, source.title, source.weighted
        self.repeatable = source.repeatable
        self.dtype = np.dtype(np.float64)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows, as many at a time as a block may hold."""
        step = self.rows_per_block(least_rows)
        for block in self.source.blocks(least_rows):
            for start in range(0, block.rows.shape[0], step):
                weight = None if block.weight is None else block.weight[start : start + step]
                yield Block(block.start + start, self.prepared(block.rows[start : start + step]), weight)

    def prepared(self, rows: Any) -> Floats:
        """Rows of the other source as this one gives them."""
        values = np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64, order="C")
        values -= self.shift
        values /= self.scale
        return values

    def limited(self, block_bytes: int) -> Self:
        """The same rows in blocks of at most so many bytes."""
        twin = super().limited(block_bytes)
        twin.source = self.source.limited(block_bytes)
        return twin

    def describe(self) -> str:
        """Say what the rows are."""
        return self.source.describe()
