"""The rows of a source after the first ones, for a fit that goes on where another stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from lowdim.errors import BadInput
from lowdim.sources.source import Block, Source


@final
class LaterRows(Source):
    """Another source without its first rows; they are read and passed over."""

    def __init__(self, source: Source, skip: int):
        self._source = source
        self._skip = skip
        self.n_rows = None if source.n_rows is None else source.n_rows - skip
        self.n_columns = source.n_columns
        self.columns = source.columns
        self.dtype = source.dtype
        self.repeatable = source.repeatable
        self.sparse = source.sparse
        self.density = source.density
        if self.n_rows is not None and self.n_rows < 1:
            raise self._too_few(source.n_rows)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the later rows, counted from where they begin."""
        there = 0
        for block in self._source.blocks(least_rows):
            count = block.rows.shape[0]
            first = max(0, self._skip - there)
            there += count
            if first < count:
                weight = None if block.weight is None else block.weight[first:]
                yield Block(there - count + first - self._skip, block.rows[first:], weight)
        if there <= self._skip:
            raise self._too_few(there)

    def describe(self) -> str:
        """Say which rows they are."""
        return f"{self._source.describe()} after row {self._skip:,}"

    def _too_few(self, rows: int | None) -> BadInput:
        return BadInput(
            f"{self._source.describe()} has {rows:,} rows, and {self._skip:,} of them were read before: nothing is "
            "left to go on with."
        )
