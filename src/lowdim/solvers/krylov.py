"""An orthonormal basis of a block Krylov space, the operator inside it, and a witness of what it may have missed."""

from __future__ import annotations

import math

import numpy as np
import scipy

from lowdim.matrices.matrix import Matrix
from lowdim.runtime.threads import in_order
from lowdim.solvers.compiled_basis import cholesky_qr, project, subtract, take_off, takes_rows
from lowdim.solvers.solver import complete_basis
from lowdim.types import EPS, Floats

# A witness of what an iteration from a known start may have missed.
#
# A block Krylov space holds nothing of an axis that its start block is orthogonal to. Random starts are so with
# probability zero, but a start from a fixed seed is known to the maker of the data. So one more vector, drawn anew
# in every run and used for nothing else, is multiplied along with each block. What its own Krylov space shows outside
# of the components found is a lower bound on the largest eigenvalue left out: above the last one kept, the search was
# misled.
#
# How much it can show: after q products, an eigenvalue λ that was missed shows as at least λ (1 − ε) but for a chance
# of 1.65 √p exp(−√ε (2q − 1)) (Kuczyński & Woźniakowski 1992).

MAX_WATCHED_PRODUCTS = 64
"""Products that the witness takes part in at most; its space is then as telling as any."""

MIN_NEW_LENGTH = 1e-8
"""A new direction this much shorter than the product it came from: the space is complete."""


def draw_unseeded() -> np.random.Generator:
    """A generator of the system's entropy: no maker of data can know what it will give."""
    return np.random.default_rng()


class Watch:
    """The Krylov space of one random vector without a seed: what the search may have missed shows in it."""

    def __init__(self, n_columns: int):
        start = draw_unseeded().standard_normal(n_columns)
        most = min(MAX_WATCHED_PRODUCTS, n_columns)
        self._rows, self._products = np.empty((2, most, n_columns))  # pages are only taken when written
        self._rows[0] = start / np.linalg.norm(start)
        self._size, self._multiplied = 1, 0

    @property
    def vector(self) -> Floats | None:
        """(1, p) what to multiply next; None: no more."""
        return self._rows[self._multiplied : self._size] if self._size > self._multiplied else None

    def take(self, product: Floats) -> None:
        """Accept the product (p,) of the last vector, and make the next one of it."""
        self._products[self._multiplied] = product
        self._multiplied += 1
        if self._size == len(self._rows):
            return
        new, before = product[None].copy(), math.sqrt(product @ product)
        orthogonalise(new, self._rows[: self._size], near=2)
        length = math.sqrt(new[0] @ new[0])
        if length > MIN_NEW_LENGTH * before:
            np.divide(new[0], length, out=self._rows[self._size])
            self._size += 1

    def largest_outside(self, V: Floats, products: Floats) -> float:
        """The largest eigenvalue that the space shows outside the rows of V, (k, p), whose products are given too."""
        if not self._multiplied:
            return 0.0
        rows, own = self._rows[: self._multiplied], self._products[: self._multiplied]
        inside = rows @ V.T
        rows, own = rows - inside @ V, own - inside @ products
        sizes, axes = np.linalg.eigh(rows @ rows.T)
        good = sizes > 1e-8 * max(float(sizes[-1]), 1.0)  # directions of which V holds nearly all show only rounding
        if not good.any():
            return 0.0
        turn = (axes[:, good] / np.sqrt(sizes[good])).T
        small = turn @ (rows @ own.T) @ turn.T
        return float(scipy.linalg.eigvalsh((small + small.T) / 2)[-1])


# An orthonormal basis of a block Krylov space and the operator inside it: the state of block Lanczos.

MIN_ORTHOGONAL_LENGTH = 1e-6
"""A new direction this much shorter than the products it came from is orthogonalised once more."""

ROUNDING_LENGTH = 100 * EPS
"""A new direction this much shorter than the products it came from is their rounding error."""

SLAB_COLUMNS = 5000
"""Columns that one thread orthogonalises at a time."""


