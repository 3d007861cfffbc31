"""The bootstrap of a PCA, exact, in the space of the rows: what it costs does not grow with the number of columns.

Resampled rows are rows of Y again, each w times, so all of them lie in the space that the n rows span. For n < p, the
n × n matrix YYᵀ therefore tells everything about every resample: with m = YYᵀw/N, of the resample's centre,

    G = √w (YYᵀ − m1ᵀ − 1mᵀ + wᵀm/N) √wᵀ = U σ² Uᵀ        and        axes  V = Yᵀ (√w U / σ)

(Fisher, Caffo, Schwartz & Zipunnikov 2016, "Fast, exact bootstrap principal component analysis for p > 1 million", who
write rows by their scores: YYᵀ is what those have in common with Y). Rows that were not drawn have w = 0 and are left
out, which makes G a matrix of about 0.63 n rows. Axes are kept as coefficients (n numbers, not p) until intervals
of their entries are asked for. For n ≥ p the p × p scatter Yᵀ diag(w) Y takes the place of G.

Where columns are scaled, each resample scales them anew, to the roots of their weights if they have any. For n ≥ p its
scatter says by how much. For n < p there is no way round the columns: the Gram matrix of the rescaled rows is formed
for every resample, which is exact too and costs n² p / 2 multiplications each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.runtime.progress import stage
from lowdim.runtime.threads import in_order
from lowdim.types import Floats, Mask, Places

MIN_SHARE_BY_GRAM = 1e-5
"""Smallest kept variance, as a share of the largest, down to which it is found from a Gram matrix: its relative error
is about 1e-15 over this share. Below, the singular values of the rows themselves are taken."""

MIN_VARIANCE_SHARE = 1e-13
"""Share of the largest variance below which a resample is taken to have no such direction."""

MAX_ORDER_OF_FULL_EIGH = 256
"""Order up to which all eigenvectors are found at once: below, that is faster than the few that are needed."""

COLUMN_BYTES = 16 * 2**20
"""Of rescaled columns that are multiplied at a time."""

RESAMPLES_PER_TASK = 8
"""Resamples that a thread takes at a time."""

ALL_COLUMNS = slice(None)


@dataclass(frozen=True)
class Sample:
    """Rows that are resampled, and what is done with each resample."""

    Y: Floats
    """(n, p) rows, centred and scaled as the fit of all of them was."""
    k: int
    """Components that are looked at."""
    center: bool = True
    rescale: bool = False
    """Whether every resample divides the columns by their standard deviations anew."""
    ddof: int = 1
    weight: NDArray[np.int64] | None = None
    """(n,) how often each row stands in the data; None: once."""
    careful: bool = False
    """Whether components are too small for a Gram matrix."""
    target: Floats | None = None
    """(p,) standard deviation that columns have once they are scaled anew: the roots of their weights; None: one."""

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """(N,) to which row each of the units belongs that are drawn from."""
        return units_of(len(self.Y), self.weight)

    @property
    def wide(self) -> bool:
        """Whether there are fewer rows than columns."""
        n, p = self.Y.shape
        return bool(n < p)

    @cached_property
    def gram(self) -> Floats:
        """(n, n) YYᵀ."""
        return np.asarray(self.Y @ self.Y.T)

    @cached_property
    def coordinates(self) -> Floats:
        """(n, n) rows in an orthonormal basis of the space that they span, for what a Gram matrix would lose."""
        return np.ascontiguousarray(scipy.linalg.qr(self.Y.T, mode="r", check_finite=False)[0][: len(self.Y)].T)

    def divisors(self, squares: Floats, freedom: float, columns: slice = ALL_COLUMNS) -> Floats:
        """What columns of Y are divided by to be scaled anew, from sums of squares (columns,) or (columns, B).

        1 for columns that do not vary in a resample, which are not scaled, and for those of weight zero.
        """
        target = np.ones(squares.shape[0]) if self.target is None else self.target[columns]
        target = target.reshape(-1, *[1] * (squares.ndim - 1))
        deviations = np.sqrt(np.maximum(squares, 0.0) / freedom)
        varies = deviations > np.sqrt(MIN_VARIANCE_SHARE) * target
        return np.divide(deviations, target, out=np.ones_like(deviations), where=varies & (target > 0))

    @property
    def rank(self) -> int:
        """Directions with variance that a resample can have, at most."""
        n, p = self.Y.shape
        used = n if self.weight is None else int(np.count_nonzero(self.weight))
        return int(min(used - self.center, p))


@dataclass(frozen=True)
class Resample:
    """The PCA of one resample."""

    spectrum: Floats
    """(rank,) all variances, largest first."""
    total: float
    """Their sum."""
    axes: Floats
    """(q, k) of n < p: by which rows of Y add up to axes, n numbers each; of n ≥ p the axes, p numbers each. NaN where
    the resample has no such direction."""
    scores: Floats
    """(q, k) of n < p: scores of all rows of Y; of n ≥ p: what rows of Y are multiplied by, to give them."""
    offset: Floats
    """(k,) what is taken off that product: the score of the resample's mean."""


