"""The kernel matrix as solvers see it: centred or not, known by its products, its trace and its means.

Centring the features takes the mean off both sides, H K H with H = I − 11ᵀ/n (Schölkopf, Smola & Müller 1998). A vector
is centred before the product and after it; K is left alone.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.kernel_functions import Cosine, Kernel, Linear, unit_rows
from lowdim.matrices.kernel_products import AllPairs, Formed, Sums, Tiles
from lowdim.matrices.matrix import Matrix
from lowdim.matrices.rounding import Rounding
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

SLAB = 4096
"""Rows that one thread takes at a time."""


@dataclass(frozen=True)
class KernelMeans:
    """What is known of a kernel matrix beside its eigenvalues."""

    rows: Floats
    """(n,) means of its rows, before centring."""
    whole: float
    """Mean of all its entries, before centring: |mean of φ|²."""
    total: float
    """Trace, after centring if that is asked for."""
    square: float
    """Sum of the squares of its entries, likewise."""


class KernelMatrix(Matrix):
    """K of n rows, or H K H, as an operator."""

    centered: bool

    @property
    @abstractmethod
    def means(self) -> KernelMeans:
        """Means, trace and sum of squares, in float64; a pass over all pairs unless there was one."""

    @property
    def total(self) -> float:
        """Trace: the sum of all eigenvalues."""
        return self.means.total

    def in_single(self) -> KernelMatrix | None:
        """The same matrix with products in float32; None where they are not worth having."""
        return None


def kernel_matrix(kernel: Kernel, rows: Floats, centered: bool) -> KernelMatrix:
    """The matrix of a kernel and rows (n, p), formed only where it has to be."""
    if isinstance(kernel, Linear | Cosine):
        return ThinKernel(rows if isinstance(kernel, Linear) else unit_rows(rows), centered)
    if not Tiles.suit(kernel):
        return PairsKernel(Formed(formed(kernel, rows)), centered)
    with np.errstate(over="ignore"):
        refuse_overflow(kernel.diagonal(rows))  # the largest entries
    return PairsKernel(Tiles(kernel, rows), centered)


LARGEST = 1e140
"""Kernel values whose squares, summed over all pairs of rows, stay in range."""

ASYMMETRIC = 1e-6
"""Share of the largest value by which k(x, y) and k(y, x) may differ from rounding."""


def formed(kernel: Kernel, rows: Floats) -> Floats:
    """The matrix itself, (n, n); the mean with its transpose, from which rounding may make it differ."""
    with np.errstate(over="ignore", invalid="ignore"):
        K = kernel.between(rows, rows)
    refuse_overflow(K)
    apart, largest = float(np.abs(K - K.T).max(initial=0.0)), float(np.abs(K).max(initial=0.0))
    if apart > ASYMMETRIC * largest:
        raise BadInput(
            f"The kernel function is not symmetric: k(x, y) and k(y, x) differ by up to {apart:.3g}, where its values "
            f"reach {largest:.3g}; give both the same value."
        )
    return np.asarray((K + K.T) / 2)


def refuse_range(diagonal: Floats) -> None:
    """Say so if squares of the kernel's values, which sums over all of them need, leave what float64 can hold."""
    refuse_overflow(diagonal)
    largest = float(np.abs(diagonal).max(initial=0.0))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise BadInput(
            f"The kernel reaches {largest:.1e}, whose squares float64 cannot hold: divide the data by their largest."
        )


def refuse_overflow(values: Floats) -> None:
    """Say so if a kernel gave what no number can hold."""
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise BadInput(
            f"The kernel has {bad:,} values that are not finite among {values.size:,}: scale the columns, choose a "
            "smaller degree or gamma, or, where numbers below zero have no such power, a whole degree."
        )


@final
class PairsKernel(KernelMatrix):
    """The matrix of all pairs, with centred vectors."""

    def __init__(self, pairs: AllPairs, centered: bool, single: bool = False):
        self.pairs, self.centered, self.single = pairs, centered, single
        self.passes = 0
        self._means: KernelMeans | None = None

    @property
    def n_columns(self) -> int:
        """Number of rows, n: those of the data are the columns of the kernel matrix."""
        return self.pairs.n

    @property
    def rounding(self) -> Rounding:
        """Probable error of products: every entry is rounded a few times."""
        eps = float(np.finfo(np.float32).eps) if self.single else EPS
        return Rounding.of_entries(2 * eps, np.abs(self.pairs.diagonal))

    @property
    def means(self) -> KernelMeans:
        """Sums come with the first product."""
        if self._means is None:
            self.normal_times(np.zeros((1, self.n_columns)))
        assert self._means is not None
        return self._means

    def normal_times(self, Q: Floats) -> Floats:
        """Q H K H, for vectors in the rows of Q (b, n)."""
        self.passes += 1
        if self.centered:
            Q = Q - Q.mean(axis=1, keepdims=True)
        product, sums = self.pairs.times(Q, self.single, summed=self._means is None)
        if sums is not None:
            self._means = _means_of(sums, self.pairs.diagonal, self.centered)
        if self.centered:
            product -= product.mean(axis=1, keepdims=True)
        return product

    def in_single(self) -> KernelMatrix | None:
        """With products in float32."""
        return PairsKernel(self.pairs, self.centered, single=True) if self.pairs.has_single else None


def _means_of(sums: Sums, diagonal: Floats, centered: bool) -> KernelMeans:
    n = len(diagonal)
    rows = sums.rows / n
    whole = float(rows.mean())
    total, square = float(diagonal.sum()), sums.squares
    if centered:
        # |H K H|² = |K|² − 2 n Σ rᵢ² + n² g², with r the row means and g the mean of all
        apart = rows - whole
        total, square = total - n * whole, square - 2 * n * float(apart @ apart) - (n * whole) ** 2
    return KernelMeans(rows, whole, total, max(square, 0.0))


@final
class ThinKernel(KernelMatrix):
    """F Fᵀ for features F (n, p) that can be written down: two thin products, and centring before them."""

    def __init__(self, features: Floats, centered: bool):
        self.centered = centered
        self._mean = features.mean(axis=0)
        self.features = features - self._mean if centered else features
        """(n, p), centred if so."""
        self.passes = 0

    @property
    def n_columns(self) -> int:
        """Number of rows, n."""
        return len(self.features)

    @property
    def rounding(self) -> Rounding:
        """Probable error of products: every entry is rounded a few times."""
        return Rounding.of_entries(2 * EPS, np.einsum("ij,ij->i", self.features, self.features))

    @cached_property
    def means(self) -> KernelMeans:
        """From the features."""
        F, mean = self.features, self._mean
        whole = float(mean @ mean)
        rows = F @ mean + (whole if self.centered else 0.0)
        gram = F.T @ F if F.shape[1] <= len(F) else F @ F.T
        return KernelMeans(rows, whole, float(np.trace(gram)), float(np.vdot(gram, gram)))

    def normal_times(self, Q: Floats) -> Floats:
        """Q F Fᵀ, for vectors in the rows of Q (b, n)."""
        self.passes += 1
        F = self.features
        slabs = [slice(start, start + SLAB) for start in range(0, len(F), SLAB)]
        inner: Floats = sum(in_order(lambda slab: Q[:, slab] @ F[slab], slabs), start=np.zeros((len(Q), F.shape[1])))
        product = np.concatenate([*in_order(lambda slab: inner @ F[slab].T, slabs)], axis=1)
        if self.centered:
            product -= product.mean(axis=1, keepdims=True)
        return product
