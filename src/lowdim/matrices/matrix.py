"""The ladder of matrices: Matrix (products) < RowBlocks (one fold over rows) < InMemory (the array itself)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any, final

import numpy as np

from lowdim.errors import BadInput, ConstantColumns, NeedsAnotherPass, RoundedColumns
from lowdim.matrices.compiled_sparse import takes_sparse
from lowdim.matrices.missing import missing_values_error
from lowdim.matrices.moments import EXTRA_ROUNDINGS, PIECE_ROWS, SMALLEST_NUMBER, Moments, block_moments, join_columns
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.products import (
    MAX_CANCELLATION,
    Span,
    add,
    block_normal,
    block_scores,
    block_triangle,
    cut_columns,
    gram_of_span,
    learn_span,
    merge_triangles,
    product_with_span,
    sparse_normal,
)
from lowdim.matrices.rounding import UNIT_ROUNDOFF, Rounding
from lowdim.matrices.scaling import Scaling
from lowdim.runtime.progress import ROW
from lowdim.runtime.threads import all_blas_threads, in_order, one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Block, Source, WeightedSource
from lowdim.types import Floats, Mask

# All of them stand for Y = √w · (X − center) · gain without ever changing or copying X. A solver says which rung it
# needs; `passes` counts how often the rows were read.

MAX_DENSE_CANCELLATION = 64.0
"""The same for dense rows, where it spares a copy: six of 53 bits, which `rounding` counts."""

LEAST_ROWS_OF_SCATTER = 1500
"""Rows of a block, at least, whose scatter is formed: to begin and join scatters takes the time of about 400 rows."""

LEAST_PRODUCTS_OF_SCATTER = 80_000_000
"""Rows of a block times columns squared, at least: a millisecond, of which Python takes a tenth."""

MIN_SUM_OF_SQUARES = 1e-280
"""A sum of squares below this has lost digits to underflow, which begins at 1e-308."""


class Matrix(ABC):
    """What an iterative solver needs: a shape, products with YᵀY, and their trace."""

    passes: int
    """How often all rows have been read so far."""

    @property
    def block(self) -> int:
        """Vectors that a product is best made with at a time: with fewer, BLAS is slower for each of them, and compiled
        code gains less by needing fewer vectors in all than the work between products costs."""
        return 16

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of columns, p."""

    @property
    @abstractmethod
    def total(self) -> float:
        """Trace of YᵀY: the sum of all its eigenvalues."""

    @property
    @abstractmethod
    def rounding(self) -> Rounding:
        """What rounding probably does to products with YᵀY."""

    @abstractmethod
    def normal_times(self, Q: Floats) -> Floats:
        """Q YᵀY, for vectors in the rows of Q (b, p)."""