@dataclass(frozen=True)
class Resamples:
    """The PCAs of many resamples."""

    sample: Sample
    seed: int
    spectra: Floats
    """(B, rank)"""
    totals: Floats
    """(B,)"""
    axes: Floats
    """(k, B, q) see Resample."""
    scores: Floats
    """(k, B, q)"""
    offsets: Floats
    """(k, B)"""
    rows: NDArray[np.int64]
    """(B,) how many different rows each resample has."""

    @property
    def count(self) -> int:
        """B."""
        return len(self.totals)

    def components(self, which: Floats, columns: slice) -> Floats:
        """(columns, B) entries of an axis, or of a sum of axes, whose coefficients (B, q) are given."""
        if not self.sample.wide:
            return np.ascontiguousarray(which[:, columns].T)
        found = self.sample.Y[:, columns].T @ which.T
        return np.asarray(found / self._divisors(columns) if self.sample.rescale else found)

    def _divisors(self, columns: slice) -> Floats:
        """(columns, B) what resamples divide columns by; made anew for each stretch of columns."""
        Y, drawn = self.sample.Y[:, columns], self._drawn
        units = float(len(self.sample.owner))
        mean = Y.T @ drawn / units if self.sample.center else np.zeros((Y.shape[1], self.count))
        return self.sample.divisors((Y**2).T @ drawn - units * mean**2, units - self.sample.ddof, columns)

    @cached_property
    def _drawn(self) -> Floats:
        """(n, B) how often each resample has each row."""
        return np.stack(
            [draw_counts(self.sample.owner, len(self.sample.Y), self.seed, b) for b in range(self.count)], axis=1
        )


