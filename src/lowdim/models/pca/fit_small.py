"""Fits of small arrays in a straight line: what `fit` does of any data, of those that need no thought.

Planning, threads and blocks take longer than all arithmetic on a hundred rows, and half as long as that on a million
numbers. Here an array is multiplied at once. Whatever is unusual (columns that hardly vary, squares out of range,
eigenvalues that lie close or are zero, digits that were lost) is left to the long way, which decides everything again.
"""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np

from lowdim.matrices.compiled_products import takes_scatter
from lowdim.matrices.moments import (
    EXTRA_ROUNDINGS,
    PIECE_ROWS,
    SHIFT_ROWS,
    Moments,
    add_outer,
    compiled_scatter,
    two_sum,
)
from lowdim.matrices.rounding import UNIT_ROUNDOFF, USUAL_ERROR, Rounding
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import keep_rule
from lowdim.models.linear.fit import Learnt
from lowdim.results.certificate import Accuracy
from lowdim.results.record import LinearFit
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.certify import Account, certify_clear
from lowdim.solvers.choose import covariance_of_small
from lowdim.solvers.covariance import Covariance, make_factors
from lowdim.solvers.keep import Keep
from lowdim.solvers.solver import fix_signs
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Source
from lowdim.types import EPS, Floats

MOST_ENTRIES = 2**18
"""Of the array: 2 MB in float64, which lie in the cache of one core …"""

MOST_COMPILED_ENTRIES = 2**21
"""… and where scatters are compiled: two milliseconds at most, of which another thread would save what it costs."""

LEAST_COMPILED_ENTRIES = 2**14
"""Below, NumPy's products take no longer."""

MOST_COLUMNS = 100
"""Up to here the covariance is the cheapest solver, whatever is asked for."""

LEAST_SPREAD = 1e-16
"""Share of a column's mean square that its variance must exceed, or the long way looks at it."""

RANGE = 1e-100
"""Sums of squares below it, and above one over it, may leave the range of float64 when they are squared."""


def is_small(source: Source) -> TypeGuard[ArraySource]:
    """Whether a fit of this source may go the short way."""
    if type(source) is not ArraySource:
        return False
    n, p = source.array.shape
    if source.dtype.char not in "fd" or not source.dtype.isnative or not 1 < p <= MOST_COLUMNS or p >= n:
        return False
    return bool(n * p <= (MOST_COMPILED_ENTRIES if takes_scatter(source.array) else MOST_ENTRIES))


def fit_small(
    source: ArraySource, owner: str, n_components: object, ddof: int, asked: Accuracy, seed: object
) -> Learnt | None:
    """The fit of a small array, centred and not scaled; None where it must go the long way."""
    X = source.array
    n, p = X.shape
    keep = keep_rule(owner, n_components, n, p)
    if n <= ddof or keep.needs_all:
        return None
    with one_blas_thread(), stage(ROW, n) as tell:
        moments = _moments(X)
        learnt = None if moments is None else _fit(source, moments, keep, ddof, asked, seed)
        tell(n)
    return learnt


def _moments(X: Floats) -> Moments | None:
    """As `block_moments` finds them."""
    n = len(X)
    with np.errstate(invalid="ignore", over="ignore"):
        looked = X[:: max(1, n // SHIFT_ROWS)]
        shift = np.add.reduce(looked, axis=0, dtype=np.float64)
        shift /= len(looked)
        total, scatter, terms = _sums(X, shift)
        squares = scatter.diagonal()
        least, largest = float(squares.min()), float(squares.max())
        if not RANGE < least <= largest < 1 / RANGE or not (squares > (LEAST_SPREAD * n) * shift * shift).all():
            return None  # what is not finite, too
        offset = total / n
        error = np.sqrt(squares)
        error += math.sqrt(n) * np.abs(offset)
        error *= error
        error *= (terms + EXTRA_ROUNDINGS) * UNIT_ROUNDOFF
        add_outer(scatter, offset, -n)
        mean, low = two_sum(shift, offset)
    return Moments(n, float(n), mean, scatter, None, low, error)


def _sums(X: Floats, shift: Floats) -> tuple[Floats, Floats, int]:
    """Σ y and Σ y yᵀ for y = x − shift, and terms of a sum."""
    n = len(X)
    if X.size > LEAST_COMPILED_ENTRIES and takes_scatter(X):
        return compiled_scatter(X, shift)
    ones, piece = np.ones(min(n, PIECE_ROWS)), X[:PIECE_ROWS] - shift
    scatter, total = piece.T @ piece, ones @ piece
    for start in range(PIECE_ROWS, n, PIECE_ROWS):
        rows = X[start : start + PIECE_ROWS]
        piece = np.subtract(rows, shift, out=piece[: len(rows)])
        scatter += piece.T @ piece
        total += ones[: len(rows)] @ piece
    return total, scatter, min(PIECE_ROWS, n) + -(-n // PIECE_ROWS)


def _fit(source: ArraySource, moments: Moments, keep: Keep, ddof: int, asked: Accuracy, seed: object) -> Learnt | None:
    n, p, scatter = moments.n_rows, len(moments.mean), moments.scatter
    squares, error, low = scatter.diagonal(), np.asarray(moments.error), np.asarray(moments.low)
    values, vectors = np.linalg.eigh(scatter)
    factors = make_factors(scatter, values, vectors, Rounding(0.0, 0.0, error), keep, p)
    fix_signs(factors.vectors)
    assert factors.spectrum is not None  # of all columns
    total = float(factors.spectrum.sum())
    terms = min(n, PIECE_ROWS) + n / PIECE_ROWS + EXTRA_ROUNDINGS
    errors = float(error.sum())
    lengths = np.sqrt(squares + n * (moments.mean * moments.mean))
    spacing = 1.1920928955078125e-07 if source.dtype.itemsize == 4 else EPS
    moved = np.abs(factors.vectors) @ lengths
    moved *= spacing / 2
    account = Account(
        solver=Covariance.name,
        n_rows=n,
        rank=min(n - 1, p),
        unit_error=16 * UNIT_ROUNDOFF * n / (n - ddof),
        total_error=errors + (p + 8) * UNIT_ROUNDOFF * total,
        left_of_mean=errors * terms * UNIT_ROUNDOFF + n * float(low @ low),
        data_rounding=2 * np.sqrt(factors.values) * moved + moved * moved,
        passes=1,
        bytes_read=source.array.nbytes,
    )
    unit = 1.0 / (n - ddof)
    usual = Rounding.of_entries(USUAL_ERROR, squares).value
    certificate = certify_clear(factors, total, unit, asked, account, usual)
    if certificate is None:
        return None
    choice = covariance_of_small(keep, n, p)
    fit = LinearFit(
        mean=moments.mean,
        scale=np.ones(p),
        column_weight=None,
        components=factors.vectors,
        variances=factors.values * unit,
        singular_values=np.sqrt(factors.values),
        total_variance=total * unit,
        n_rows=n,
        weight=float(n),
        ddof=ddof,
        certificate=certificate,
        provenance=made_from(source, Covariance.name, choice.reason, 1, choice.memory, seed),
        columns=source.columns,
        spectrum=factors.spectrum * unit,
        column_variances=squares / (n - ddof),
    )
    return Learnt(fit, moments)
