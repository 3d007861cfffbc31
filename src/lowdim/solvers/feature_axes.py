"""Axes of kernel PCA from features: moments of f in one pass over the rows, then eigenvectors of an m × m matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.kernel_functions import Kernel
from lowdim.matrices.moments import Moments, block_moments
from lowdim.results.kernel_axes import KernelAxes
from lowdim.solvers.keep import Keep
from lowdim.solvers.kernel_features import Features
from lowdim.solvers.signs import fix_signs
from lowdim.sources.source import Block, Source
from lowdim.sources.workers import all_blas_threads

Floats = NDArray[np.float64]

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
