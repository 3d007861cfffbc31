"""Projections of kernel PCA in the space of features: what scores stand for, told by kernels with known rows.

The projection with scores β is P = Σⱼ gⱼ φ(basisⱼ) with weights g = origin + axes β, in which the mean of φ is included
(leaving it out is the commonest mistake in codes for pre-images). Its inner products need no sums over pairs:

    ⟨P, φ(b)⟩  =  u(b) + t(b)·β,    u = ⟨mean of φ, φ(b)⟩,    t − offset = scores of b
    |P|²       =  β·β + 2 β·offset + |mean of φ|²
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.models.kernel_pca.kernels import Kernel
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.types import Floats

MOST_CANDIDATES = 5000
"""Basis rows that are looked at as answers: more would cost as much as a fit, and they are starts more than answers."""

PIECE_ENTRIES = 2_000_000
"""Numbers that an array of one piece of work may hold: 16 MB."""


@dataclass(frozen=True)
class Candidates:
    """c known rows, each with what it takes to tell how far any projection is from it."""

    rows: Floats  # (c, p)
    lengths: Floats  # (c,) k(b, b)
    u: Floats  # (c,) inner products with the mean of φ; zeros without centring
    t: Floats  # (c, k) inner products with the axes


@dataclass(frozen=True)
class Projections:
    """m projections of feature vectors on the axes."""

    scores: Floats  # (m, k)
    weights: Floats  # (m, N) g
    squared_length: Floats  # (m,) |P|²
    basis: Floats  # (N, p)
    kernel: Kernel
    candidates: Candidates

    def only(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Projections:
        """Some of them."""
        kept = self.scores[which], self.weights[which], self.squared_length[which]
        return Projections(*kept, self.basis, self.kernel, self.candidates)

    def distances(self, rows: Floats) -> Floats:
        """(m,) |φ(z) − P|² of one row z (m, p) for each; not negative but for rounding, if the kernel is positive."""
        common = np.einsum("ij,ij->i", self.weights, self.kernel.between(rows, self.basis))
        return np.asarray(self.kernel.diagonal(rows) - 2 * common + self.squared_length)

    @cached_property
    def products(self) -> Floats:
        """(m, c) inner products with the features of the candidates."""
        return np.asarray(self.scores @ self.candidates.t.T + self.candidates.u)

    @cached_property
    def nearest(self) -> NDArray[np.intp]:
        """(m,) which candidate is nearest in the space of features."""
        return np.asarray(np.argmin(self.candidates.lengths - 2 * self.products, axis=1))


@dataclass(frozen=True)
class Projector:
    """Scores → projections."""

    origin: Floats  # (N,) weights of the mean of φ
    axes: Floats  # (N, k) weights of the axes
    offset: Floats  # (k,) scores of the mean of φ before it is subtracted
    mean_square: float  # |mean of φ|²
    basis: Floats  # (N, p)
    kernel: Kernel
    candidates: Candidates

    @classmethod
    def of(cls, found: KernelAxes, kernel: Kernel) -> Projector:
        """The projector behind a fit; takes the kernel of at most `MOST_CANDIDATES` basis rows with all of them."""
        origin, axes = found.origin, found.axes
        if found.triangle is not None:  # g = L⁻ᵀ (origin + axes β)
            both = np.column_stack([origin, axes])
            both = scipy.linalg.solve_triangular(found.triangle, both, lower=True, trans="T", check_finite=False)
            origin, axes = both[:, 0], np.ascontiguousarray(both[:, 1:])
        known = _candidates(found.basis, origin, axes, kernel)
        return cls(origin, axes, found.offset, found.mean_square, found.basis, kernel, known)

    def projections(self, scores: Floats) -> Projections:
        """What scores (m, k) stand for; an (m, N) matrix arises."""
        squared_length = np.einsum("ij,ij->i", scores, scores) + 2 * scores @ self.offset + self.mean_square
        weights = scores @ self.axes.T + self.origin
        return Projections(scores, weights, squared_length, self.basis, self.kernel, self.candidates)

    @cached_property
    def usual(self) -> float:
        """How far, squared, the farthest of the candidates is from its own projection: |φ − mean|² − |scores|²."""
        known = self.candidates
        scores = known.t - self.offset
        left = known.lengths - 2 * known.u + self.mean_square - np.einsum("ij,ij->i", scores, scores)
        return float(left.max(initial=0.0))

    @property
    def rows_at_a_time(self) -> int:
        """Rows whose (m, N) matrices, and whose handful of neighbours, fit into one piece of work."""
        n, p = self.basis.shape
        return int(max(1, PIECE_ENTRIES // max(n, 10 * p)))


def _candidates(basis: Floats, origin: Floats, axes: Floats, kernel: Kernel) -> Candidates:
    """Basis rows, evenly spaced where there are many."""
    n, few = len(basis), min(len(basis), MOST_CANDIDATES)
    rows = basis[np.arange(few) * n // few]
    weights = np.column_stack([origin, axes])
    step = max(1, PIECE_ENTRIES // n)
    products = np.concatenate([kernel.between(rows[at : at + step], basis) @ weights for at in range(0, few, step)])
    return Candidates(rows, kernel.diagonal(rows), products[:, 0], np.ascontiguousarray(products[:, 1:]))
