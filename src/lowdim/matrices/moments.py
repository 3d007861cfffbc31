"""Count, mean and scatter of rows, mergeable: the statistic behind covariance, partial_fit, merge and clusters.

Every block is summed about its own approximate mean, so a large offset costs no digits (Chan, Golub & LeVeque 1983,
"Algorithms for computing the sample variance"), and blocks are joined by their formula
M₂ = M₂ₐ + M₂ᵦ + (nₐ nᵦ / n) δ δᵀ with δ = mean_b − mean_a.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.matrices.compiled_products import PANEL_ROWS, add_scatter, add_sums, mirror, takes, takes_scatter
from lowdim.matrices.compiled_sparse import csr_column_sums, takes_sparse
from lowdim.matrices.missing import add_missing, count_missing
from lowdim.matrices.preparation import Preparation, dense, piece_rows
from lowdim.matrices.rounding import UNIT_ROUNDOFF
from lowdim.runtime.native import add_syrk
from lowdim.sources.source import Block
from lowdim.types import Array, Floats, Mask, Places

PIECE_ROWS = 1024
"""Rows that one product adds up. A sum of m terms errs by up to m units of its last place, and does where the data
have few different values (0 and 1/3, say), whose roundings do not cancel: so sums are kept short, and summed again."""

PART_ROWS = 128 * PANEL_ROWS
"""Rows that compiled code adds up in one array before it is added to the others."""

SMALLEST_NUMBER = float(np.finfo(float).smallest_subnormal)

EXTRA_ROUNDINGS = 8
"""Roundings beside those of sums: of the shift, of weights, of the product, of taking the mean off."""

EXACT_INTEGERS = 2.0**53
"""Whole numbers up to this are float64 numbers too; of larger ones, only every second, fourth, … is."""

SHIFT_ROWS = 64
"""Rows, spread over a block, whose mean serves as its shift; at most every eighth one."""

SHIFT_BITS = 5
"""A shift is a multiple of a power of two so many bits below the standard deviation: near the mean, of few digits."""

MIN_BLAS_LENGTH = 800
"""Numbers in a row from which BLAS adds rows at full speed."""

MAX_UNSHIFTED = 4.0
"""Rows are multiplied unshifted, without a copy, while no column's squared mean exceeds so many times its variance:
that costs up to four of 53 bits in the bound."""

MAX_UNSHIFTED_VARIANCES = 1024.0
"""The same where only variances are wanted: ten of 53 bits."""


@dataclass(frozen=True)
class Moments:
    """What a set of rows says about its mean and spread."""

    n_rows: int
    weight: float
    """Sum of the row weights; the number of rows when there are none."""
    mean: Floats
    """(p,)"""
    scatter: Floats
    """Σ w (x − mean)(x − mean)ᵀ: (p, p), or only its diagonal (p,) when the whole is not needed."""
    holes: NDArray[np.int64] | None = None
    """(2, p) numbers of NaN and of infinite entries per column, or None if all are finite."""
    low: Floats | float = 0.0
    """What float64 leaves over of the mean: the mean is `mean` + `low`, so that joining loses no digits to offsets."""
    error: Floats | float = 0.0
    """(p,) what the diagonal of the scatter may be wrong by; an entry beside it by √(error_i error_j) at most."""

    @property
    def variances(self) -> Floats:
        """(p,) the diagonal of the scatter."""
        return _diagonal(self.scatter)

    def merge(self, other: Moments) -> Moments:
        """Moments of both sets of rows together."""
        return replace(self, scatter=self.scatter.copy()).absorb(other)

    def absorb(self, other: Moments) -> Moments:
        """The same as `merge`, reusing the memory of this one's scatter: for folds that own it."""
        weight = self.weight + other.weight
        with np.errstate(invalid="ignore", over="ignore"):
            step = (other.mean - self.mean) + (other.low - self.low)
            scatter = self.scatter
            scatter += other.scatter
            add_outer(scatter, step, self.weight * (other.weight / weight))
            # errors add up entry by entry, and √(a c) + √(b d) ≤ √((a + b) (c + d)); joining rounds a few times more
            error = self.error + other.error + EXTRA_ROUNDINGS * UNIT_ROUNDOFF * np.maximum(_diagonal(scatter), 0.0)
            _mark_lost(scatter, error, np.flatnonzero((_diagonal(scatter) <= 0) & (step != 0)))
            mean, low = two_sum(self.mean, self.low + step * (other.weight / weight))
        holes = add_missing(self.holes, other.holes)
        return Moments(self.n_rows + other.n_rows, weight, mean, scatter, holes, low, error)


