"""Features f(x) that describe a row, and axes from their moments in one pass over the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrsm

from lowdim.matrices.moments import Moments, block_moments
from lowdim.matrices.preparation import Preparation, piece_rows
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, KernelColumns, Laplacian, Linear, unit_rows
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.runtime.threads import all_blas_threads
from lowdim.solvers.certify import fix_signs
from lowdim.solvers.keep import Keep
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

# How the numbers f(x) that describe a row are made: what landmarks, explicit and random features share.
#
# ⟨f(x), f(y)⟩ stands for k(x, y). Kernel PCA with features is PCA of f, learnt in one pass over the rows; the same
# value makes f of new rows, so a row that was learnt from and a new row alike it get the same numbers.

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
        for rows in row_pieces(block, self.m):
            yield rows, self.of(rows)


@dataclass(frozen=True)
class KernelFeatures(Features):
    """L⁻¹ k(basis, x): coordinates of φ(x), projected on the span of the φ of the basis, in an orthonormal basis."""

    columns: KernelColumns
    triangle: Floats | None
    """(m, m) lower triangle L, K(basis, basis) = L Lᵀ; None: the identity."""

    @property
    def m(self) -> int:
        """As many as there are rows in the basis."""
        return len(self.columns.basis)

    def of(self, rows: Floats) -> Floats:
        """(n, m) features."""
        values = self.columns.of(rows)
        return values if self.triangle is None else solved(self.triangle, values)


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

    frequencies: Floats
    """(d, p)"""
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


def features_of(kernel: Kernel, axes: KernelAxes, compiled: bool = False) -> Features:
    """How the features were made that the axes are axes of."""
    if axes.waves:
        assert isinstance(kernel, (Gaussian, Laplacian))
        return WaveFeatures(axes.basis, kernel.factor)
    return KernelFeatures(KernelColumns(kernel, axes.basis, compiled), axes.triangle)


@dataclass(frozen=True)
class Scores:
    """How the scores of rows are made: features times weights, less an offset."""

    features: Features
    weights: Floats
    """(m, k)"""
    offset: Floats
    """(k,)"""

    def of(self, rows: Floats) -> Floats:
        """(n, k) scores of rows (n, p)."""
        return np.asarray(self.features.of(rows) @ self.weights - self.offset)

    def pieces(self, block: Block) -> Iterator[tuple[Floats, Floats]]:
        """The rows of a block, some at a time and never all, each time with their scores."""
        for rows, f in self.features.pieces(block):
            yield rows, f @ self.weights - self.offset


def scores_of(kernel: Kernel, axes: KernelAxes, compiled: bool = False) -> Scores:
    """How scores on the axes are made: of landmarks by weights L⁻ᵀ axes of the kernels themselves, which takes m k
    products of a row and not m² / 2."""
    if axes.triangle is None:
        return Scores(features_of(kernel, axes, compiled), axes.axes, axes.offset)
    weights = np.ascontiguousarray(solve_triangular(axes.triangle, axes.axes, lower=True, trans="T"))
    return Scores(KernelFeatures(KernelColumns(kernel, axes.basis, compiled), None), weights, axes.offset)


def solved(triangle: Floats, values: Floats) -> Floats:
    """(n, m) values L⁻ᵀ for a lower triangle L, in the memory of the values, which are in row order."""
    if not len(values):
        return values
    # BLAS wants columns: the transposes are in that order as they lie, and Fᵀ = L⁻¹ Kᵀ
    return np.asarray(dtrsm(1.0, triangle, values.T, side=0, lower=1, overwrite_b=1).T)


def row_pieces(block: Block, m: int) -> Iterator[Floats]:
    """Rows of a block in float64, as many at a time as m numbers of each fit in the cache."""
    as_they_are = Preparation(np.zeros(block.rows.shape[1]), None)
    yield from as_they_are.pieces(replace(block, weight=None), np.float64, piece_rows(m, 8, PIECE_BYTES, 64, 8192))


# Axes of kernel PCA from features: moments of f in one pass over the rows, then eigenvectors of an m × m matrix.

EPS = float(np.finfo(float).eps)

LONGER = 1e-8
"""Share of the largest k(x, x) by which an |f(x)|² may exceed its own: only rounding makes it do so in a kernel that is
positive semi-definite."""

SAME = 1e-14
"""Rows whose features differ by no more than this share of their mean are the same but for rounding."""


@dataclass(frozen=True)
class FeatureSums:
    """What rows say about their features."""

    moments: Moments
    """Mean and scatter of f."""
    missed: float
    """Σ k(x, x) − |f(x)|²: the trace of what the features do not see."""
    excess: float
    """The most by which |f(x)|² exceeds k(x, x)."""
    largest: float
    """The largest k(x, x)."""

    def add(self, other: FeatureSums) -> FeatureSums:
        """Of both sets of rows, in this one's memory."""
        excess, largest = max(self.excess, other.excess), max(self.largest, other.largest)
        return FeatureSums(self.moments.absorb(other.moments), self.missed + other.missed, excess, largest)


@dataclass(frozen=True)
class FeatureSumsOfBlock:
    """What is computed of each block: a function that can be sent to a worker."""

    kernel: Kernel
    features: Features

    def __call__(self, block: Block) -> FeatureSums:
        """Sums over the rows of a block, a piece at a time."""
        total: FeatureSums | None = None
        for rows, f in self.features.pieces(block):
            of_itself, squares = self.kernel.diagonal(rows), np.einsum("ij,ij->i", f, f)
            missed = of_itself - squares
            moments, excess = block_moments(Block(block.start, f), full=True), -float(missed.min())
            part = FeatureSums(moments, float(np.maximum(missed, 0.0).sum()), excess, float(of_itself.max()))
            total = part if total is None else total.add(part)
        assert total is not None  # a block has a row
        return total


def feature_sums(kernel: Kernel, features: Features, source: Source) -> FeatureSums:
    """Sums over all rows of a source, in one pass."""
    return source.reduce(FeatureSumsOfBlock(kernel, features), FeatureSums.add)


@dataclass(frozen=True)
class Origin:
    """What the axes are told beside the sums: how features are made, and how they were found."""

    basis: Floats
    triangle: Floats | None = None
    waves: bool = False
    slack: float = 0.0
    passes: int = 1


def axes_of(sums: FeatureSums, keep: Keep, centered: bool, origin: Origin, fewer: bool = True) -> KernelAxes | None:
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
