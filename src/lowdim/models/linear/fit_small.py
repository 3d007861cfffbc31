"""Fits of small arrays in a straight line: what `fit` does of any data, of those that need no thought.

Planning, threads and blocks take longer than all arithmetic on a hundred rows, and half as long as that on a million
numbers. Here an array is multiplied at once. Whatever is unusual (columns that hardly vary, squares out of range,
eigenvalues that lie close or are zero, digits that were lost) is left to the long way, which decides everything again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import numpy as np

from lowdim.matrices.compiled_products import takes_scatter
from lowdim.matrices.moments import (
    EXTRA_ROUNDINGS,
    SHIFT_ROWS,
    Moments,
    add_outer,
    compiled_scatter,
    two_sum,
)
from lowdim.matrices.rounding import UNIT_ROUNDOFF, USUAL_ERROR, Rounding, probable_error
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import keep_rule
from lowdim.models.linear.compiled_fit_small import STRETCH, compute_pairs
from lowdim.models.linear.fit import Learnt
from lowdim.results.certificate import Accuracy
from lowdim.results.record import LinearFit
from lowdim.runtime.native import is_compiled
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.certify import Account, certify_clear
from lowdim.solvers.choose import covariance_of_small
from lowdim.solvers.covariance import Covariance, make_factors
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.solver import Factors, fix_signs
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Source
from lowdim.types import EPS, Floats

MOST_ENTRIES = 2**18
"""Of the array: 2 MB in float64, which lie in the cache of one core …"""

MOST_SCATTER_ENTRIES = 2**21
"""… and where scatters are compiled: two milliseconds at most, of which another thread would save what it costs."""

MOST_COLUMNS = 100
"""Up to here the covariance is the cheapest solver, whatever is asked for."""

LEAST_SPREAD = 1e-16
"""Share of a column's mean square that its variance must exceed, or the long way looks at it."""

RANGE = 1e-100
"""Sums of squares below it, and above one over it, may leave the range of float64 when they are squared."""


SINGLE_SPACING = float(np.finfo(np.float32).eps)


def is_small(source: Source) -> TypeGuard[ArraySource]:
    """Whether a fit of this source may go the short way."""
    if type(source) is not ArraySource:
        return False
    n, p = source.array.shape
    if source.dtype.char not in "fd" or not source.dtype.isnative or not 1 < p <= MOST_COLUMNS or p >= n:
        return False
    return bool(n * p <= (MOST_SCATTER_ENTRIES if takes_scatter(source.array) else MOST_ENTRIES))


def fit_small(
    source: ArraySource, owner: str, n_components: object, ddof: int, asked: Accuracy, seed: object
) -> Learnt | None:
    """The fit of a small array, centred and not scaled; None where it must go the long way."""
    X = source.array
    n, p = X.shape
    keep = keep_rule(owner, n_components, n, p)
    if n <= ddof or keep.needs_all:
        return None
    found = find_pairs(X, keep)
    learnt = None if found is None else _learn(source, found, keep, ddof, asked, seed)
    if learnt is not None:  # else the long way tells of its own pass
        with stage(ROW, n) as tell:
            tell(n)
    return learnt


class Found(NamedTuple):
    """What is known of rows by arithmetic alone."""

    scatter: Floats
    """(p, p)"""
    columns: Floats
    """(5, p): of each column its mean, what float64 leaves over of that, what its square may be wrong by, and its
    square about the mean; of all columns the eigenvalues."""
    vectors: Floats
    """(k, p)"""
    pairs: Floats
    """(5, k): eigenvalues of YᵀY, their residuals, rounding and tilt, and what the rounding of the values themselves
    may have changed them by."""
    facts: Sequence[float]
    """Sums of the eigenvalues, of the errors of squares, of the squares of what means leave over; what a product with S
    may be wrong by; the largest square; the largest entry of |V Vᵀ − I|."""
    terms: int
    """Of a sum over the rows, at most."""