def join_columns(parts: list[Moments]) -> Moments:
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
        error=np.concatenate([np.broadcast_to(part.error, part.mean.shape) for part in parts]),
    )


def _diagonal(scatter: Floats) -> Floats:
    return scatter.diagonal() if scatter.ndim == 2 else scatter


def _mark_lost(scatter: Floats, error: Floats, places: Places) -> None:
    """Give columns that vary, but by less than their sums tell, a variance of that size, all of it error."""
    if len(places):
        error[places] = np.maximum(error[places], SMALLEST_NUMBER)
        scatter[(places, places) if scatter.ndim == 2 else places] = error[places]


def two_sum(large: Floats, small: Floats) -> tuple[Floats, Floats]:
    """large + small as a float64 and the exact rest (Knuth's two-sum)."""
    total = large + small
    part = total - large
    return total, (large - (total - part)) + (small - part)


def add_outer(scatter: Floats, vector: Floats, factor: float) -> None:
    """scatter += factor · vector vectorᵀ in place (or its diagonal, if that is all there is)."""
    if scatter.ndim == 1:
        scatter += factor * (vector * vector)
    else:  # BLAS wants column-major storage: the transpose of a symmetric matrix is as good
        scipy.linalg.blas.dger(factor, vector, vector, a=scatter.T, overwrite_x=0, overwrite_y=0, overwrite_a=1)


def block_moments(block: Block, *, full: bool, unit: float = 1.0) -> Moments:
    """Moments of the rows of one block; with `full` the whole p × p scatter.

    `unit` is a power of two that every value is multiplied by, for data whose squares would overflow.
    """
    if not full and not isinstance(block.rows, np.ndarray):
        return _sparse_moments(block, unit)
    n_rows, p = block.rows.shape
    plain = unit == 1.0 and block.weight is None
    compiled = block.weight is None and (takes_scatter if full else takes)(block.rows)
    # wide rows are cut to 16 MB or a quarter of the scatter, to spare memory; without products a piece should stay in
    # the second-level cache
    bytes_a_piece = max(2**24, 2 * p * p) if full else 2**19
    rows = PIECE_ROWS if compiled else piece_rows(p, 8, bytes_a_piece, 256 if full else 1, PIECE_ROWS)
    with np.errstate(invalid="ignore", over="ignore"):
        # compiled, a shift costs nothing
        most = 0.0 if compiled else MAX_UNSHIFTED if full else MAX_UNSHIFTED_VARIANCES
        shift = _choose_shift(block, unit, most)
        if compiled:
            scaled = block.rows if unit == 1.0 else np.multiply(block.rows, unit, dtype=np.float64)
            total, scatter, terms = (compiled_scatter if full else _compiled_sums)(scaled, shift * unit)
        else:
            total, scatter, terms = _sums(block, shift, unit, rows, full)
        if plain and _is_exact(block, scatter):
            terms = 0
        weight = float(n_rows) if block.weight is None else float(block.weight.sum())
        offset = total / weight
        error = _sum_error(terms, np.sqrt(_diagonal(scatter)), offset, weight)
        add_outer(scatter, offset, -weight)
        mean, low = two_sum(shift * unit, offset)
        error = error + _reading_error(block, _diagonal(scatter), mean, weight, unit)
    (none,) = np.nonzero(_diagonal(scatter) <= 0)
    if len(none):
        first = dense(block.rows[:1])[0, none]
        _mark_lost(scatter, error, none[(dense(block.rows[:, none]) != first).any(axis=0)])
    holes = None if np.isfinite(mean).all() else count_missing(block.rows)
    return Moments(n_rows, weight, mean, scatter, holes, low, error)