class KrylovSpace:
    """Rows of `basis` span {Q, QC, QC², …} for C = YᵀY and a block Q of b vectors.

    All projections of C on the basis are kept (not only the three-term recurrence), so the basis stays orthonormal to
    rounding and may be restarted from Ritz vectors (thick restart, Wu & Simon 2000) without other code.
    """

    def __init__(
        self,
        matrix: Matrix,
        block: int,
        capacity: int,
        rng: np.random.Generator,
        start: Floats | None = None,
        watch: Watch | None = None,
    ):
        p = matrix.n_columns
        self.matrix = matrix
        self.rng = rng
        self.watch = watch
        self.block = min(block, p)
        self.capacity = min(p, max(capacity, 2 * self.block))
        self._rows = np.empty((min(p, self.capacity + self.block), p))  # pages are only taken when written
        self._products = np.empty((self.capacity, p))
        """Rows times C, as the data gave them: what true residuals are made of."""
        self._inside = np.zeros((self.capacity + self.block, self.capacity + self.block))
        self.size = 0
        """Basis vectors whose product with C is known."""
        self.starts = self.block
        """Random vectors that the space was grown from: of a multiple eigenvalue it holds no more copies than these."""
        self._waiting = 0
        """Vectors of the next block, already in the basis."""
        self._outside = np.zeros((0, self.block))
        self._scale = 0.0
        """Length of the longest product so far: what rounding is measured against."""
        self._append(rng.standard_normal((self.block, p)) if start is None else start[: self.block])

    @property
    def basis(self) -> Floats:
        """(size, p) orthonormal rows."""
        return self._rows[: self.size]

    @property
    def complete(self) -> bool:
        """Whether the basis spans everything, so that the answer is exact."""
        return self.size == self.matrix.n_columns

    @property
    def is_full(self) -> bool:
        """Whether another block would not fit."""
        return self.size + self._waiting > self.capacity and not self.complete

    def grow(self) -> None:
        """Multiply the waiting block by C, project, and make the part outside the basis the next block."""
        b, product = self._waiting, self.absorb()
        left = min(self.block, self.matrix.n_columns - self.size)
        self._outside = self._append(product) if left else np.zeros((b, 0))

    def absorb(self) -> Floats:
        """Multiply the waiting block by C and project: the block joins the basis. Gives the part outside it."""
        m, b = self.size, self._waiting
        rows = self._rows[: m + b]
        product = self._multiplied(rows[m:])
        self._products[m : m + b] = product
        self._scale = max(self._scale, math.sqrt(np.einsum("ij,ij->i", product, product).max()))
        inside = orthogonalise(product, rows, near=2 * self.block)
        self._inside[m : m + b, : m + b] = inside
        self._inside[: m + b, m : m + b] = inside.T
        self.size += b
        self._waiting = 0
        self._outside = np.zeros((b, 0))  # not known unless the part outside becomes the next block
        return product

    def _multiplied(self, block: Floats) -> Floats:
        """Products of a block with C; the vector that watches is multiplied along with it."""
        watching = None if self.watch is None else self.watch.vector
        if self.watch is None or watching is None:
            return self.matrix.normal_times(block)
        product = self.matrix.normal_times(np.concatenate([block, watching]))
        self.watch.take(product[-1])
        return np.ascontiguousarray(product[:-1])

    def propose(self, block: Floats) -> None:
        """Let these vectors (b, p) be the next block, less what the basis holds of them."""
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        block = block * (self._scale / np.where(lengths > 0, lengths, 1.0))  # rounding is measured against products
        orthogonalise(block, self.basis)
        self.block = min(len(block), self.matrix.n_columns - self.size)
        self._append(block)

    def ritz(self) -> tuple[Floats, Floats, Floats]:
        """Eigenvalues inside the space, descending, their vectors (columns) and residual norms."""
        m = self.size
        values, vectors = np.linalg.eigh((self._inside[:m, :m] + self._inside[:m, :m].T) / 2)
        values, vectors = values[::-1], vectors[:, ::-1]
        last = vectors[m - len(self._outside) :]
        return values, vectors, np.linalg.norm(self._outside.T @ last, axis=0)

    def combined(self, weights: Floats) -> tuple[Floats, Floats]:
        """V = weights · basis and V C, both (k, p), for weights (k, size); C was applied to each basis vector."""
        return weights @ self.basis, weights @ self._products[: self.size]

    def forget_products(self) -> None:
        """Give back half the memory: the space is done growing, and only its vectors are still of use."""
        self._products = np.empty((0, self.matrix.n_columns))

    def restart(self, keep: int) -> None:
        """Shrink the basis to the leading Ritz vectors; the waiting block stays, so nothing is lost of it."""
        values, vectors, _ = self.ritz()
        waiting = self._rows[self.size : self.size + self._waiting].copy()
        self._rows[:keep], self._products[:keep] = self.combined(vectors[:, :keep].T)
        self._rows[keep : keep + self._waiting] = waiting
        self._inside[:] = 0.0
        self._inside[np.arange(keep), np.arange(keep)] = values[:keep]
        # C ritz = value ritz + (outsideᵀ last)ᵀ waiting: the waiting block's own product will fill the coupling in
        self.size = keep

    def _append(self, product: Floats) -> Floats:
        """Orthonormalise a block, add as much of it as there is room for, and give L: product = L · new rows."""
        b = min(self.block, self.matrix.n_columns - self.size)
        rows, L = _orthonormalise(product, ROUNDING_LENGTH * self._scale)
        if rows is None or L is None or len(rows) < b:
            rows, L = self._refilled(product, b)
        elif L.diagonal().min() < MIN_ORTHOGONAL_LENGTH * self._scale:
            rows = self._orthogonal_to_basis(rows)
        self._rows[self.size : self.size + b] = rows[:b]
        self._waiting = b
        return L[:, :b]

    def _refilled(self, product: Floats, b: int) -> tuple[Floats, Floats]:
        """For a block that lost rank: keep its directions, and fill up with random ones that C did not lead to."""
        Q, R, order = scipy.linalg.qr(product.T, mode="economic", pivoting=True)
        rank = min(b, int((np.abs(R.diagonal()) > max(ROUNDING_LENGTH * self._scale, 1e-7 * abs(R[0, 0]))).sum()))
        self.starts += b - rank
        rows = complete_basis(np.concatenate([self.basis, Q.T[:rank]]), self.size + b, self.rng)[self.size :]
        L = np.zeros((len(product), b))
        L[order, :rank] = R[:rank].T
        return self._orthogonal_to_basis(rows), L

    def _orthogonal_to_basis(self, rows: Floats) -> Floats:
        rows = rows - (rows @ self.basis.T) @ self.basis
        values, vectors = np.linalg.eigh(rows @ rows.T)  # the nearest orthonormal rows, by the polar decomposition
        nearest: Floats = (vectors / np.sqrt(values)) @ vectors.T @ rows
        return nearest


