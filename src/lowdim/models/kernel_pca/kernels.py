"""Kernels: what stands for the inner product of two rows in a space of features that is never written down.

A kernel is a frozen value. `between` is the plain route, which compiled tiles are held against.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lowdim.errors import BadInput
from lowdim.matrices.compiled_exponentials import powers_of_sums
from lowdim.matrices.products import MAX_DISTANCE_ERROR, absolute_distances, squared_distances
from lowdim.models.kernel_pca.record import KernelFacts
from lowdim.runtime.native import is_compiled
from lowdim.types import Floats


class Kernel(ABC):
    """k(x, y), symmetric."""

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semi-definite, whatever the rows (Mercer)."""
        return True

    @abstractmethod
    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n) kernel of each of the rows (m, p) with each of the others (n, p)."""

    @abstractmethod
    def diagonal(self, rows: Floats) -> Floats:
        """(n,) kernel of each row with itself."""


@dataclass(frozen=True)
class Linear(Kernel):
    """x · y"""

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n) inner products."""
        return np.asarray(rows @ others.T)

    def diagonal(self, rows: Floats) -> Floats:
        """(n,) squared lengths."""
        return np.asarray(np.einsum("ij,ij->i", rows, rows))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(gamma x · y + coef0)^degree"""

    gamma: float
    coef0: float
    degree: float

    @property
    def positive(self) -> bool:
        """For whole powers of a shift that is not negative: then its series has no negative term."""
        return self.gamma >= 0 and self.coef0 >= 0 and float(self.degree).is_integer() and self.degree >= 0

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n) powers of shifted inner products."""
        return self._power(rows @ others.T)

    def diagonal(self, rows: Floats) -> Floats:
        """(n,) powers of shifted squared lengths."""
        return self._power(np.einsum("ij,ij->i", rows, rows))

    def _power(self, products: Floats) -> Floats:
        degree = int(self.degree) if float(self.degree).is_integer() else self.degree
        return np.asarray((self.gamma * products + self.coef0) ** degree)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """factor · exp(−gamma |x − y|²), also called radial basis functions."""

    gamma: float
    factor: float = 1.0

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n)"""
        exponents = squared_distances(rows, others, 1 / self.gamma)
        exponents *= -self.gamma
        np.exp(exponents, out=exponents)
        return exponents if self.factor == 1.0 else self.factor * exponents

    def diagonal(self, rows: Floats) -> Floats:
        """(n,) the factor."""
        return np.full(len(rows), self.factor)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """factor · exp(−gamma Σ|x − y|)"""

    gamma: float
    factor: float = 1.0

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n)"""
        return np.asarray(self.factor * np.exp(-self.gamma * absolute_distances(rows, others)))

    def diagonal(self, rows: Floats) -> Floats:
        """(n,) the factor."""
        return np.full(len(rows), self.factor)