class RowBlocks(Matrix):
    """Rows from a source, centred and scaled on the way. Everything is a fold over blocks of rows."""

    reading = ROW
    """What a reading of the data is called."""

    def __init__(self, source: Source, scaling: Scaling):
        self.source = source
        self.scaling = scaling
        self.passes = 0
        self._moments: Moments | None = None
        self.raw_moments: Moments | None = None
        """About the mean, also where the columns are not centred: what partial_fit and merge carry on."""
        self._unit = 1.0
        self._settled: tuple[Preparation, bool] | None = None
        """How rows are prepared for products, and whether these are centred afterwards."""

    @property
    def n_columns(self) -> int:
        """Number of columns, p."""
        return self.source.n_columns

    @property
    def heaviest(self) -> float:
        """Largest weight of a row."""
        return 1.0

    @property
    def moments(self) -> Moments:
        """Count, mean and column variances of the rows, in units of 1 / `unit`; reads them once if need be."""
        if self._moments is None:
            self.learn(full=False)
        assert self._moments is not None
        return self._moments

    @property
    def unit(self) -> float:
        """Power of two that the data were multiplied by, so that no square leaves the range of float64."""
        return self._unit

    @property
    def preparation(self) -> Preparation:
        """How rows of X become rows of Y."""
        return self.scaling.preparation(self.moments, self._unit)

    @property
    def total(self) -> float:
        """Trace of YᵀY."""
        return float(self.scaling.prepared_variances(self.moments).sum())

    @property
    def rounding(self) -> Rounding:
        """Errors of products Q YᵀY: of the sums over a row and over rows, by their numbers of terms.

        Sparse data take the mean off afterwards, which costs digits.
        """
        sizes = self.scaling.prepared_variances(self.moments)
        if self.centers_after:
            center = self._prepared_center
            sizes = sizes + self.moments.weight * center * center
        in_rows, in_columns = self._terms
        return self._rounding(UNIT_ROUNDOFF * (in_rows + in_columns + EXTRA_ROUNDINGS) * sizes + self.left_of_mean)

    @property
    def _terms(self) -> tuple[float, Floats | float]:
        """Terms of the sums over a row, and over the rows of each column: those of a piece, and pieces."""
        n = float(self.moments.n_rows)
        return float(self.n_columns), n if self.source.sparse else min(n, PIECE_ROWS) + n / PIECE_ROWS

    @property
    def scatter_rounding(self) -> Rounding:
        """Errors of the scatter as it was formed, whatever the data."""
        return self._rounding(self.scaling.prepared_error(self.moments))

    def _rounding(self, entries: Floats) -> Rounding:
        sizes = self.scaling.prepared_variances(self.moments)
        return Rounding.within(entries, sizes, self.scaling.scale_error(self.moments))

    @property
    def left_of_mean(self) -> Floats:
        """(p,) what is left of the squared mean of each column of Y, times the rows: the mean is not known exactly."""
        moments, low = self.moments, self.preparation.low
        gain = self.scaling.gain(moments)
        # a sum of m terms errs by m units, δ, of √(n Σ x²): n δ² is that share of the error of the sum of squares
        n = moments.n_rows
        terms = min(n, PIECE_ROWS) + n / PIECE_ROWS + EXTRA_ROUNDINGS
        left = np.broadcast_to(moments.error, moments.mean.shape) * (terms * UNIT_ROUNDOFF)
        if self._unit > 1.0:  # a mean near the least numbers of float64 is not held to more than these
            left = left + moments.weight * (SMALLEST_NUMBER * self._unit) ** 2
        if low is not None and self.centers_after:  # which leaves that out
            left = left + moments.weight * (low * self._unit) ** 2
        return left if gain is None else left * gain**2

    @property
    def _prepared_center(self) -> Floats:
        preparation = self.preparation
        return preparation.center if preparation.gain is None else preparation.center * preparation.gain

    @property
    def centers_after(self) -> bool:
        """Whether products take the mean off afterwards: sparse rows unless it costs digits, float64 where harmless."""
        limit = (
            MAX_CANCELLATION
            if self.source.sparse
            else MAX_DENSE_CANCELLATION
            if self.source.dtype == np.float64
            else 0.0
        )
        return self._unit == 1.0 and self.cancellation <= limit  # rows in other units must be multiplied by it first

    @property
    def is_plain(self) -> bool:
        """Whether products are of the rows as they are: in their own units, and centred afterwards."""
        return self._unit == 1.0 and self.centers_after

    @property
    def cancellation(self) -> float:
        """How much larger YᵀY would be without centring: digits that centring a product afterwards loses."""
        moments, center = self.moments, self._prepared_center
        return 1.0 + moments.weight * float(center @ center) / self.total if self.total > 0 else np.inf

    def learn(self, full: bool) -> Moments:
        """Read all rows once for their moments; with `full` the p × p scatter too."""
        return self._learn_by(partial(self._fold_moments, full))

    def _learn_by(self, read: Callable[[], Moments]) -> Moments:
        """Take the moments of a pass; repeat it in other units if squares overflow or underflow."""
        moments = read()
        if moments.holes is None and _out_of_range(moments):
            self._unit = _choose_unit(self._largest())
            moments = read()
        if moments.holes is not None:
            raise missing_values_error(moments.holes, moments.n_rows, self.source.columns)
        return self.set_moments(moments)

    def whole_moments(self) -> Moments:
        """Moments with the p × p scatter, read anew if the solver did without; those in use stay as they are."""
        known = self.raw_moments
        return known if known is not None and known.scatter.ndim == 2 else self._fold_moments(full=True)

    def set_moments(self, moments: Moments) -> Moments:
        """Take these as the moments of the rows (of `unit` times the rows)."""
        if self.scaling.scale is True:
            self._refuse_too_small(moments)
        self.raw_moments = moments
        self._moments = self.scaling.settled(moments)
        self._settled = None
        return self._moments

    def _refuse_too_small(self, moments: Moments) -> None:
        """Columns cannot be divided by their deviations where the squares of these are rounding, or nothing at all."""
        lost = np.flatnonzero((moments.variances > 0) & (moments.variances < MIN_SUM_OF_SQUARES))
        if len(lost):
            names = ", ".join(str(self.source.columns[j]) if self.source.columns else str(j) for j in lost[:5])
            raise BadInput(
                f"scale=True cannot be had for column {names}{' …' if len(lost) > 5 else ''}: beside values of about "
                f"{self._largest():.0e} it varies by so little that its squares leave the range of float64: multiply "
                "it by a power of ten first."
            )

    def scatter(self) -> Floats:
        """YᵀY, (p, p), in one pass."""
        moments = self._moments
        if moments is None or moments.scatter.ndim == 1:
            moments = self.learn(full=True)
        return self.scaling.prepared_scatter(moments)

    def normal_times(self, Q: Floats) -> Floats:
        """Q YᵀY, for vectors in the rows of Q (b, p)."""
        if self._settled is None:  # which iterations ask for again and again
            self._settled = self.preparation, self.centers_after
        preparation, center_after = self._settled
        self.passes += 1
        if center_after and self.source.sparse:
            return sparse_normal(self.source, preparation, Q)
        per_block = partial(block_normal, preparation=preparation, Q=Q, center_after=center_after)
        return self.source.reduce(per_block, add, least_rows=len(Q))

    def triangle(self, V: Floats | None = None) -> Floats:
        """R of the QR factorisation of Y, or of Y Vᵀ for V (k, p)."""
        preparation = self.preparation
        self.passes += 1
        width = self.n_columns if V is None else len(V)
        per_block = partial(block_triangle, preparation=preparation, V=V, center_after=self.centers_after)
        return self.source.reduce(per_block, merge_triangles, least_rows=4 * width)

    def _fold_moments(self, full: bool) -> Moments:
        self.passes += 1
        per_block = partial(block_moments, full=full, unit=self._unit)
        if not full:
            return self.source.reduce(per_block, Moments.absorb)
        n, p = self.source.n_rows, self.n_columns
        least = max(LEAST_ROWS_OF_SCATTER, LEAST_PRODUCTS_OF_SCATTER // p**2)
        with one_blas_thread(), all_blas_threads() if n and n < 2 * least else nullcontext():  # one block: BLAS splits
            return self.source.reduce(per_block, Moments.absorb, least)

    def _largest(self) -> float:
        self.passes += 1
        return self.source.reduce(_largest_in_block, max)


@final
class InMemory(RowBlocks):
    """An array, dense or sparse, whose columns can be reached as well as its rows."""

    def __init__(self, source: ArraySource | SparseSource, scaling: Scaling, weight: Floats | None = None):
        super().__init__(source if weight is None else WeightedSource(source, weight), scaling)
        self._array: Any = source.array if isinstance(source, ArraySource) else source.matrix
        self._root = None if weight is None else np.sqrt(weight)
        self._stored: Floats | None = None

    @property
    def block(self) -> int:
        """Compiled products of sparse rows take four vectors at once in hardly more time than one."""
        return 4 if self.source.sparse and takes_sparse(self._array) else super().block

    def to_array(self) -> Floats:
        """Y itself, (n, p): a copy, for the plain route."""
        preparation = self.preparation
        self.passes += 1
        return Span(self._array, self._root, 0, self.n_columns).prepared(preparation)

    def times(self, V: Floats) -> Floats:
        """Y Vᵀ, (n, k), for V (k, p)."""
        per_block = partial(block_scores, preparation=self.preparation, V=V, center_after=self.centers_after)
        self.passes += 1
        return np.concatenate(list(in_order(per_block, self.source.blocks())))

    @property
    def _terms(self) -> tuple[float, Floats | float]:
        """Of sparse rows, what is stored."""
        if not self.source.sparse:
            return super()._terms
        if self._stored is None:
            self._stored = np.bincount(self._array.indices, minlength=self.n_columns).astype(np.float64)
        return float(np.diff(self._array.indptr).max(initial=0)), self._stored

    @property
    def is_weighted(self) -> bool:
        """Whether rows count differently."""
        return self._root is not None or self.source.weighted

    @property
    def heaviest(self) -> float:
        """Largest weight of a row."""
        return 1.0 if self._root is None else float(self._root.max()) ** 2

    def sample_gram(self) -> Floats:
        """Y Yᵀ, (n, n), column block by column block; in the same pass as the moments if they are not known yet."""
        total = np.zeros((self._array.shape[0],) * 2)
        if self._moments is None and self._root is None and not self.source.sparse:
            self._learn_by(partial(self._fold_columns, total))
            return total
        for part in in_order(partial(gram_of_span, preparation=self.preparation), self._spans()):
            total += part
        return total

    def transpose_times(self, U: Floats) -> Floats:
        """U Y, (k, p), for U (k, n)."""
        result = np.empty((len(U), self.n_columns))
        work = partial(
            product_with_span, U=U, preparation=self.preparation, out=result, center_after=self.centers_after
        )
        for _ in in_order(work, self._spans()):
            pass
        return result

    def _spans(self) -> Iterator[Span]:
        self.passes += 1
        by_columns = self._array.tocsc() if self.source.sparse else self._array
        return cut_columns(by_columns, self._root)

    def _fold_columns(self, total: Floats) -> Moments:
        """Moments of all columns, and Y Yᵀ into `total`."""
        total[:] = 0.0
        parts: list[Moments] = []
        for moments, gram in in_order(partial(learn_span, scaling=self.scaling, unit=self._unit), self._spans()):
            parts.append(moments)
            with np.errstate(over="ignore", invalid="ignore"):
                total += gram
        return join_columns(parts)


def _largest_in_block(block: Block) -> float:
    values = block.rows if isinstance(block.rows, np.ndarray) else block.rows.data
    return max(float(np.max(values, initial=0)), -float(np.min(values, initial=0)))


def _choose_unit(largest: float) -> float:
    """The power of two that brings the largest value near one; multiplying by it is exact. It is a float64 itself."""
    return float(np.ldexp(1.0, min(1000, -int(np.frexp(largest)[1])))) if largest > 0 else 1.0


def _out_of_range(moments: Moments) -> bool:
    """Whether squares, or squares of them, overflow or lose digits to underflow."""
    largest = float(np.max(moments.variances, initial=0.0))
    finite = np.isfinite(moments.scatter).all() and np.isfinite(moments.mean).all()
    return not finite or largest > 1e140 or 0 < largest < 1e-140


# A symmetric matrix that was formed already, as something an iterative solver can multiply with.

SLAB_ROWS = 1000
"""Rows of S that one thread multiplies with at a time."""


@final
class FormedMatrix(Matrix):
    """S = YᵀY, (p, p)."""

    def __init__(self, S: Floats, rounding: Rounding):
        self.S = S
        self.passes = 0
        self._rounding = rounding

    @property
    def n_columns(self) -> int:
        """Number of columns, p."""
        return len(self.S)

    @property
    def total(self) -> float:
        """Trace of S."""
        return float(self.S.trace())

    @property
    def rounding(self) -> Rounding:
        """Probable error of S."""
        return self._rounding

    def normal_times(self, Q: Floats) -> Floats:
        """Q S, by slabs of rows of S (it is symmetric), so that all cores share the work."""
        slabs = (self.S[start : start + SLAB_ROWS] for start in range(0, len(self.S), SLAB_ROWS))
        return np.concatenate(list(in_order(lambda slab: Q @ slab.T, slabs)), axis=1)


# Rows that are gone, of which the moments are known: after partial_fit and merge.


@final
class KnownMoments(RowBlocks):
    """A matrix of which only count, mean and scatter are left."""

    def __init__(self, moments: Moments, scaling: Scaling, columns: tuple[str, ...] | None):
        super().__init__(_NoRows(moments.n_rows, len(moments.mean), columns), scaling)
        self.set_moments(moments)
        self.passes = 1


@final
class _NoRows(Source):
    repeatable = False
    dtype = np.dtype(float)

    def __init__(self, n_rows: int, n_columns: int, columns: tuple[str, ...] | None):
        self.n_rows, self.n_columns, self.columns = n_rows, n_columns, columns

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        raise NeedsAnotherPass("Rows given to partial_fit are not kept, so they cannot be read again.")

    def describe(self) -> str:
        return f"{self.n_rows:,} rows × {self.n_columns:,} columns, batch by batch"


def warn_constant(matrix: RowBlocks) -> None:
    """Name the columns that could not be scaled, as they do not vary, and those that vary by rounding alone."""
    scaling, p = matrix.scaling, matrix.source.n_columns
    constant = scaling.constant(matrix.moments)
    if constant.any():
        found = ConstantColumns.found(int(constant.sum()), p, name_columns(matrix, constant))
        warn_user(found)
    rounded = scaling.in_last_digits(matrix.moments)
    if rounded.any():
        warn_user(
            f"{rounded.sum()} of {p} columns vary only in the last digits that their type holds, so scaling makes much "
            f"of their rounding: {name_columns(matrix, rounded)}.",
            RoundedColumns,
        )


def name_columns(matrix: RowBlocks, wanted: Mask) -> str:
    """The first few of these columns, by name."""
    columns, places = matrix.source.columns, np.flatnonzero(wanted)
    names = ", ".join(str(columns[j]) if columns else f"column {j}" for j in places[:5])
    return f"{names} and {len(places) - 5} more" if len(places) > 5 else names
