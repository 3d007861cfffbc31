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
        middle = self._center if self._gain is None else self._center * self._gain**2
        self._of_middle = self._to_rows(side_by_side(middle[None]))[:, 0]
        self._square = float(self._center @ middle)
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
            T = self._stored_to_columns(U)
            if self._gain is not None:
                T *= (self._gain**2)[:, None]
            # Y Yᵀ u = X G Xᵀ u less what the mean m is in it: X G m (1ᵀu) + 1 (X G m)ᵀ u − 1 (mᵀ G m) (1ᵀu)
            out, total = self._to_rows(T), U.sum(axis=0)
            out -= np.outer(self._of_middle, total)
            out -= self._of_middle @ U - self._square * total
            result[start : start + WIDEST] = out.T[: len(Q) - start]
        return result

    def to_axes(self, U: Floats) -> Floats:
        """(k, p) orthonormal rows that span U Y, for U (k, n), largest first: axes of YᵀY, where those are of Y Yᵀ."""
        rows = np.empty((self._matrix.n_columns, len(U)))
        self._matrix.passes += 1
        for start in range(0, len(U), WIDEST):
            some = U[start : start + WIDEST]
            U_some = side_by_side(some)
            T = self._stored_to_columns(U_some)
            T -= np.outer(self._center, U_some.sum(axis=0))
            rows[:, start : start + len(some)] = T[:, : len(some)]
        if self._gain is not None:
            rows *= self._gain[:, None]
        # from the largest on: small ones lose what large ones left in them
        Q: Floats = scipy.linalg.qr(rows, mode="economic", overwrite_a=True, check_finite=False)[0]
        return np.ascontiguousarray(Q.T)

    def _stored_to_columns(self, U: Floats) -> Floats:
        """(p, b) Xᵀ U of the rows as they are stored, for U (n, b)."""
        T: Floats = self._matrix.source.reduce(partial(_transposed_times, U=U), _add)
        return T

    def _to_rows(self, T: Floats) -> Floats:
        """(n, b) X T, for T (p, b)."""
        out = np.empty((self.n_columns, T.shape[1]))
        for _ in in_order(partial(_times, T=T, out=out), self._matrix.source.blocks()):
            pass
        return out


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