@dataclass(frozen=True)
class Cosine(Kernel):
    """x · y / (|x| |y|); 0 for rows of zeros, which have no direction."""

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n) cosines of the angles."""
        return np.asarray(unit_rows(rows) @ unit_rows(others).T)

    def diagonal(self, rows: Floats) -> Floats:
        """(n,) ones, and zeros for rows of zeros."""
        return np.asarray(rows.any(axis=1).astype(float))


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(gamma x · y + coef0), which is not positive semi-definite in general."""

    gamma: float
    coef0: float

    @property
    def positive(self) -> bool:
        """No (Lin & Lin 2003)."""
        return False

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n)"""
        return np.asarray(np.tanh(self.gamma * (rows @ others.T) + self.coef0))

    def diagonal(self, rows: Floats) -> Floats:
        """(n,)"""
        return np.asarray(np.tanh(self.gamma * np.einsum("ij,ij->i", rows, rows) + self.coef0))


@dataclass(frozen=True)
class Custom(Kernel):
    """A function of the user: of two rows, or, which is faster, of (m, p) and (n, p) giving (m, n)."""

    function: Callable[..., Any]
    parameters: tuple[tuple[str, Any], ...]
    vectorised: bool

    @property
    def positive(self) -> bool:
        """Not known."""
        return False

    @classmethod
    def of(cls, function: Callable[..., Any], parameters: dict[str, Any], rows: Floats) -> Custom:
        """The kernel behind a function, which is tried on a few rows: does it take many at once, is it symmetric?"""
        few = rows[:3]
        pairwise = cls(function, tuple(parameters.items()), False)
        whole = cls(function, tuple(parameters.items()), True)
        try:
            values = pairwise.between(few[:2], few)
        except Exception as error:
            values = whole._try_vectorised(few, error)
        else:
            try:
                together = np.asarray(function(few[:2], few, **parameters), dtype=float)
                vectorised = together.shape == values.shape and bool(np.allclose(together, values, rtol=1e-10, atol=0))
            except Exception:
                vectorised = False
            whole = whole if vectorised else pairwise
        mirrored = whole.between(few, few[:2]).T
        if not np.allclose(values, mirrored, rtol=1e-8, atol=1e-12 * float(np.abs(values).max(initial=0.0))):
            raise BadInput(
                f"The kernel gave k(x, y) = {values[0, -1]:.6g} but k(y, x) = {mirrored[0, -1]:.6g}: a kernel must be "
                "symmetric."
            )
        return whole

    def _try_vectorised(self, few: Floats, error: Exception) -> Floats:
        try:
            values = self.between(few[:2], few)
        except Exception:
            raise BadInput(
                f"The kernel function failed on two rows of {few.shape[1]} numbers ({error}): it must take two rows "
                "and give one number, or take (m, p) and (n, p) and give (m, n)."
            ) from error
        return values

    def between(self, rows: Floats, others: Floats) -> Floats:
        """(m, n) values of the function."""
        known = dict(self.parameters)
        if self.vectorised:
            values = np.asarray(self.function(rows, others, **known), dtype=float)
        else:
            values = np.array([[float(self.function(x, y, **known)) for y in others] for x in rows], dtype=float)
            values = values.reshape(len(rows), len(others))
        if values.shape != (len(rows), len(others)):
            raise BadInput(
                f"The kernel function gave an array of shape {values.shape} for {len(rows)} and {len(others)} rows: "
                f"{(len(rows), len(others))} is needed."
            )
        if not np.isfinite(values).all():
            raise BadInput(
                f"The kernel function gave {int((~np.isfinite(values)).sum()):,} values that are not finite numbers "
                f"among {values.size:,}: check it on the rows of your data."
            )
        return values

    def diagonal(self, rows: Floats) -> Floats:
        """(n,) one row at a time, so that no (n, n) matrix arises."""
        return np.array([self.between(rows[i : i + 1], rows[i : i + 1])[0, 0] for i in range(len(rows))])


def unit_rows(rows: Floats) -> Floats:
    """Rows divided by their lengths; rows of zeros stay so."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    scaled = rows / np.where(largest > 0, largest, 1.0)  # so that squares neither overflow nor vanish
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.asarray(scaled / np.where(lengths > 0, lengths, 1.0))


# Columns of a kernel matrix: the kernel of any rows with some that stay the same.

LOG2E = float(np.log2(np.e))


@dataclass(frozen=True)
class KernelColumns:
    """The kernel with m rows of p columns."""

    kernel: Kernel
    basis: Floats  # (m, p)

    def of(self, rows: Floats) -> Floats:
        """(n, m) kernel of rows (n, p) with those of the basis; a new array in row order."""
        if isinstance(self.kernel, Gaussian) and is_compiled():
            return self._gaussian(self.kernel, rows)
        return np.ascontiguousarray(self.kernel.between(rows, self.basis))

    def _gaussian(self, kernel: Gaussian, rows: Floats) -> Floats:
        """2^(2g a·b − g|a|² − g|b|²), g = γ log₂e, a, b rows less the middle of the basis: a product, a pass."""
        middle, ahead, of_column = self._prepared
        apart = rows - middle
        of_row = -LOG2E * kernel.gamma * np.einsum("ij,ij->i", apart, apart)
        farthest = -float(of_row.min(initial=0.0) + of_column.min(initial=0.0))
        if np.finfo(float).eps * farthest > MAX_DISTANCE_ERROR:  # then |a|² and |b|² share digits that count
            return kernel.between(rows, self.basis)
        values: Floats = apart @ ahead
        powers_of_sums(values, of_row, of_column, kernel.factor)
        return values

    @cached_property
    def _prepared(self) -> tuple[Floats, Floats, Floats]:
        """Middle of the basis (p,), 2g bᵀ (p, m) and −g|b|² (m,)."""
        assert isinstance(self.kernel, Gaussian)
        g, middle = LOG2E * self.kernel.gamma, self.basis.mean(axis=0)
        B = self.basis - middle
        return middle, np.ascontiguousarray(2 * g * B.T), -g * np.einsum("ij,ij->i", B, B)


def kernel_of(facts: KernelFacts) -> Kernel | None:
    """The kernel behind a record; None for a matrix that was given."""
    gamma, coef0, degree = facts.gamma or 0.0, facts.coef0 or 0.0, facts.degree or 0.0
    return {
        "linear": Linear(),
        "cosine": Cosine(),
        "rbf": Gaussian(gamma, facts.factor),
        "laplacian": Laplacian(gamma, facts.factor),
        "poly": Polynomial(gamma, coef0, degree),
        "sigmoid": Sigmoid(gamma, coef0),
    }.get(facts.name)
