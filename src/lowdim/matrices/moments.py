"""Count, mean and scatter of rows, mergeable: the statistic behind covariance, partial_fit, merge and clusters.

Every block is summed about its own approximate mean, so a large offset costs no digits (Chan, Golub & LeVeque 1983,
"Algorithms for computing the sample variance"), and blocks are joined by their formula
M₂ = M₂ₐ + M₂ᵦ + (nₐ nᵦ / n) δ δᵀ with δ = mean_b − mean_a.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from lowdim.matrices.holes import add_holes, count_holes
from lowdim.matrices.preparation import Preparation, dense, piece_rows, working_dtype
from lowdim.sources.source import Block

BLAS_TERMS = 384
"""Products that a BLAS kernel adds up in one register before it adds to memory (its panel depth, about)."""

SHIFT_ROWS = 256
"""Rows, spread over a block, whose mean serves as its shift; at most every eighth one."""

FOLD = 800
"""Numbers in a row from which BLAS adds rows at full speed."""

UNSHIFTED = {np.float64: 64.0, np.float32: 16.0}
"""Rows are multiplied as they lie, without a shifted copy, if no column's squared mean exceeds its variance more than
so many times: it costs up to six of 53 bits, or four of 24."""

UNSHIFTED_VARIANCES = 1024.0
"""The same where only variances are wanted: ten of 53 bits."""


@dataclass(frozen=True)
class Moments:
    """What a set of rows says about its mean and spread."""

    n_rows: int
    weight: float
    """Sum of the row weights; the number of rows when there are none."""
    mean: NDArray[np.float64]
    """(p,)"""
    scatter: NDArray[np.float64]
    """Σ w (x − mean)(x − mean)ᵀ: (p, p), or only its diagonal (p,) when the whole is not needed."""
    holes: NDArray[np.int64] | None = None
    """(2, p) numbers of NaN and of infinite entries per column, or None if all are finite."""
    low: NDArray[np.float64] | float = 0.0
    """What float64 leaves over of the mean: the mean is `mean` + `low`, so that joining loses no digits to offsets."""
    rounding: float = 0.0
    """Probable relative error that rounding made in the entries of `scatter`."""

    @property
    def variances(self) -> NDArray[np.float64]:
        """(p,) the diagonal of the scatter."""
        return self.scatter.diagonal() if self.scatter.ndim == 2 else self.scatter

    def merge(self, other: Moments) -> Moments:
        """Moments of both sets of rows together."""
        return replace(self, scatter=self.scatter.copy()).absorb(other)

    def absorb(self, other: Moments) -> Moments:
        """The same as `merge`, reusing the memory of this one's scatter: for folds that own it."""
        weight = self.weight + other.weight
        rounding = _joined_rounding([self, other])
        with np.errstate(invalid="ignore", over="ignore"):
            step = (other.mean - self.mean) + (other.low - self.low)
            scatter = self.scatter
            scatter += other.scatter
            add_outer(scatter, step, self.weight * (other.weight / weight))
            mean, low = _two_parts(self.mean, self.low + step * (other.weight / weight))
        holes = add_holes(self.holes, other.holes)
        return Moments(self.n_rows + other.n_rows, weight, mean, scatter, holes, low, rounding)


def beside(parts: list[Moments]) -> Moments:
    """Moments of all columns from those of spans of columns of the same rows; of the scatter only the diagonal."""
    holes = None
    if any(part.holes is not None for part in parts):
        none = [np.zeros((2, len(part.mean)), dtype=np.int64) for part in parts]
        holes = np.concatenate([n if p.holes is None else p.holes for p, n in zip(parts, none, strict=True)], axis=1)
    return Moments(
        n_rows=parts[0].n_rows,
        weight=parts[0].weight,
        mean=np.concatenate([part.mean for part in parts]),
        scatter=np.concatenate([part.variances for part in parts]),
        holes=holes,
        low=np.concatenate([np.broadcast_to(part.low, part.mean.shape) for part in parts]),
        rounding=max(part.rounding for part in parts),
    )