def find_pairs(X: Floats, keep: Keep) -> Found | None:
    """Mean, scatter and eigenpairs of rows (n, p), and what they may be wrong by; None where anything is unusual."""
    if X.size > MOST_ENTRIES or not is_compiled():
        return find_plainly(X, keep)
    n, p = X.shape
    terms = _terms(n)
    spacing = SINGLE_SPACING if X.dtype.itemsize == 4 else EPS
    k = keep.k if isinstance(keep, KeepCount) else p
    made = compute_pairs(X, k, max(1, n // SHIFT_ROWS), terms + EXTRA_ROUNDINGS, spacing, LEAST_SPREAD, RANGE)
    if made is None or isinstance(keep, KeepCount):
        return None if made is None else Found(*made, terms)
    scatter, columns, vectors, pairs, facts = made
    k = keep.count(columns[4], facts[0]) or p
    return Found(scatter, columns, vectors[:k].copy(), pairs[:, :k], facts, terms)


def _terms(n: int) -> int:
    """Of a sum over n rows, at most: those of a stretch, and sums of stretches."""
    return min(STRETCH, n) + -(-n // STRETCH)


def find_plainly(X: Floats, keep: Keep) -> Found | None:
    """The same by NumPy and LAPACK, but for the scatter of many rows."""
    with one_blas_thread(), np.errstate(invalid="ignore", over="ignore"):
        n, p = X.shape
        looked = X[:: max(1, n // SHIFT_ROWS)]
        shift = np.add.reduce(looked, axis=0, dtype=np.float64)
        shift /= len(looked)
        total, scatter, terms = compiled_scatter(X, shift) if X.size > MOST_ENTRIES else _sums(X, shift)
        squares = scatter.diagonal()
        least, largest = float(squares.min()), float(squares.max())
        if not RANGE < least <= largest < 1 / RANGE or not (squares > (LEAST_SPREAD * n) * shift * shift).all():
            return None  # what is not finite, too
        offset = total / n
        error = (terms + EXTRA_ROUNDINGS) * UNIT_ROUNDOFF * (np.sqrt(squares) + math.sqrt(n) * np.abs(offset)) ** 2
        add_outer(scatter, offset, -n)
        if not (squares > 0).all():
            return None
        mean, low = two_sum(shift, offset)
        factors = make_factors(scatter, *np.linalg.eigh(scatter), Rounding(0.0, 0.0, error), keep, p)
        fix_signs(factors.vectors)
        V, values, spectrum = factors.vectors, factors.values, factors.spectrum
        assert spectrum is not None  # of all columns
        lengths = np.sqrt(squares + n * (mean * mean))
        moved = np.abs(V) @ lengths * ((SINGLE_SPACING if X.dtype.itemsize == 4 else EPS) / 2)
        changed = 2 * np.sqrt(values) * moved + moved * moved
        own = factors.following_residual - float(error.sum())
        facts = [spectrum.sum(), error.sum(), low @ low, own, squares.max(), np.abs(V @ V.T - np.eye(len(V))).max()]
        pairs = np.stack([values, factors.residuals, factors.rounding, factors.tilt, changed])
        return Found(
            scatter, np.stack([mean, low, error, squares, spectrum]), V, pairs, [float(one) for one in facts], terms
        )


def _sums(X: Floats, shift: Floats) -> tuple[Floats, Floats, int]:
    """Σ y and Σ y yᵀ for y = x − shift, and terms of a sum."""
    n, p = X.shape
    y = X - shift
    whole = n - n % STRETCH
    stretches, rest = y[:whole].reshape(-1, STRETCH, p), y[whole:]
    scatter = np.matmul(stretches.transpose(0, 2, 1), stretches).sum(axis=0) + rest.T @ rest
    total = stretches.sum(axis=1).sum(axis=0) + rest.sum(axis=0)
    return total, scatter, _terms(n)


def _learn(source: ArraySource, found: Found, keep: Keep, ddof: int, asked: Accuracy, seed: object) -> Learnt | None:
    """Certify it, and make a record of it."""
    n, p = source.array.shape
    total, errors, left, own, largest, apart = found.facts
    mean, low, error, squares, spectrum = found.columns
    values, residuals, rounding, tilt, changed = found.pairs
    k = len(values)
    factors = Factors(
        values=values,
        vectors=found.vectors,
        residuals=residuals,
        rounding=rounding,
        tilt=tilt,
        following=float(spectrum[k]) if k < p else None,
        following_residual=errors + own,
        spectrum=spectrum,
    )
    account = Account(
        solver=Covariance.name,
        n_rows=n,
        rank=min(n - 1, p),
        unit_error=16 * UNIT_ROUNDOFF * n / (n - ddof),
        total_error=errors + (p + 8) * UNIT_ROUNDOFF * total,
        left_of_mean=errors * (found.terms + EXTRA_ROUNDINGS) * UNIT_ROUNDOFF + n * left,
        data_rounding=changed,
        passes=1,
        bytes_read=source.array.nbytes,
    )
    unit = 1.0 / (n - ddof)
    certificate = certify_clear(factors, total, unit, asked, account, probable_error(USUAL_ERROR, largest), apart)
    if certificate is None:
        return None
    choice = covariance_of_small(keep, n, p)
    fit = LinearFit(
        mean=mean,
        scale=np.ones(p),
        column_weight=None,
        components=found.vectors,
        variances=values * unit,
        singular_values=np.sqrt(values),
        total_variance=total * unit,
        n_rows=n,
        weight=float(n),
        ddof=ddof,
        certificate=certificate,
        provenance=made_from(source, Covariance.name, choice.reason, 1, choice.memory, seed),
        columns=source.columns,
        spectrum=spectrum * unit,
        column_variances=squares / (n - ddof),
    )
    return Learnt(fit, Moments(n, float(n), mean, found.scatter, None, low, error))
