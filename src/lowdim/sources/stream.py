"""Rows that arrive once: an iterator of row blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, final

from lowdim.errors import BadInput, NeedsAnotherPass, WrongColumns, WrongShape
from lowdim.sources.arrays import as_array, as_csr, as_table, may_be_frame
from lowdim.sources.source import Block, Source
from lowdim.types import is_sparse


@final
class StreamSource(Source):
    """Blocks from an iterator. They are read once, so only one-pass solvers can use it."""

    repeatable = False
    n_rows = None

    def __init__(self, rows: Iterable[Any]):
        stream = iter(rows)
        first, self.columns, self.numbered = _find_first_block(stream)
        self.n_columns = first.shape[1]
        self.dtype = first.dtype
        self._rest: Iterator[Any] | None = chain([first], stream)  # its names are known

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the blocks as they arrive; empty ones are passed over."""
        if self._rest is None:
            raise NeedsAnotherPass(
                "The iterator of row blocks was read to its end and cannot be read again: pass an array, or a file "
                "opened with lowdim.open."
            )
        stream, self._rest = self._rest, None
        start = 0
        for number, rows in enumerate(stream):
            block, names, _ = _check_block(rows, number)
            if block.shape[1] != self.n_columns:
                raise WrongShape(
                    f"Block {number} has {block.shape[1]} columns, the blocks before it {self.n_columns}: every "
                    "block needs the same columns."
                )
            if names is not None and self.columns is not None and names != self.columns:
                raise WrongColumns(
                    f"Block {number} has the columns {', '.join(names[:5])} …, the blocks before it "
                    f"{', '.join(self.columns[:5])} …: every block needs the same columns, in the same order."
                )
            if block.shape[0]:
                yield Block(start, block)
                start += block.shape[0]

    def describe(self) -> str:
        """Say that it is a stream."""
        return f"the stream of row blocks with {self.n_columns:,} columns"


Rows = tuple[Any, tuple[str, ...] | None, bool]
"""A block, the names of its columns, and whether these are numbers."""


def _find_first_block(stream: Iterator[Any]) -> Rows:
    for number, rows in enumerate(stream):
        found = _check_block(rows, number)
        if found[0].shape[0]:
            return found
    raise BadInput("The iterator of row blocks gave no rows: at least one row is needed.")


def _check_block(rows: Any, number: int) -> Rows:
    if is_sparse(rows):
        return as_csr(rows), None, False
    if may_be_frame(rows):
        from lowdim.sources.frames import as_frame, frame_source, to_array

        frame = as_frame(rows)
        if frame is not None:
            source = frame_source(frame)
            return to_array(source), source.columns, source.numbered
    block = as_array(rows)
    if block.ndim != 2:
        raise WrongShape(
            f"Block {number} has {block.ndim} dimensions, but a block is (rows, columns): reshape it with "
            "block.reshape(-1, n_columns)."
        )
    if block.shape[1] == 0:
        raise WrongShape(f"Block {number} has 0 columns (shape={block.shape}): at least 1 is needed.")
    return as_table(block) if len(block) else block, None, False