def units_of(n: int, weight: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """(N,) to which of n rows each unit belongs, where rows stand `weight` (n,) times each; None: once."""
    return np.arange(n) if weight is None else np.repeat(np.arange(n), weight)


def draw_counts(owner: NDArray[np.int64], n: int, seed: int, number: int) -> Floats:
    """(n,) how often each row stands in a resample: as many units as there are, drawn with replacement, of which each
    belongs to the row that `owner` says.

    It depends on the seed and the resample's number alone, so on no order in which threads come to them.
    """
    units = len(owner)
    chosen = owner[np.random.default_rng([seed, number]).integers(0, units, units)]
    return np.bincount(chosen, minlength=n).astype(np.float64)


def resample_often(sample: Sample, count: int, seed: int) -> Resamples:
    """The PCAs of so many resamples, on all threads."""
    q = min(sample.Y.shape)
    axes, scores = np.empty((sample.k, count, q)), np.empty((sample.k, count, q))
    spectra, totals, offsets = np.empty((count, sample.rank)), np.empty(count), np.empty((sample.k, count))
    rows = np.empty(count, dtype=np.int64)
    if sample.wide and not sample.rescale:  # made once, before threads ask for them
        assert sample.gram.size
        assert not sample.careful or sample.coordinates.size

    def work(numbers: range) -> None:
        for b in numbers:
            w = draw_counts(sample.owner, len(sample.Y), seed, b)
            one = resample(sample, w)
            spectra[b], totals[b], axes[:, b], scores[:, b] = one.spectrum, one.total, one.axes.T, one.scores.T
            offsets[:, b], rows[b] = one.offset, np.count_nonzero(w)

    tasks = (range(b, min(b + RESAMPLES_PER_TASK, count)) for b in range(0, count, RESAMPLES_PER_TASK))
    with stage("resample", count) as tell:
        for done, _ in enumerate(in_order(work, tasks), start=1):
            tell(min(done * RESAMPLES_PER_TASK, count))
    return Resamples(sample, seed, spectra, totals, axes, scores, offsets, rows)


def resample(sample: Sample, w: Floats) -> Resample:
    """The PCA of rows that stand w (n,) times each."""
    if not sample.wide:
        return _of_scatter(sample, w)
    return _of_rescaled_gram(sample, w) if sample.rescale else _of_gram(sample, w)


def memory_needed(n: int, p: int, k: int, count: int) -> int:
    """Bytes beside the data: a copy of the rows, the Gram matrix, coefficients of axes and scores, all variances."""
    q = min(n, p)
    return 8 * (n * p + q * q + 2 * k * count * q + count * q)


def _of_gram(sample: Sample, w: Floats) -> Resample:
    """n < p: from YYᵀ alone."""
    K, units = sample.gram, w.sum()
    here = np.flatnonzero(w)
    root = np.sqrt(w[here])
    middle = K @ w / units if sample.center else np.zeros(len(K))
    if sample.careful:
        T = sample.coordinates
        values, U = _by_rows((T[here] - (w @ T / units if sample.center else 0.0)) * root[:, None], sample.k)
    else:
        G = K[np.ix_(here, here)] - middle[here][:, None] - middle[here] + w @ middle / units
        values, U = _by_gram(G * (root[:, None] * root), sample.k)
    axes = _coefficients(values, U, root, here, sample)
    if sample.center:
        axes -= np.multiply.outer(w, axes.sum(axis=0)) / units  # zero but for rounding
    return _make_resample(sample, values, units, axes, K @ axes - middle @ axes, np.zeros(sample.k))


def _of_rescaled_gram(sample: Sample, w: Floats) -> Resample:
    """n < p with columns that are scaled anew: the Gram matrix of the rescaled rows, a stretch of columns at a time."""
    Y, units = sample.Y, w.sum()
    n, p = Y.shape
    here = np.flatnonzero(w)
    root = np.sqrt(w[here])
    step = max(1, COLUMN_BYTES // (8 * n))
    K, stretches = np.zeros((n, n)), []
    for start in range(0, p, step):
        columns = slice(start, start + step)
        part = Y[:, columns]
        mean = w @ part / units if sample.center else np.zeros(part.shape[1])
        Z = (part - mean) / sample.divisors(w @ part**2 - units * mean**2, units - sample.ddof, columns)
        K += Z @ Z.T
        if sample.careful:
            stretches.append(Z[here] * root[:, None])
    if sample.careful:
        values, U = _by_rows(np.concatenate(stretches, axis=1), sample.k)
    else:
        values, U = _by_gram(K[np.ix_(here, here)] * (root[:, None] * root), sample.k)
    axes = _coefficients(values, U, root, here, sample)
    return _make_resample(sample, values, units, axes, K @ axes, np.zeros(sample.k))


def _of_scatter(sample: Sample, w: Floats) -> Resample:
    """n ≥ p: from the p × p scatter of the resample."""
    Y, units = sample.Y, w.sum()
    p = Y.shape[1]
    here = np.flatnonzero(w)
    mean = w @ Y / units if sample.center else np.zeros(p)
    Z = (Y[here] - mean) * np.sqrt(w[here])[:, None]
    divisors = np.ones(p)
    if sample.rescale:
        divisors = sample.divisors(np.einsum("ij,ij->j", Z, Z), units - sample.ddof)
        Z /= divisors
    values, axes = _by_rows(Z.T, sample.k) if sample.careful else _by_gram(Z.T @ Z, sample.k)
    axes = np.where(_find_directions(values, sample), _pad(axes, sample.k), np.nan)
    scores = axes / divisors[:, None]
    return _make_resample(sample, values, units, axes, scores, mean @ scores)


def _make_resample(
    sample: Sample, values: Floats, units: float, axes: Floats, scores: Floats, offset: Floats
) -> Resample:
    spectrum = np.zeros(sample.rank)
    spectrum[: len(values)] = values[: sample.rank] / (units - sample.ddof)
    return Resample(spectrum, float(values.sum()) / (units - sample.ddof), axes, scores, offset)


def _coefficients(values: Floats, U: Floats, root: Floats, here: Places, sample: Sample) -> Floats:
    """(n, k) by which rows add up to axes of length one."""
    n, k = len(sample.Y), sample.k
    there = _find_directions(values, sample)
    lengths = np.sqrt(np.where(there, np.append(values, np.zeros(k))[:k], 1.0))
    found = np.zeros((n, k))
    found[here] = root[:, None] * _pad(U, k) / lengths
    found[:, ~there] = np.nan
    return found


def _find_directions(values: Floats, sample: Sample) -> Mask:
    """(k,) whether there is such a direction."""
    least = (
        MIN_VARIANCE_SHARE**2 if sample.careful else MIN_VARIANCE_SHARE
    )  # of squares of singular values, twice as many digits are right
    return np.asarray(np.append(values, np.zeros(sample.k))[: sample.k] > least * values[0])


def _pad(U: Floats, k: int) -> Floats:
    return U if U.shape[1] == k else np.append(U, np.zeros((len(U), k - U.shape[1])), axis=1)


def _by_gram(G: Floats, k: int) -> tuple[Floats, Floats]:
    """All eigenvalues, largest first, and the first k eigenvectors in columns."""
    m = len(G)
    k = min(k, m)
    if m <= MAX_ORDER_OF_FULL_EIGH or 4 * k > m:
        values, vectors = np.linalg.eigh(G)
    else:
        values = np.linalg.eigvalsh(G)
        vectors = scipy.linalg.eigh(G, subset_by_index=[m - k, m - 1], check_finite=False)[1]
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1][:, :k]


def _by_rows(Z: Floats, k: int) -> tuple[Floats, Floats]:
    """The same of ZZᵀ, from Z itself."""
    U, singular, _ = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
    return singular**2, U[:, :k]
