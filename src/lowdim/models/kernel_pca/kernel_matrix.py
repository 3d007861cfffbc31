"""The kernel matrix as solvers see it: centred or not, known by its products, its trace and its means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.matrix import Matrix
from lowdim.matrices.products import MAX_DISTANCE_ERROR
from lowdim.matrices.rounding import Rounding
from lowdim.models.kernel_pca import compiled_kernel_matrix
from lowdim.models.kernel_pca.compiled_kernel_matrix import STEP, TILE, add_strips
from lowdim.models.kernel_pca.kernels import LOG2E, Cosine, Gaussian, Kernel, Laplacian, Linear, Polynomial, unit_rows
from lowdim.runtime.native import is_compiled, scratch
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

# Products with the kernel matrix of all pairs of n rows, not formed where its entries are cheap to make again.
#
# `Tiles` makes it again for each product (compiled, in float32 or float64), `Slabs` does so in NumPy, where there is no
# compiled code; `Formed` is a third implementation of the same noun, over an (n, n) array.

EPS, EPS_SINGLE = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)

MOST_PRODUCT_ERROR_SINGLE = 4e-6
"""Relative error of float32 exponents from products, above which they are made of differences."""

MOST_ERROR_SINGLE = 1e-5
"""Relative error of float32 exponents from differences, above which float32 is not used."""

TASKS = 8
"""Parts that a pass over all pairs is split into, whatever the number of threads, so that sums do not depend on it."""

SLAB_ROWS = 256
"""Rows of a slab of the matrix: 40 MB for 20,000 rows."""

MOST_DEGREE = 16
"""Powers up to this are made by multiplications."""


@dataclass(frozen=True)
class Sums:
    """Of the entries of a kernel matrix K, not centred."""

    rows: Floats  # (n,)
    squares: float


class AllPairs(ABC):
    """The kernel matrix K of n rows with themselves: what products need."""

    n: int
    diagonal: Floats  # (n,)
    has_single: bool = False  # whether products in float32 are worth having

    @abstractmethod
    def times(self, Q: Floats, single: bool = False, summed: bool = True) -> tuple[Floats, Sums | None]:
        """Q K for vectors in the rows of Q (b, n); and, with `summed`, the sums of K."""


@final
class Formed(AllPairs):
    """An (n, n) array, symmetric."""

    def __init__(self, array: Floats):
        self.array = array
        self.n = len(array)
        self.diagonal = np.array(array.diagonal())

    def times(self, Q: Floats, single: bool = False, summed: bool = True) -> tuple[Floats, Sums | None]:
        """Q K, a slab of rows of K at a time."""
        return _times_slabs(Q, lambda here: self.array[here], max(1, -(-self.n // TASKS)), summed)


@final
class Slabs(AllPairs):
    """Slabs of rows made again for each product, by NumPy: the plain twin of `Tiles`, for any kernel."""

    def __init__(self, kernel: Kernel, rows: Floats):
        self.kernel, self.rows = kernel, rows
        self.n = len(rows)
        self.diagonal = kernel.diagonal(rows)

    def times(self, Q: Floats, single: bool = False, summed: bool = True) -> tuple[Floats, Sums | None]:
        """Q K, a slab of rows of K at a time."""
        return _times_slabs(Q, lambda here: self.kernel.between(self.rows[here], self.rows), SLAB_ROWS, summed)


def _times_slabs(Q: Floats, slab: Callable[[slice], Floats], size: int, summed: bool) -> tuple[Floats, Sums | None]:
    """Q K of slabs of rows of K; and, with `summed`, the sums of K."""
    slabs = [slice(start, start + size) for start in range(0, Q.shape[1], size)]

    def work(here: slice) -> tuple[Floats, Floats, float]:
        K = slab(here)
        return Q @ K.T, *((K.sum(axis=1), float(np.vdot(K, K))) if summed else (np.zeros(0), 0.0))

    products, sums, squares = zip(*in_order(work, slabs), strict=True)
    found = Sums(np.concatenate(sums), float(sum(squares))) if summed else None
    return np.concatenate(products, axis=1), found


@final
class Tiles(AllPairs):
    """Tiles made again for each product, by compiled code. Gaussian, Laplacian, and whole powers."""

    def __init__(self, kernel: Kernel, rows: Floats):
        self.n = len(rows)
        self.diagonal = kernel.diagonal(rows)
        self._recipes = _RECIPES[type(kernel)](kernel, rows)
        self._operands: dict[bool, _Operands] = {}
        self.has_single = self._recipes.single is not None

    @staticmethod
    def suit(kernel: Kernel) -> bool:
        """Whether the entries of such a kernel's matrix are cheap enough to be made again."""
        if isinstance(kernel, Polynomial):
            return float(kernel.degree).is_integer() and 1 <= kernel.degree <= MOST_DEGREE
        return isinstance(kernel, Gaussian | Laplacian)

    def times(self, Q: Floats, single: bool = False, summed: bool = True) -> tuple[Floats, Sums | None]:
        """Q K; in float32, sums over tiles are still added up in float64."""
        operands = self._of(single)
        packed = operands.pack(Q)
        work = partial(operands.strips, n=self.n, Q=packed, summed=summed)
        out, sums, squares = np.zeros(packed.shape), np.zeros(operands.heights.shape), 0.0
        for part, part_sums, part_squares in in_order(work, _deal_strips(len(operands.rows))):
            out += part
            sums += part_sums
            squares += part_squares
        unit = self._recipes.unit
        product = unit * operands.unpacked(out, *Q.shape)
        return product, Sums(unit * sums.ravel()[: self.n], unit**2 * squares) if summed else None

    def _of(self, single: bool) -> _Operands:
        if single not in self._operands:
            recipe = self._recipes.single if single else self._recipes.double
            assert recipe is not None
            self._operands[single] = recipe.operands(np.dtype(np.float32 if single else np.float64))
        return self._operands[single]


