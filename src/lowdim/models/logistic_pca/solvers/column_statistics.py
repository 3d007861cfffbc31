"""What one reading of the rows tells of the columns of an exponential family, and how a model misses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.missing import PIECE_BYTES, Observed, observe_block
from lowdim.matrices.preparation import dense, piece_rows, working_dtype
from lowdim.models.logistic_pca.solvers.codes import newton_terms
from lowdim.models.logistic_pca.solvers.families import FAMILIES, Bernoulli, Family
from lowdim.runtime import native
from lowdim.sources.source import Block, Source
from lowdim.types import Array, Floats

# What one reading of the rows tells before anything is fitted: means, limits, and the likelihood of a perfect fit.


@dataclass(frozen=True)
class ColumnStatistics:
    """Of a set of rows."""

    observed: Observed
    least: Floats  # (p,) smallest entry; infinite where nothing was observed
    most: Floats  # (p,) largest entry
    saturated: float  # Σ of the smallest A(θ) − x θ of every entry, by weight

    def merge(self, other: ColumnStatistics) -> ColumnStatistics:
        """Of both sets of rows."""
        return ColumnStatistics(
            self.observed.merge(other.observed),
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.saturated + other.saturated,
        )

    def still(self) -> NDArray[np.bool_]:
        """(p,) columns that say nothing of loadings: all entries are the same, or none was observed."""
        found: NDArray[np.bool_] = ~(self.least < self.most)
        return found

    def bias(self, family: Family) -> Floats:
        """(p,) θ of the columns' means: the best model without axes. 0 where nothing was observed."""
        seen = self.observed.seen
        mean = np.where(seen > 0, self.observed.mean, 0.0 if family.least < 0 else 0.5)
        return family.link(family.inner_mean(mean, seen))

    def null_loss(self, family: Family) -> float:
        """Σ A(θ) − x θ of that model."""
        seen = self.observed
        return family.null_loss(self.bias(family), seen.mean, seen.squares, seen.seen)


def summarise_columns(source: Source, family: Family) -> ColumnStatistics:
    """Read all rows once."""
    return source.reduce(partial(_summarise_block, name=family.name), ColumnStatistics.merge)


def _summarise_block(block: Block, name: str) -> ColumnStatistics:
    family = FAMILIES[name]
    n, p = block.rows.shape
    least, most, saturated = np.full(p, np.inf), np.full(p, -np.inf), 0.0
    step = max(1, PIECE_BYTES // (8 * p))
    for at in range(0, n, step):
        x = dense(block.rows[at : at + step]).astype(np.float64, copy=False)
        least = np.fmin(least, np.fmin.reduce(x, axis=0, initial=np.inf))
        most = np.fmax(most, np.fmax.reduce(x, axis=0, initial=-np.inf))
        inside = np.where(np.isnan(x), max(family.least, 0.0), np.clip(x, family.least, family.most))
        with np.errstate(over="ignore", invalid="ignore"):  # infinite entries are refused afterwards
            of_rows = np.where(np.isnan(x), 0.0, family.saturated(inside)).sum(axis=1)
        saturated += float(of_rows.sum() if block.weight is None else of_rows @ block.weight[at : at + step])
    return ColumnStatistics(observe_block(block), least, most, saturated)


# Rows whose entries are drawn from an exponential family: what their columns say, and how a model misses them.
#
# Missing entries are NaN. They have no loss and no residual, and where a row is encoded they count as the center.

BLOCK_PIECE_BYTES = 2 * 2**20
"""Rows that are worked on at a time: their parameters and residuals stay in the cache."""


@dataclass(frozen=True)
class Columns:
    """What is fixed before anything is fitted."""

    center: Floats
    """(p,) means of the observed entries; 0 where there are none."""
    bias: Floats
    """(p,) natural parameters of the means, which are moved inside where they lie on a bound."""
    constant: NDArray[np.bool_]
    """(p,) whether all entries are the same, or missing: nothing but the bias, which is given, is said of them."""
    weight: float
    """Sum of the weights of the rows."""


@dataclass(frozen=True)
class Piece:
    """Some rows."""

    x: Array  # (n, p) of float32 where the data are, else of float64; 0 where entries are missing
    missing: NDArray[np.bool_] | None
    weight: Floats | None  # (n,); None means one each

    def apart(self, center: Floats) -> Array:
        """(n, p) x − center, 0 where entries are missing."""
        apart: Array = self.x - center.astype(self.x.dtype, copy=False)
        if self.missing is not None:
            apart[self.missing] = 0.0
        return apart

    def look(self, family: Family, theta: Array) -> tuple[float, Array]:
        """Weighted loss of the rows at parameters (n, p), which are changed, and its slope in them (n, p)."""
        if native.is_compiled() and isinstance(family, Bernoulli):
            return self._look_compiled(family, theta)
        if self.missing is not None:
            theta[self.missing] = 0.0
        mean = family.mean(theta)
        losses = family.row_losses(self.x, theta, mean).astype(np.float64, copy=False)
        if self.missing is not None:
            losses = losses - family.potential(np.zeros(1)) * self.missing.sum(axis=1)
        slope = np.subtract(mean, self.x, out=theta)
        if self.missing is not None:
            slope[self.missing] = 0.0
        if self.weight is None:
            return float(losses.sum()), slope
        slope *= self.weight[:, None].astype(slope.dtype, copy=False)
        return float(self.weight @ losses), slope

    def _look_compiled(self, family: Family, theta: Array) -> tuple[float, Array]:
        x = self.x if self.missing is None else np.where(self.missing, np.nan, self.x)
        found = newton_terms(family, x.astype(np.float64, copy=False), theta.astype(np.float64, copy=False))
        slope: Array = found.apart.astype(self.x.dtype, copy=False)
        if self.weight is None:
            return float(found.loss.sum()), slope
        slope *= self.weight[:, None].astype(slope.dtype, copy=False)
        return float(self.weight @ found.loss), slope


def cut_rows(block: Block) -> Iterator[Piece]:
    """The rows of a block, a few at a time."""
    n, p = block.rows.shape
    most = piece_rows(p, 8, BLOCK_PIECE_BYTES, 32, 4096)
    for start in range(0, n, most):
        rows = dense(block.rows[start : start + most])
        x = rows.astype(working_dtype(rows.dtype), order="C", copy=False)
        missing = np.isnan(x)
        weight = None if block.weight is None else block.weight[start : start + most]
        if missing.any():
            yield Piece(np.where(missing, x.dtype.type(0), x), missing, weight)
        else:
            yield Piece(x, None, weight)


def fix_columns(seen: ColumnStatistics, family: Family) -> Columns:
    """What an overview of the rows says of their columns."""
    observed = seen.observed
    return Columns(observed.mean, seen.bias(family), seen.still(), observed.weight)


def sum_scatter(source: Source, center: Floats) -> Floats:
    """(p, p) Σ w (x − center) (x − center)ᵀ, in one pass."""
    return source.reduce(partial(_scatter_of_block, center=center), add_in_place)


def _scatter_of_block(block: Block, center: Floats) -> Floats:
    total = np.zeros((len(center), len(center)))
    for piece in cut_rows(block):
        apart = piece.apart(center)
        weighted = apart if piece.weight is None else apart * piece.weight[:, None]
        total += apart.T @ weighted
    return total


def add_in_place(one: Floats, other: Floats) -> Floats:
    """one + other, in the memory of one."""
    one += other
    return one
