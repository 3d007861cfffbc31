"""What a memory budget leaves for a fit: the solver, its result, and blocks of rows beside them."""

from __future__ import annotations

from dataclasses import dataclass

from lowdim.errors import TooLarge
from lowdim.sources.budget import SLACK, Budget
from lowdim.sources.source import BLOCK_BYTES, Source
from lowdim.sources.workers import allowed_threads

LEAST_BLOCK = 2**18
"""Smaller blocks would be read and folded at a price."""


@dataclass(frozen=True)
class Room:
    """Bytes that a fit of this source may take."""

    budget: Budget
    source: Source
    streamed: bool
    """Whether blocks are read into memory, or are views of an array that is there already."""
    array: int = 0
    """Bytes of an array that the rows are yet to be loaded into."""

    @property
    def copies(self) -> int:
        """Blocks held at a time: each thread has a prepared copy; streamed ones wait, are in work, or being read."""
        threads = allowed_threads()
        return 2 * threads + 4 if self.streamed else threads

    def beside(self, k: int, p: int) -> int:
        """Bytes for a solver, with blocks of the least size and a result of k components."""
        return self._left(k, p) - self.copies * self._least_block

    def block_bytes(self, solver: int, k: int, p: int) -> int:
        """Bytes of a block beside a solver that needs so many; an error if there is no room."""
        block = (self._left(k, p) - solver) // self.copies
        if block < self._least_block:
            raise self.refused(f"A fit of {self.source.describe()} takes", solver, "ask for fewer columns")
        return min(block, BLOCK_BYTES)

    def refused(self, what: str, solver: int, advice: str) -> TooLarge:
        """The error that says what would help."""
        rows = self.array + self.source.reading_bytes + self.copies * self._least_block
        needed = self.budget.held + solver + rows + SLACK
        return TooLarge(
            f"{what} {solver / 1e6:,.0f} MB for the solver and {rows / 1e6:,.0f} MB for reading rows, beside the "
            f"{self.budget.held / 1e6:,.0f} MB that the process holds already, but memory is limited to "
            f"{self.budget.limit / 1e6:,.0f} MB: allow {needed * 1.05 / 1e6:,.0f} MB, or {advice}."
        )

    @property
    def _least_block(self) -> int:
        return max(LEAST_BLOCK, 16 * self.source.n_columns * self.source.dtype.itemsize)

    def _left(self, k: int, p: int) -> int:
        return self.budget.room - self.array - self.source.reading_bytes - 2 * 8 * k * p