@dataclass(frozen=True)
class _Operands:
    """Rows in tiles, as the compiled code takes them (see compiled_kernel_matrix.add_strips)."""

    kind: int
    rows: NDArray[Any]
    heights: NDArray[Any]
    scale: float
    shift: float
    power: int

    def pack(self, Q: Floats) -> NDArray[Any]:
        """(b, n) → (tiles, b, TILE), with zeros past the last row and the last vector."""
        b, n = Q.shape
        tiles, tile = self.heights.shape
        packed = scratch(tiles, -(-b // STEP) * STEP, tile, dtype=self.rows.dtype)
        packed[:, b:] = 0
        whole = n // tile
        packed[:whole, :b] = Q[:, : whole * tile].reshape(b, whole, tile).transpose(1, 0, 2)
        if whole < tiles:
            packed[whole, :b, : n - whole * tile] = Q[:, whole * tile :]
            packed[whole, :, n - whole * tile :] = 0
        return packed

    def unpacked(self, out: Floats, b: int, n: int) -> Floats:
        """The way back."""
        return out.transpose(1, 0, 2).reshape(out.shape[1], -1)[:b, :n]

    def strips(self, strips: NDArray[np.int64], n: int, Q: NDArray[Any], summed: bool) -> tuple[Floats, Floats, float]:
        """One task's part of a pass."""
        out, sums = np.zeros(Q.shape), np.zeros(self.heights.shape)
        squares = add_strips(
            self.kind, self.rows, self.heights, self.scale, self.shift, self.power, n, strips, Q, out, sums, summed
        )
        return out, sums, squares


@dataclass(frozen=True)
class _Recipe:
    """How to make the entries in one precision, from rows (n, p) that are still in float64."""

    kind: str
    rows: Floats
    by: float = 1.0  # what the rows are multiplied by
    scale: float = 1.0
    shift: float = 0.0
    power: int = 1

    def operands(self, dtype: np.dtype[Any]) -> _Operands:
        """Rows in tiles, filled up with zeros."""
        kind = int(getattr(compiled_kernel_matrix, self.kind))
        n, p = self.rows.shape
        tiles = -(-n // TILE)
        rows = scratch(tiles, -(-max(p, 1) // STEP) * STEP, TILE, dtype=dtype)
        rows[:] = 0
        for t in range(tiles):
            here = self.rows[t * TILE : (t + 1) * TILE]
            np.multiply(here.T, self.by, out=rows[t, :p, : len(here)], casting="same_kind")
        heights = -0.5 * np.einsum("tij,tij->tj", rows, rows)
        return _Operands(kind, rows, heights, self.scale, self.shift, self.power)


@dataclass(frozen=True)
class _Recipes:
    double: _Recipe
    single: _Recipe | None  # None where float32 would lose too much
    unit: float = 1.0  # what the entries are to be multiplied by


def _gaussian(kernel: Gaussian, rows: Floats) -> _Recipes:
    """2^(z·z′ − |z|²/2 − |z′|²/2) with z = √(2 gamma log₂e) x: one product, where that keeps the digits."""
    centred = rows - rows.mean(axis=0)
    spread = 2 * kernel.gamma * float(np.einsum("ij,ij->i", centred, centred).max())
    root = float(np.sqrt(2 * kernel.gamma * LOG2E))
    product, apart = _Recipe("GAUSSIAN", centred, root), _Recipe("GAUSSIAN_APART", centred, root, -0.5)
    exact = _Recipe("GAUSSIAN_APART", rows, 1.0, -kernel.gamma * LOG2E)
    single = product if EPS_SINGLE * spread <= MOST_PRODUCT_ERROR_SINGLE else apart
    useful = EPS_SINGLE * np.sqrt(2 * spread) <= MOST_ERROR_SINGLE
    double = product if EPS * spread <= MAX_DISTANCE_ERROR else exact
    return _Recipes(double, single if useful else None, kernel.factor)


def _laplacian(kernel: Laplacian, rows: Floats) -> _Recipes:
    centred = rows - rows.mean(axis=0)
    useful = EPS_SINGLE * kernel.gamma * float(np.abs(centred).sum(axis=1).max()) <= MOST_ERROR_SINGLE
    scale = kernel.gamma * LOG2E
    single = _Recipe("LAPLACIAN", centred, scale, -1.0) if useful else None
    return _Recipes(_Recipe("LAPLACIAN", rows, 1.0, -scale), single, kernel.factor)


def _polynomial(kernel: Polynomial, rows: Floats) -> _Recipes:
    """Powers of numbers between −1 and 1, which no precision overflows at."""
    longest = float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))
    largest = abs(kernel.gamma) * longest**2 + abs(kernel.coef0) or 1.0
    power = int(kernel.degree)
    scale = kernel.gamma * longest**2 / largest
    recipe = _Recipe("POLYNOMIAL", rows, 1 / (longest or 1.0), scale, kernel.coef0 / largest, power)
    return _Recipes(recipe, recipe, largest**power)


_RECIPES: dict[type, Any] = {Gaussian: _gaussian, Laplacian: _laplacian, Polynomial: _polynomial}


LEAST_TILES = 36
"""Tiles of a whole matrix for each task, half of which are made: with fewer, handing a task over takes as long."""


def _deal_strips(tiles: int) -> Iterator[NDArray[np.int64]]:
    """Strips dealt alternately from both ends, so that each task has as many long ones as short ones."""
    tasks = max(1, min(TASKS, tiles * tiles // LEAST_TILES))
    place = np.arange(tiles) % (2 * tasks)
    owner = np.minimum(place, 2 * tasks - 1 - place)
    for task in range(tasks):
        yield np.flatnonzero(owner == task)


# The kernel matrix as solvers see it: centred or not, known by its products, its trace and its means.
#
# Centring the features takes the mean off both sides, H K H with H = I − 11ᵀ/n (Schölkopf, Smola & Müller 1998). A
# vector is centred before the product and after it; K is left alone.

SLAB = 4096
"""Rows that one thread takes at a time."""


@dataclass(frozen=True)
class KernelMeans:
    """What is known of a kernel matrix beside its eigenvalues."""

    rows: Floats  # (n,) means of its rows, before centring
    whole: float  # mean of all its entries, before centring: |mean of φ|²
    total: float  # trace, after centring if that is asked for
    square: float  # sum of the squares of its entries, likewise


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
        return PairsKernel(Formed(form_matrix(kernel, rows)), centered)
    with np.errstate(over="ignore"):
        refuse_overflow(kernel.diagonal(rows))  # the largest entries
    return PairsKernel(Tiles(kernel, rows) if is_compiled() else Slabs(kernel, rows), centered)


LARGEST_VALUE = 1e140
"""Kernel values whose squares, summed over all pairs of rows, stay in range."""

MOST_ASYMMETRY = 1e-6
"""Share of the largest value by which k(x, y) and k(y, x) may differ from rounding."""


def form_matrix(kernel: Kernel, rows: Floats) -> Floats:
    """The matrix itself, (n, n); the mean with its transpose, from which rounding may make it differ."""
    with np.errstate(over="ignore", invalid="ignore"):
        K = kernel.between(rows, rows)
    refuse_overflow(K)
    apart, largest = float(np.abs(K - K.T).max(initial=0.0)), float(np.abs(K).max(initial=0.0))
    if apart > MOST_ASYMMETRY * largest:
        raise BadInput(
            f"The kernel function is not symmetric: k(x, y) and k(y, x) differ by up to {apart:.3g}, where its values "
            f"reach {largest:.3g}; give both the same value."
        )
    return np.asarray((K + K.T) / 2)


def refuse_range(diagonal: Floats) -> None:
    """Say so if squares of the kernel's values, which sums over all of them need, leave what float64 can hold."""
    refuse_overflow(diagonal)
    largest = float(np.abs(diagonal).max(initial=0.0))
    if largest > LARGEST_VALUE or 0 < largest < 1 / LARGEST_VALUE:
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
        eps = EPS_SINGLE if self.single else EPS
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