def _two_parts(
    large: NDArray[np.float64], small: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """large + small as a float64 and the exact rest (Knuth's two-sum)."""
    total = large + small
    part = total - large
    return total, (large - (total - part)) + (small - part)


def add_outer(scatter: NDArray[np.float64], vector: NDArray[np.float64], factor: float) -> None:
    """scatter += factor · vector vectorᵀ in place (or its diagonal, if that is all there is)."""
    if scatter.ndim == 1:
        scatter += factor * (vector * vector)
    else:  # BLAS wants column-major storage: the transpose of a symmetric matrix is as good
        dger(factor, vector, vector, a=scatter.T, overwrite_x=0, overwrite_y=0, overwrite_a=1)


def block_moments(block: Block, *, full: bool, unit: float = 1.0, compiled: bool = False) -> Moments:
    """Moments of the rows of one block; with `full` the whole p × p scatter.

    `unit` is a power of two that every value is multiplied by, for data whose squares would overflow. `compiled` code
    adds up rows without weights where no products are wanted.
    """
    if not full and not isinstance(block.rows, np.ndarray):
        return _sparse_moments(block, unit)
    dtype = working_dtype(block.rows.dtype) if full else np.float64
    n_rows, p = block.rows.shape
    # 4,096 rows of float64 a product measured best at p = 100; wider rows are cut to 16 MB or a quarter of the scatter,
    # to spare memory. Without products a piece should stay in the second-level cache.
    itemsize = np.dtype(dtype).itemsize
    bytes_a_piece = max(2**24, p * p * itemsize // 4) if full else 2**19
    rows = piece_rows(p, itemsize, bytes_a_piece, 256 if full else 1, 32768 // itemsize)
    compiled = compiled and not full and unit == 1.0 and block.weight is None
    with np.errstate(invalid="ignore", over="ignore"):
        most = UNSHIFTED[dtype] if full else UNSHIFTED_VARIANCES * (not compiled)  # compiled, a shift costs nothing
        shift = _shift(block.rows, dtype, unit, most)
        total, scatter = _compiled_sums(block, shift) if compiled else _sums(block, shift, unit, dtype, rows, full)
        weight = float(n_rows) if block.weight is None else float(block.weight.sum())
        offset = total / weight
        raw = float(scatter.trace() if full else scatter.sum())
        add_outer(scatter, offset, -weight)
        mean, low = _two_parts(shift * unit, offset)
        kept = 1.0 - weight * float(offset @ offset) / raw if raw > 0 else 1.0
    holes = None if np.isfinite(mean).all() else count_holes(block.rows)
    rounding = _rounding(dtype, min(rows, n_rows), n_rows) / max(kept, 1e-6)
    return Moments(n_rows, weight, mean, scatter, holes, low, rounding)


def _sums(
    block: Block, shift: NDArray[np.float64], unit: float, dtype: type[np.floating[Any]], rows: int, full: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Σ √w y and Σ y yᵀ (or its diagonal) for y = √w · unit · (x − shift), piece by piece, summed in float64."""
    p = len(shift)
    total, scatter = np.zeros(p), np.zeros((p, p) if full else p)
    product = np.empty_like(scatter, dtype=dtype)
    root = None if block.weight is None else np.sqrt(block.weight).astype(dtype)
    gain = None if unit == 1.0 else np.full(p, unit)
    done = 0
    for piece in Preparation(shift, gain).pieces(block, dtype, rows):
        if full:
            scatter += np.matmul(piece.T, piece, out=product)
        else:
            scatter += np.einsum("ij,ij->j", piece, piece, out=product)
        total += _column_sums(piece) if root is None else root[done : done + len(piece)] @ piece
        done += len(piece)
    return total, scatter


def _compiled_sums(block: Block, shift: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from lowdim.matrices.compiled import add_sums  # loads numba

    total, squares = np.zeros_like(shift), np.zeros_like(shift)
    add_sums(block.rows, shift, total, squares)
    return total, squares


def _column_sums(piece: NDArray[Any]) -> NDArray[Any]:
    """Sums of the columns; narrow rows are taken several at a time, because BLAS is slow with short vectors."""
    n, p = piece.shape
    fold = max(1, FOLD // p) if piece.flags.c_contiguous else 1
    whole = n - n % fold
    ones = np.ones(n, dtype=piece.dtype)
    sums: NDArray[Any] = (ones[: whole // fold] @ piece[:whole].reshape(-1, fold * p)).reshape(fold, p).sum(axis=0)
    return sums + ones[whole:] @ piece[whole:] if whole < n else sums


def _sparse_moments(block: Block, unit: float) -> Moments:
    """Mean and column variances of sparse rows, touching only what is stored."""
    n_rows, p = block.rows.shape
    values = block.rows.data.astype(np.float64) * unit
    weight = np.ones(n_rows) if block.weight is None else block.weight
    of_entry = np.repeat(weight, np.diff(block.rows.indptr))
    total = float(weight.sum())
    column = block.rows.indices
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.bincount(column, of_entry * values, p) / total
        stored = np.bincount(column, of_entry, p)
        apart = values - near[column]
        offset = (np.bincount(column, of_entry * apart, p) - (total - stored) * near) / total
        scatter = np.bincount(column, of_entry * apart**2, p) + (total - stored) * near**2
        add_outer(scatter, offset, -total)
        mean, low = _two_parts(near, offset)
    holes = None if np.isfinite(mean).all() else count_holes(block.rows)
    return Moments(n_rows, total, mean, scatter, holes, low, float(np.finfo(float).eps))


def _shift(rows: Any, dtype: type[np.floating[Any]], unit: float, most: float) -> NDArray[np.float64]:
    """A value near each column's mean that the working type holds exactly, so that subtracting it is exact too.

    Zero everywhere if no squared mean exceeds the variance more than `most` times: a shift would gain little.
    """
    sample = dense(rows[:: max(8, rows.shape[0] // SHIFT_ROWS)]).astype(np.float64) * unit
    mean = sample.mean(axis=0)
    if len(sample) > 1 and (mean**2 <= most * sample.var(axis=0)).all():
        return np.zeros(len(mean))
    shift: NDArray[np.float64] = (mean.astype(dtype) / unit).astype(np.float64)
    return np.where(np.isfinite(shift), shift, 0.0)


def _rounding(dtype: type[np.floating[Any]], rows: int, n_rows: int) -> float:
    """Probable relative error of sums of squares taken in pieces of `rows` rows.

    A sum of m terms in precision u errs by about √m u (Higham & Mary 2019, "A new approach to probabilistic rounding
    error analysis"). BLAS adds up a few hundred terms at a time; pieces are summed in float64, and their errors are
    independent of each other.
    """
    unit_roundoff = float(np.finfo(dtype).eps) / 2
    pieces = max(1.0, n_rows / rows)
    return unit_roundoff * float(np.sqrt(min(rows, BLAS_TERMS) / pieces)) + float(np.finfo(float).eps)


def _joined_rounding(parts: list[Moments]) -> float:
    """Relative error of a sum of scatters: errors of the parts add like standard deviations."""
    sizes = np.array([max(float(part.variances.sum()), 0.0) for part in parts])
    errors = np.array([part.rounding for part in parts])
    if not np.isfinite(sizes).all() or sizes.sum() == 0:
        return float(errors.max())
    return float(np.linalg.norm(errors * sizes / sizes.sum())) + float(np.finfo(float).eps)
