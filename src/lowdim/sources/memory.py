"""Rows that are already an array: in memory, memory-mapped, or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.sources.source import BLOCK_BYTES, Block, Source

LEAST_BLOCKS = 8
"""Tables are cut into at least this many blocks (if they have the rows), so that every thread has work …"""

LEAST_ENTRIES = 2**16
"""… and of at least so many numbers: with fewer, handing a block over takes longer than the work."""


@final
class ArraySource(Source):
    """A dense (n, p) array; blocks are views of it."""

    repeatable = True

    def __init__(self, array: NDArray[Any], columns: tuple[str, ...] | None = None, name: str | None = None):
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.columns = columns
        self.dtype = array.dtype
        self.title = name

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give views of consecutive rows."""
        n = self.array.shape[0]
        count = -(-n // self.rows_per_block())
        least = max(1, min(LEAST_BLOCKS, self.array.size // LEAST_ENTRIES))
        even = -(-n // (least * -(-count // least)))  # a multiple of blocks: no thread waits at the end
        step = even if self.most_block_bytes is not None else max(least_rows, even)
        for start in range(0, n, step):
            yield Block(start, self.array[start : start + step])

    def describe(self) -> str:
        """Say its name, if it has one, and its shape."""
        shape = f"{self.n_rows:,} × {self.n_columns:,} {self.dtype} array"
        return f"{self.title} ({shape})" if self.title else f"the {shape}"


@final
class SparseSource(Source):
    """A SciPy sparse matrix; blocks share the arrays of a CSR matrix, other formats are converted once."""

    repeatable = True
    sparse = True

    def __init__(self, matrix: Any, columns: tuple[str, ...] | None = None, name: str | None = None):
        self.matrix = matrix if matrix.format == "csr" else matrix.tocsr()
        if not self.matrix.has_canonical_format:  # entries that stand twice are summed, in a copy
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()
        self.n_rows, self.n_columns = matrix.shape
        self.columns = columns
        self.dtype = matrix.dtype
        self.density = self.matrix.nnz / (matrix.shape[0] * matrix.shape[1])
        self.title = name

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give CSR matrices of consecutive rows, each with about BLOCK_BYTES / 4 of stored entries."""
        for start, stop in spans(self.matrix.indptr):
            yield Block(start, row_slice(self.matrix, start, stop))

    def describe(self) -> str:
        """Say its name, if it has one, its shape and how full it is."""
        shape = f"{self.n_rows:,} × {self.n_columns:,} sparse matrix"
        stored = f"{self.density:.2%} stored"
        return f"{self.title} ({shape}, {stored})" if self.title else f"the {shape} ({stored})"


def spans(indptr: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Cut the rows of a CSR matrix into spans of about equally many stored entries."""
    rows = len(indptr) - 1
    stored = max(1, int(indptr[-1]))
    parts = max(min(LEAST_BLOCKS, rows), -(-stored * 16 // BLOCK_BYTES))
    cuts = np.minimum(np.searchsorted(indptr, np.linspace(0, stored, parts + 1)[1:-1]), rows)
    edges = np.unique(np.concatenate([[0], cuts, [rows]]))
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def row_slice(matrix: Any, start: int, stop: int) -> Any:
    """Rows of a CSR matrix as one that shares its data; SciPy's own slice would copy."""
    first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
    rows = scipy.sparse.csr_array((stop - start, matrix.shape[1]), dtype=matrix.dtype)
    rows.data, rows.indices = matrix.data[first:last], matrix.indices[first:last]
    rows.indptr = matrix.indptr[start : stop + 1] - first
    return rows
