"""Y Yᵀ of sparse rows, for data with fewer rows than columns: it has the eigenvalues of YᵀY, and shorter vectors."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeGuard, final

import numpy as np
import scipy

from lowdim.matrices.compiled_sparse import WIDEST, csr_times, csr_transposed_times, side_by_side, takes_sparse
from lowdim.matrices.matrix import InMemory, Matrix
from lowdim.matrices.rounding import Rounding
from lowdim.runtime.threads import in_order
from lowdim.sources.source import Block
from lowdim.types import Floats

LEAST_RATIO = 2.0
"""Columns for each row from which the other side pays for the way back to the columns."""


def has_short_side(matrix: Matrix) -> TypeGuard[InMemory]:
    """Whether an iteration on Y Yᵀ is faster: for sparse rows without weights, centred after their products."""
    if not isinstance(matrix, InMemory) or not matrix.source.sparse or matrix.is_weighted:
        return False
    n, p = matrix.moments.n_rows, matrix.n_columns
    return p >= LEAST_RATIO * n and matrix.is_plain and all(takes_sparse(one.rows) for one in matrix.source.blocks())


@final
class SampleSide(Matrix):
    """Y Yᵀ, (n, n), as something an iterative solver can multiply with."""

    def __init__(self, matrix: InMemory):
        self._matrix = matrix
        preparation = matrix.preparation
        self._center, self._gain = preparation.center, preparation.gain
        self.passes = 0

    @property
    def block(self) -> int:
        """As for the columns."""
        return self._matrix.block

    @property
    def n_columns(self) -> int:
        """Number of rows of the data."""
        return self._matrix.moments.n_rows

    @property
    def total(self) -> float:
        """Trace: that of YᵀY."""
        return self._matrix.total

    @property
    def rounding(self) -> Rounding:
        """That of YᵀY, in whose terms the answer is given."""
        return self._matrix.rounding

    def normal_times(self, Q: Floats) -> Floats:
        """Q Y Yᵀ, for vectors in the rows of Q (b, n)."""
        self._matrix.passes += 1
        result = np.empty_like(Q)
        for start in range(0, len(Q), WIDEST):
            U = side_by_side(Q[start : start + WIDEST])
            T = self._to_columns(U, gains=2)
            out = np.empty_like(U)
            for _ in in_order(partial(_times, T=T, out=out), self._matrix.source.blocks()):
                pass
            out -= self._center @ T
            result[start : start + WIDEST] = out.T[: len(Q) - start]
        return result

    def to_axes(self, U: Floats) -> Floats:
        """(k, p) orthonormal rows that span U Y, for U (k, n), largest first: axes of YᵀY, where those are of Y Yᵀ."""
        rows = np.empty((self._matrix.n_columns, len(U)))
        self._matrix.passes += 1
        for start in range(0, len(U), WIDEST):
            some = U[start : start + WIDEST]
            rows[:, start : start + len(some)] = self._to_columns(side_by_side(some), gains=1)[:, : len(some)]
        # from the largest on: small ones lose what large ones left in them
        Q: Floats = scipy.linalg.qr(rows, mode="economic", overwrite_a=True, check_finite=False)[0]
        return np.ascontiguousarray(Q.T)

    def _to_columns(self, U: Floats, gains: int) -> Floats:
        """(p, b) Yᵀ U for U (n, b), times the gains of the columns once, or twice."""
        T: Floats = self._matrix.source.reduce(partial(_transposed_times, U=U), _add)
        T -= np.outer(self._center, U.sum(axis=0))
        if self._gain is not None:
            T *= (self._gain**gains)[:, None]
        return T


def _transposed_times(block: Block, U: Floats) -> Floats:
    rows: Any = block.rows
    out = np.zeros((rows.shape[1], U.shape[1]))
    csr_transposed_times(rows, U[block.start : block.start + rows.shape[0]], out)
    return out


def _times(block: Block, T: Floats, out: Floats) -> None:
    rows: Any = block.rows
    csr_times(rows, T, out[block.start : block.start + rows.shape[0]])


def _add(one: Floats, other: Floats) -> Floats:
    one += other
    return one
