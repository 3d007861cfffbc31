"""Features f(x) whose inner products stand for the kernel, and kernel PCA as PCA of them, in one pass over the rows.

A row that was learnt from and a new row equal to it get the same f. Landmarks, explicit features (of linear and cosine
kernels) and random features differ only in how f is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrsm

from lowdim.errors import BadInput, NeedsAnotherPass
from lowdim.matrices.missing import naming_all_missing, refuse_missing_in_block
from lowdim.matrices.moments import Moments, block_moments
from lowdim.matrices.preparation import Preparation, piece_rows
from lowdim.models.kernel_pca.kernels import (
    Cosine,
    Custom,
    Gaussian,
    Kernel,
    KernelColumns,
    Laplacian,
    Linear,
    unit_rows,
)
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.runtime.threads import all_blas_threads, one_blas_thread
from lowdim.solvers.keep import Keep
from lowdim.solvers.solver import fix_signs
from lowdim.sources.source import Block, Source
from lowdim.sources.wrapped import passes_to_take, take_rows
from lowdim.types import Floats

PIECE_BYTES = 2**22
"""Features of some rows that are made at a time: enough for products at full speed, few enough for the cache."""


class Features(ABC):
    """A description of rows of p columns by m numbers."""

    @property
    @abstractmethod
    def m(self) -> int:
        """How many numbers describe a row."""

    @abstractmethod
    def of(self, rows: Floats) -> Floats:
        """(n, m) features f of rows (n, p): a new array in row order."""

    def pieces(self, block: Block) -> Iterator[tuple[Floats, Floats]]:
        """The rows of a block, some at a time and never all, each time with their features."""
        for rows in cut_rows(block, self.m):
            yield rows, self.of(rows)


@dataclass(frozen=True)
class KernelFeatures(Features):
    """L⁻¹ k(basis, x): coordinates of φ(x), projected on the span of the φ of the basis, in an orthonormal basis."""

    columns: KernelColumns
    triangle: Floats | None  # (m, m) lower triangle L, K(basis, basis) = L Lᵀ; None: the identity

    @property
    def m(self) -> int:
        """As many as there are rows in the basis."""
        return len(self.columns.basis)

    def of(self, rows: Floats) -> Floats:
        """(n, m) features."""
        values = self.columns.of(rows)
        return values if self.triangle is None else solve_triangle(self.triangle, values)


@dataclass(frozen=True)
class ExplicitFeatures(Features):
    """k(e, x) for the p rows e of the identity, of kernels that are inner products of (scaled) rows as they are."""

    kernel: Linear | Cosine
    p: int

    @property
    def m(self) -> int:
        """As many as there are columns."""
        return self.p

    def of(self, rows: Floats) -> Floats:
        """(n, p) features: what `KernelFeatures` would make, without the product."""
        return unit_rows(rows) if isinstance(self.kernel, Cosine) else np.array(rows, order="C")


@dataclass(frozen=True)
class WaveFeatures(Features):
    """√(factor / d) (cos w·x, sin w·x) for d frequencies w: then ⟨f(x), f(y)⟩ is the mean of cos w·(x − y), which is
    k(x, y) on average over the frequencies (Bochner's theorem; Rahimi & Recht 2007, "Random features")."""

    frequencies: Floats  # (d, p)
    factor: float

    @property
    def m(self) -> int:
        """Two for each frequency."""
        return 2 * len(self.frequencies)

    def of(self, rows: Floats) -> Floats:
        """(n, 2 d) features: all cosines, then all sines."""
        d = len(self.frequencies)
        phases = rows @ self.frequencies.T
        waves = np.empty((len(rows), 2 * d))
        np.cos(phases, out=waves[:, :d])
        np.sin(phases, out=waves[:, d:])
        waves *= np.sqrt(self.factor / d)
        return waves


def features_of(kernel: Kernel, axes: KernelAxes) -> Features:
    """How the features were made that the axes are axes of."""
    if axes.waves:
        assert isinstance(kernel, (Gaussian, Laplacian))
        return WaveFeatures(axes.basis, kernel.factor)
    return KernelFeatures(KernelColumns(kernel, axes.basis), axes.triangle)


@dataclass(frozen=True)
class Scores:
    """How the scores of rows are made: features times weights, less an offset."""

    features: Features
    weights: Floats  # (m, k)
    offset: Floats  # (k,)

    def of(self, rows: Floats) -> Floats:
        """(n, k) scores of rows (n, p)."""
        return np.asarray(self.features.of(rows) @ self.weights - self.offset)

    def pieces(self, block: Block) -> Iterator[tuple[Floats, Floats]]:
        """The rows of a block, some at a time and never all, each time with their scores."""
        for rows, f in self.features.pieces(block):
            yield rows, f @ self.weights - self.offset


def scores_of(kernel: Kernel, axes: KernelAxes) -> Scores:
    """How scores on the axes are made: of landmarks by weights L⁻ᵀ axes of the kernels themselves, which takes m k
    products of a row and not m² / 2."""
    if axes.triangle is None:
        return Scores(features_of(kernel, axes), axes.axes, axes.offset)
    weights = np.ascontiguousarray(solve_triangular(axes.triangle, axes.axes, lower=True, trans="T"))
    return Scores(KernelFeatures(KernelColumns(kernel, axes.basis), None), weights, axes.offset)


def solve_triangle(triangle: Floats, values: Floats) -> Floats:
    """(n, m) values L⁻ᵀ for a lower triangle L, in the memory of the values, which are in row order."""
    if not len(values):
        return values
    # BLAS wants columns: the transposes are in that order as they lie, and Fᵀ = L⁻¹ Kᵀ
    return np.asarray(dtrsm(1.0, triangle, values.T, side=0, lower=1, overwrite_b=1).T)


def cut_rows(block: Block, m: int) -> Iterator[Floats]:
    """Rows of a block in float64, as many at a time as m numbers of each fit in the cache."""
    as_they_are = Preparation(np.zeros(block.rows.shape[1]), None)
    yield from as_they_are.pieces(replace(block, weight=None), np.float64, piece_rows(m, 8, PIECE_BYTES, 64, 8192))


# Axes of kernel PCA from features: moments of f in one pass over the rows, then eigenvectors of an m × m matrix.

EPS = float(np.finfo(float).eps)

MOST_EXCESS = 1e-8
"""Share of the largest k(x, x) by which an |f(x)|² may exceed its own: only rounding makes it do so in a kernel that is
positive semi-definite."""


@dataclass(frozen=True)
class FeatureSums:
    """What rows say about their features."""

    moments: Moments  # mean and scatter of f
    missed: float  # Σ k(x, x) − |f(x)|²: the trace of what the features do not see
    excess: float  # the most by which |f(x)|² exceeds k(x, x)
    largest: float  # the largest k(x, x)

    def add(self, other: FeatureSums) -> FeatureSums:
        """Of both sets of rows, in this one's memory."""
        excess, largest = max(self.excess, other.excess), max(self.largest, other.largest)
        return FeatureSums(self.moments.absorb(other.moments), self.missed + other.missed, excess, largest)


def sum_features(kernel: Kernel, features: Features, source: Source) -> FeatureSums:
    """Sums over all rows of a source, in one pass."""
    return source.reduce(partial(_sums_of_block, kernel=kernel, features=features), FeatureSums.add)


def _sums_of_block(block: Block, kernel: Kernel, features: Features) -> FeatureSums:
    """Sums over the rows of a block, a piece at a time."""
    total: FeatureSums | None = None
    for rows, f in features.pieces(block):
        of_itself, squares = kernel.diagonal(rows), np.einsum("ij,ij->i", f, f)
        missed = of_itself - squares
        moments, excess = block_moments(Block(block.start, f), full=True), -float(missed.min())
        part = FeatureSums(moments, float(np.maximum(missed, 0.0).sum()), excess, float(of_itself.max()))
        total = part if total is None else total.add(part)
    assert total is not None  # a block has a row
    return total


@dataclass(frozen=True)
class Origin:
    """What the axes are told beside the sums: how features are made, and how they were found."""

    basis: Floats
    triangle: Floats | None = None
    waves: bool = False
    slack: float = 0.0
    passes: int = 1


def find_feature_axes(
    sums: FeatureSums, keep: Keep, centered: bool, origin: Origin, fewer: bool = True
) -> KernelAxes | None:
    """Axes in the space of features. Components whose eigenvalue is rounding are never kept, and a share counts as
    reached where it is for certain. Where a rule asks for more of them: None, or, with `fewer`, all there are."""
    moments, n = sums.moments, sums.moments.n_rows
    mean = (moments.mean + moments.low) * centered
    gram = moments.scatter if centered else moments.scatter + n * np.outer(moments.mean, moments.mean)
    total, square = float(gram.trace()), float(np.einsum("ij,ij->", gram, gram))
    with all_blas_threads():
        values, vectors = scipy.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    entries = total + n * float(moments.mean @ moments.mean) * centered  # what centring left this of
    null = EPS * (len(values) * values[0] + 8 * entries)
    real = min(int((values > null).sum()), n - centered)
    k = keep.count(values[:real], total + np.nan_to_num(origin.slack)) or (real if fewer else None)
    if k is None:
        return None
    axes = vectors[:, :k].T.copy()
    fix_signs(axes)
    return KernelAxes(
        values=values[:k].copy(),
        basis=origin.basis,
        triangle=origin.triangle,
        axes=np.ascontiguousarray(axes.T),
        offset=axes @ mean,
        origin=mean,
        mean_square=float(mean @ mean),
        total=total,
        square=square,
        n_rows=n,
        slack=origin.slack,
        next_value=float(max(values[k], 0.0)) if k < len(values) else 0.0,
        passes=origin.passes,
        waves=origin.waves,
    )


def find_diagonal(kernel: Kernel, source: Source) -> Floats:
    """(n,) the kernel of every row with itself; rows with missing values are refused here, once for all passes."""
    with naming_all_missing(source):
        diagonal = per_row(source, partial(_block_diagonal, kernel=kernel, columns=source.columns))
    wrong = ~np.isfinite(diagonal) | (diagonal < 0)
    if wrong.any():
        raise BadInput(
            f"The kernel of a row of {source.describe()} with itself is {float(diagonal[wrong][0]):.3g}: it must be "
            "finite and not negative; scale the columns, or choose another kernel."
        )
    return diagonal


def _block_diagonal(block: Block, kernel: Kernel, columns: tuple[str, ...] | None) -> Floats:
    parts = []
    for rows in cut_rows(block, block.rows.shape[1]):
        if not np.isfinite(rows.sum()):
            refuse_missing_in_block(block, columns)
        parts.append(kernel.diagonal(rows))
    return np.concatenate(parts)[:, None]


def per_row(source: Source, work: Callable[[Block], Floats]) -> Floats:
    """(n,) a number of every row; computed here and now, also where rows are lazy."""
    return np.asarray(source.map_rows(work, 1, np.float64), dtype=np.float64)[:, 0]


def find_explicit_axes(kernel: Kernel, source: Source, keep: Keep, *, centered: bool = True) -> KernelAxes:
    """Exact axes for kernels whose features can be written down: with the rows of the identity as a basis, the linear
    kernel's f(x) is x itself, and the cosine's is x over its length. One pass to learn from, and one to see missing
    values; a p × p matrix is formed."""
    if not isinstance(kernel, (Linear, Cosine)):
        raise BadInput(f"The features of the {type(kernel).__name__} kernel are not written down: use landmarks.")
    count_rows(kernel, source)
    basis = np.eye(source.n_columns)
    with one_blas_thread():
        find_diagonal(kernel, source)
        sums = sum_features(kernel, ExplicitFeatures(kernel, source.n_columns), source)
        axes = find_feature_axes(sums, keep, centered, Origin(basis, passes=2))
    assert axes is not None
    return axes


def count_rows(kernel: Kernel, source: Source) -> int:
    """Number of rows of a source that can be read again, for a kernel that landmarks can be found for."""
    if not kernel.positive and not isinstance(kernel, Custom):
        raise BadInput(
            f"{kernel} is not positive semi-definite, so landmarks cannot bound its error: use the exact solver, or "
            "another kernel."
        )
    if source.weighted:
        raise BadInput(
            f"{source.describe()} has a column of weights, but kernel PCA counts every row once: leave the weights out."
        )
    n = source.count_rows()
    if n is None:
        raise NeedsAnotherPass(
            "Landmarks are found in several passes over the rows, but these can be read only once: pass an array, or "
            "the path of a file."
        )
    return n


# How wrong axes from features probably are: |K v − λ v| with the kernel itself, from a sample of its rows.
#
# Some eigenvalue of K lies within |K v − λ v| of λ, for a unit vector v. One entry of K v takes the kernels of one
# row with all others, so the entries of a few hundred rows, drawn at random, cost no more than as many landmarks; n
# times the mean of their squares estimates the whole. An estimate and no bound: the bound of landmarks is their
# slack, which holds for certain and is often a hundred times as large.

WITNESSES = 256
"""Rows from which residuals are estimated: to about one part in √(2 · 256) ≈ 23, if rows are alike."""


def estimate_residuals(
    kernel: Kernel,
    axes: KernelAxes,
    source: Source,
    rng: np.random.Generator,
    centered: bool,
    n_witnesses: int = WITNESSES,
) -> Floats:
    """(k,) estimates of |K v − λ v| for the unit vectors v of scores on the axes, in one pass over the rows."""
    n, w = axes.n_rows, min(axes.n_rows, n_witnesses)
    witnesses = take_rows(source, np.sort(rng.choice(n, w, replace=False)))
    scores = scores_of(kernel, axes)
    columns = KernelColumns(kernel, witnesses)
    roots = np.sqrt(axes.values)
    products: Floats = source.reduce(partial(_products_of_block, scores=scores, columns=columns), np.add) / roots
    apart = products - scores.of(witnesses) * roots  # v = scores / √λ, so λ v = scores · √λ
    if centered:  # K v less its mean over all rows; here over those that are known
        apart -= apart.mean(axis=0)
    return np.asarray(np.sqrt(n * np.einsum("ij,ij->j", apart, apart) / max(w - centered, 1)))


def _products_of_block(block: Block, scores: Scores, columns: KernelColumns) -> Floats:
    """(w, k) Σ k(witness, x) · scores of x, over the rows of a block."""
    total = np.zeros((len(columns.basis), len(scores.offset)))
    for rows, found in scores.pieces(block):
        total += columns.of(rows).T @ found
    return total


# Random features: waves with random frequencies, whose products are kernels on average.
#
# A kernel of differences is the mean of cos w·(x − y) over a law of frequencies w (Bochner). For the Gaussian that
# law is normal with variance 2γ; frequencies that are orthogonal to each other, with the lengths that they would
# have, have the same mean and vary less (Yu, Suresh, Choromanski, Holtmann-Rice & Kumar 2016, "Orthogonal random
# features"). For the Laplacian every coordinate has Cauchy's law with width γ.
#
# There is no bound of the error, as there is with landmarks: F Fᵀ may lie above K as well as below, and |f(x)|² =
# k(x, x) for every row and any frequencies, so that k(x, x) − |f(x)|² says nothing. Instead |K v − λ v| is estimated
# for each component, with the kernel itself: some eigenvalue lies within it of λ.


def find_wave_axes(
    kernel: Kernel,
    source: Source,
    keep: Keep,
    rng: np.random.Generator,
    *,
    n_features: int = 1000,
    centered: bool = True,
) -> KernelAxes:
    """Axes of kernel PCA from random features, an even number of them.

    `slack` is NaN, and `residuals` are estimates of |K v − λ v|.
    """
    if not isinstance(kernel, (Gaussian, Laplacian)):
        raise BadInput(
            f"Random features are known for the Gaussian and the Laplacian kernel, not for {kernel}: use landmarks."
        )
    count_rows(kernel, source)
    basis = draw_frequencies(kernel, source.n_columns, max(1, n_features // 2), rng)
    features = WaveFeatures(basis, kernel.factor)
    with one_blas_thread():
        find_diagonal(kernel, source)  # refuses missing values
        sums = sum_features(kernel, features, source)
        axes = find_feature_axes(sums, keep, centered, Origin(basis, None, True, np.nan, 3 + passes_to_take(source)))
        assert axes is not None
        return replace(axes, residuals=estimate_residuals(kernel, axes, source, rng, centered))


def draw_frequencies(kernel: Gaussian | Laplacian, p: int, count: int, rng: np.random.Generator) -> Floats:
    """(count, p) frequencies of the kernel's law."""
    if isinstance(kernel, Laplacian):
        return np.asarray(kernel.gamma * rng.standard_cauchy((count, p)))
    blocks = [_draw_orthogonal(p, rng) for _ in range(-(-count // p))]
    lengths = np.sqrt(rng.chisquare(p, count))  # of normal vectors
    return np.asarray(np.sqrt(2 * kernel.gamma) * np.concatenate(blocks)[:count] * lengths[:, None])


def _draw_orthogonal(p: int, rng: np.random.Generator) -> Floats:
    """(p, p) orthogonal matrix, all equally likely (Mezzadri 2007)."""
    Q, R = np.linalg.qr(rng.standard_normal((p, p)))
    return np.asarray(Q * np.sign(R.diagonal()))