MOST_TAKEN_OFF = 0.7
"""Share of a vector's length that must be left, or taking off what a basis holds of it has cost digits (Daniel, Gragg,
Kaufman & Stewart 1976, "Reorthogonalization and stable algorithms …")."""


def orthogonalise(block: Floats, rows: Floats, near: int = 0) -> Floats:
    """Take the part inside the span of orthonormal rows off a block, in place; gives its coefficients.

    A product with a symmetric matrix lies, but for rounding, in the span of the last two blocks of a Krylov space:
    `near` rows, which are taken off first. What is left then hardly gets shorter when it meets all rows, and where it
    does, it meets them again (Parlett 1998, §6.9).
    """
    near = min(near, len(rows))
    if block.shape[1] < 2 * SLAB_COLUMNS and takes_rows(block, rows):
        return take_off(block, rows, near, MOST_TAKEN_OFF**2)
    inside = np.zeros((len(block), len(rows)))
    if near:
        inside[:, -near:] = _take_off(block, rows[-near:])
    for _ in range(3):
        before = np.einsum("ij,ij->i", block, block)
        inside += _take_off(block, rows)
        if (np.einsum("ij,ij->i", block, block) >= MOST_TAKEN_OFF**2 * before).all():
            break
    return inside


def _take_off(block: Floats, rows: Floats) -> Floats:
    """Classical Gram–Schmidt, in slabs of columns so that all cores share the work."""
    p, compiled = block.shape[1], takes_rows(block, rows)
    width = SLAB_COLUMNS if p >= 2 * SLAB_COLUMNS else p
    slabs = [slice(start, start + width) for start in range(0, p, width)]

    def hold(slab: slice) -> Floats:
        return project(block[:, slab], rows[:, slab]) if compiled else block[:, slab] @ rows[:, slab].T

    def lose(slab: slice) -> None:
        if compiled:
            subtract(block[:, slab], rows[:, slab], inside)
        else:
            block[:, slab] -= inside @ rows[:, slab]

    inside: Floats = sum(in_order(hold, slabs), start=np.zeros((len(block), len(rows))))
    for _ in in_order(lose, slabs):
        pass
    return inside


def _orthonormalise(product: Floats, noise: float) -> tuple[Floats | None, Floats | None]:
    """CholeskyQR twice (Yamamoto et al. 2015), for vectors in rows: product = L · rows. None if it breaks down."""
    if takes_rows(product):
        return cholesky_qr(product, noise) or (None, None)
    rows, total = product, np.eye(len(product))
    for _ in range(2):
        try:
            L = np.linalg.cholesky(rows @ rows.T)
        except np.linalg.LinAlgError:
            return None, None
        lengths = L.diagonal()
        if not np.isfinite(L).all() or lengths.min() <= max(noise, 1e-7 * lengths.max()):
            return None, None
        rows = np.linalg.inv(L) @ rows
        total = total @ L
        noise = 0.0
    return rows, total
