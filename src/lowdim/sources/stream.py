"""Rows that arrive once: an iterator of row blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, final

import numpy as np
import scipy.sparse

from lowdim.errors import BadInput, NeedsAnotherPass, WrongShape
from lowdim.sources.checks import as_table, refuse_dtype
from lowdim.sources.source import Block, Source


@final
class StreamSource(Source):
    """Blocks from an iterator. They are read once, so only one-pass solvers can use it."""

    repeatable = False
    n_rows = None

    def __init__(self, rows: Iterable[Any]):
        stream = iter(rows)
        first = _first_block(stream)
        self.n_columns = first.shape[1]
        self.columns = None
        self.dtype = first.dtype
        self._rest: Iterator[Any] | None = chain([first], stream)

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
            block = _as_rows(rows, number)
            if block.shape[1] != self.n_columns:
                raise WrongShape(
                    f"Block {number} has {block.shape[1]} columns, the blocks before it {self.n_columns}: every "
                    "block needs the same columns."
                )
            if block.shape[0]:
                yield Block(start, block)
                start += block.shape[0]

    def describe(self) -> str:
        """Say that it is a stream."""
        return f"the stream of row blocks with {self.n_columns:,} columns"


def _first_block(stream: Iterator[Any]) -> Any:
    for number, rows in enumerate(stream):
        block = _as_rows(rows, number)
        if block.shape[0]:
            return block
    raise BadInput("The iterator of row blocks gave no rows: at least one row is needed.")


def _as_rows(rows: Any, number: int) -> Any:
    if scipy.sparse.issparse(rows):
        refuse_dtype(rows.dtype)
        return rows.tocsr()
    block = np.asarray(rows)
    if block.ndim != 2:
        raise WrongShape(
            f"Block {number} has {block.ndim} dimensions, but a block is (rows, columns): reshape it with "
            "block.reshape(-1, n_columns)."
        )
    if block.shape[1] == 0:
        raise WrongShape(f"Block {number} has 0 columns (shape={block.shape}): at least 1 is needed.")
    return as_table(block) if len(block) else block
