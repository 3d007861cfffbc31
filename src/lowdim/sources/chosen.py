"""Some rows of a source, by their numbers, as a source of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
from numpy.typing import NDArray

from lowdim.sources.source import Block, Source


@final
class ChosenRows(Source):
    """Another source with some of its rows alone; the others are read and passed over, block by block."""

    def __init__(self, source: Source, places: NDArray[np.intp]):
        self._source, self._places = source, places
        """(m,) numbers of the rows, from 0, rising."""
        self.n_rows, self.n_columns = len(places), source.n_columns
        self.columns, self.dtype, self.title = source.columns, source.dtype, source.title
        self.repeatable, self.sparse, self.density = source.repeatable, source.sparse, source.density
        self.shape_of_rows, self.header = source.shape_of_rows, source.header

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give those rows of each block that were chosen, if there are some."""
        done = 0
        for block in self._source.blocks(least_rows):
            first, last = np.searchsorted(self._places, [block.start, block.start + block.rows.shape[0]])
            if first < last:
                yield Block(done, block.rows[self._places[first:last] - block.start])
                done += int(last - first)

    def describe(self) -> str:
        """Say how many of which rows."""
        return f"{len(self._places):,} rows of {self._source.describe()}"