def _sums(block: Block, shift: Floats, unit: float, rows: int, full: bool) -> tuple[Floats, Floats, int]:
    """Σ √w y and Σ y yᵀ (or its diagonal) for y = √w · unit · (x − shift), piece by piece, in float64; terms of a sum.

    Rows of float32 are multiplied in float64 too: in float32, data of few different values lose digits that no bound
    short of the worst case allows for (docs/certificate.md).
    """
    p = len(shift)
    total, scatter = np.zeros(p), np.zeros((p, p) if full else p)
    root = None if block.weight is None else np.sqrt(block.weight)
    gain = None if unit == 1.0 else np.full(p, unit)
    done = 0
    for piece in Preparation(shift, gain).pieces(block, np.float64, rows):
        if full:
            _add_product(scatter, piece)
        else:
            scatter += np.einsum("ij,ij->j", piece, piece)
        total += _column_sums(piece) if root is None else root[done : done + len(piece)] @ piece
        done += len(piece)
    if full:
        mirror(scatter)
    return total, scatter, min(rows, done) + -(-done // rows)


def _add_product(scatter: Floats, piece: Floats) -> None:
    """scatter += pieceᵀ piece in place, its upper half: BLAS adds each finished sum over the piece to what is there."""
    if add_syrk(piece, scatter):
        return
    by_rows = piece.flags.c_contiguous
    scipy.linalg.blas.dsyrk(
        1.0, piece.T if by_rows else piece, beta=1.0, c=scatter.T, trans=not by_rows, lower=1, overwrite_c=1
    )


def _compiled_sums(rows: Array, shift: Floats) -> tuple[Floats, Floats, int]:
    total, squares = np.zeros_like(shift), np.zeros_like(shift)
    for start in range(0, len(rows), PIECE_ROWS):
        sums = np.zeros((2, len(shift)))
        add_sums(rows[start : start + PIECE_ROWS], shift, *sums)
        total += sums[0]
        squares += sums[1]
    n = len(rows)
    return total, squares, min(PIECE_ROWS, n) + -(-n // PIECE_ROWS)


def compiled_scatter(rows: Array, shift: Floats) -> tuple[Floats, Floats, int]:
    """Σ y and Σ y yᵀ for y = x − shift, and terms of a sum: over a panel, of panels over a part, and of parts."""
    n, p = rows.shape
    total, scatter = np.zeros(p), np.zeros((p, p))
    add_scatter(rows[:PART_ROWS], shift, total, scatter)
    for start in range(PART_ROWS, n, PART_ROWS):
        sums, part = np.zeros(p), np.zeros((p, p))
        add_scatter(rows[start : start + PART_ROWS], shift, sums, part)
        total += sums
        scatter += part
    mirror(scatter)
    return total, scatter, min(n, PANEL_ROWS) + -(-min(n, PART_ROWS) // PANEL_ROWS) + -(-n // PART_ROWS)


def _is_exact(block: Block, scatter: Floats) -> bool:
    """Whether nothing was rounded: of whole numbers less a whole shift every sum is whole, and by Cauchy–Schwarz no
    larger than the largest sum of squares."""
    whole = block.rows.dtype.kind in "iub" and block.rows.dtype.itemsize < 8
    return whole and float(_diagonal(scatter).max()) < EXACT_INTEGERS


def _column_sums(piece: Array) -> Array:
    """Sums of the columns; narrow rows are taken several at a time, because BLAS is slow with short vectors."""
    n, p = piece.shape
    fold = max(1, MIN_BLAS_LENGTH // p) if piece.flags.c_contiguous else 1
    whole = n - n % fold
    ones = np.ones(n, dtype=piece.dtype)
    sums: Array = (ones[: whole // fold] @ piece[:whole].reshape(-1, fold * p)).reshape(fold, p).sum(axis=0)
    return sums + ones[whole:] @ piece[whole:] if whole < n else sums


def _sparse_moments(block: Block, unit: float) -> Moments:
    """Mean and column variances of sparse rows, touching only what is stored."""
    rows = block.rows
    n_rows, p = rows.shape
    if unit != 1.0:
        rows = rows.astype(np.float64) * unit
    weight = np.ones(n_rows) if block.weight is None else block.weight
    total = float(weight.sum())
    with np.errstate(invalid="ignore", over="ignore"):
        stored, sums, _, count, _ = _sparse_sums(rows, weight, np.zeros(p))
        near, full = sums / total, count == n_rows
        if full.any():  # a column of equal numbers has that number for its mean, to the last digit
            last = np.zeros(p)
            last[rows.indices] = rows.data
            near = np.where(full & (_sparse_sums(rows, weight, last)[4] == 0), last, near)
        # of rows that are not stored; where all are, a difference of two sums would be their rounding
        rest = np.where(full, 0.0, np.maximum(total - stored, 0.0))
        unsure = 0.0 if block.weight is None else np.where(full, 0.0, n_rows * UNIT_ROUNDOFF * total)
        _, sums, squares, _, apart = _sparse_sums(rows, weight, near)
        offset = (sums - rest * near) / total
        scatter = squares + rest * near**2
        error = _sum_error(int(count.max(initial=0)) + 1, np.sqrt(scatter), offset, total) + unsure * near**2
        add_outer(scatter, offset, -total)
        varies = apart + (~full & (near != 0))
        _mark_lost(scatter, error, np.flatnonzero((scatter <= 0) & (varies > 0)))
        mean, low = two_sum(near, offset)
        error = error + _reading_error(block, scatter, mean, total, unit)
    holes = None if np.isfinite(mean).all() else count_missing(block.rows)
    return Moments(n_rows, total, mean, scatter, holes, low, error)


def _sparse_sums(rows: Any, weight: Floats, near: Floats) -> tuple[Floats, ...]:
    """All (p,), over what is stored, for x less `near`: Σ w, Σ w x and Σ w x², how many, and how many are not zero."""
    if takes_sparse(rows):
        return csr_column_sums(rows, weight, near)
    column, p = rows.indices, len(near)
    of_entry, x = np.repeat(weight, np.diff(rows.indptr)), rows.data - near[column]
    summed = (of_entry, of_entry * x, of_entry * x**2, np.ones(len(x)), (x != 0).astype(np.float64))
    return tuple(np.bincount(column, one, p).astype(np.float64) for one in summed)


def _choose_shift(block: Block, unit: float, most: float) -> Floats:
    """A value near each column's mean; zero everywhere if no squared mean exceeds the variance more than `most` times.

    Where all values looked at are equal it is that value, so that a column of equal numbers is exactly zero after it,
    and its variance too: a column that varies, be it in its last digit, has a variance above zero.
    """
    every = max(8, block.rows.shape[0] // SHIFT_ROWS)
    sample = dense(block.rows[::every]).astype(np.float64) * unit
    if block.weight is not None:  # a row of great weight may lie anywhere
        heavy = int(np.argmax(block.weight))
        sample = np.concatenate([sample, dense(block.rows[heavy : heavy + 1]).astype(np.float64) * unit])
        weight = np.append(block.weight[::every], block.weight[heavy])
        mean = weight @ sample / weight.sum()
        spread = weight @ (sample - mean) ** 2 / weight.sum()
    else:
        mean, spread = sample.mean(axis=0), sample.var(axis=0)
    if len(sample) > 1 and (mean**2 <= most * spread).all():
        return np.zeros(len(mean))
    # of few digits, so that differences and their products have few: of whole numbers they are exact, as of halves
    step = np.ldexp(1.0, np.frexp(np.sqrt(spread))[1] - SHIFT_BITS)
    if block.rows.dtype.kind in "iub":
        step = np.maximum(step, unit)
    near = np.where(spread > 0, np.rint(mean / step) * step, mean)
    shift = np.where((sample == sample[:1]).all(axis=0), sample[0], near) / unit
    return np.where(np.isfinite(shift), shift, 0.0)


def _sum_error(terms: int, root: Floats, offset: Floats, weight: float) -> Floats:
    """(p,) bound on the error of sums of squares, `root`² each, of so many terms a sum, and of taking the mean off.

    A sum of m products errs by at most m units of roundoff of the sum of their magnitudes (Higham 2002, "Accuracy and
    stability of numerical algorithms", §3.1), which by Cauchy–Schwarz is at most root_i root_j; and the product of the
    means, w δ_i δ_j, by as much of √w δ_i root_j and of root_i √w δ_j.
    """
    error: Floats = (terms + EXTRA_ROUNDINGS) * UNIT_ROUNDOFF * (root + np.sqrt(weight) * np.abs(offset)) ** 2
    return error


def find_inexact(dtype: np.dtype[Any], weighted: bool, lengths: Floats, unit: float) -> Mask:
    """(p,) columns, √Σ w (unit · x)² long, of numbers that may have more digits than float64: longdouble, or integers
    beyond 2⁵³."""
    if dtype.itemsize < 8 or dtype == np.float64:
        return np.zeros(len(lengths), dtype=bool)
    if dtype.kind == "f" or weighted:  # a small weight may hide a large number
        return np.ones(len(lengths), dtype=bool)
    inexact: Mask = lengths > EXACT_INTEGERS * unit  # no value is longer than its column
    return inexact


def _reading_error(block: Block, squares: Floats, mean: Floats, weight: float, unit: float) -> Floats | float:
    """(p,) what rounding to float64 as the rows were read adds to the errors of their scatter.

    Columns of length a that were changed by b have products that changed by at most a_i b_j + b_i a_j + b_i b_j, and
    that by √(e_i e_j) for e = (τ a + b / τ)² + b², whatever τ > 0 (Cauchy–Schwarz).
    """
    if block.rows.dtype.itemsize < 8 or block.rows.dtype == np.float64:
        return 0.0
    a = np.sqrt(np.maximum(squares, 0.0))
    lengths = np.hypot(a, np.sqrt(weight) * mean)
    wide = find_inexact(block.rows.dtype, block.weight is not None, lengths, unit)
    b = np.where(wide, UNIT_ROUNDOFF * lengths, 0.0)
    change, size = float(np.linalg.norm(b)), float(np.linalg.norm(a))
    if change == 0.0:
        return 0.0
    tau = np.sqrt(change / max(change, size))
    error: Floats = (tau * a + b / tau) ** 2 + b**2
    return error
