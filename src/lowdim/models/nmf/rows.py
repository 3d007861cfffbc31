"""How rows become a problem: what is known of them, how much each counts, what is penalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from lowdim.errors import BadInput, BadParameter
from lowdim.models.nmf.loss import KULLBACK_LEIBLER, Loss, Penalty, row_blocks
from lowdim.models.nmf.observed import Observed
from lowdim.models.nmf.settings import NmfTask
from lowdim.models.nmf.solvers.problem import Problem, checked
from lowdim.runtime.threads import in_order
from lowdim.sources.arrays import as_csr
from lowdim.sources.source import Source
from lowdim.types import Floats


@dataclass(frozen=True)
class Rows:
    """Rows as they came, checked."""

    X: Any
    """(n, p) float64, CSR, or `Observed` where entries are missing or have weights."""
    weight: Floats | None = None
    """(n,) how often each row counts; None: once."""

    @property
    def n_missing(self) -> int:
        """Entries of which nothing is known."""
        if not isinstance(self.X, Observed):
            return 0
        n, p = self.X.shape
        seen = int((self.X.weights > 0).sum())
        return n * p - seen - (n * p - self.X.stored.nnz if self.X.unstored else 0)

    def problem(self, loss: Loss, penalty: Penalty) -> Problem:
        """What is to be solved. Rows that count more than once are scaled, and their codes with them."""
        if self.weight is None:
            return Problem(self.X, loss, penalty)
        if not loss.penalty_scales(penalty):
            raise BadParameter(
                "NMF: with sample_weight, codes can be penalised by their squares (l1_ratio=0) for the Frobenius loss, "
                "by their sums (l1_ratio=1) for Kullback–Leibler, and not at all for others: change l1_ratio, or set "
                "alpha_W=0."
            )
        return Problem(scaled(self.X, loss.scale_of(self.weight)), loss, penalty)

    @property
    def count(self) -> float:
        """Rows, each as often as it counts."""
        return float(self.X.shape[0] if self.weight is None else self.weight.sum())

    def totals(self, loss: Loss) -> Totals:
        """What these rows say of the columns, and of a fit without parts."""
        n, p = self.X.shape
        weight = np.ones(n) if self.weight is None else self.weight
        counted = Problem(self.X if self.weight is None else scaled(self.X, weight), KULLBACK_LEIBLER)
        sums, counts = counted.turned.gradient_parts(
            np.ones((p, 1)), weight[None]
        )  # of the gradient where every column is 1
        known = self._potential(loss, weight)
        return Totals(n, self.count, sums[:, 0], counts[:, 0], known, loss, self.n_missing)

    def _potential(self, loss: Loss, weight: Floats) -> float:
        """Σ φ(x) of what is known, by weight; φ(0) = 0 where zeros are allowed, so only stored entries are met."""
        X = self.X
        stored = X.stored if isinstance(X, Observed) else X
        if scipy.sparse.issparse(stored):
            each = np.repeat(weight, np.diff(stored.indptr)) * (X.weights if isinstance(X, Observed) else 1.0)
            return float(loss.potential(np.where(each > 0, stored.data, 1.0)) @ each)
        return sum(in_order(lambda at: float(loss.potential(X[at]).sum(axis=1) @ weight[at]), row_blocks(X.shape)))


@dataclass(frozen=True)
class Totals:
    """What rows say of the columns: they add up."""

    n_rows: int
    count: float
    """Sum of the rows' weights."""
    sums: Floats
    """(p,) of what is known, by weight."""
    counts: Floats
    """(p,) of the weights."""
    potential: float
    """Σ φ(x)."""
    loss: Loss
    n_missing: int

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.n_rows + other.n_rows,
            self.count + other.count,
            self.sums + other.sums,
            self.counts + other.counts,
            self.potential + other.potential,
            self.loss,
            self.n_missing + other.n_missing,
        )

    @property
    def null_loss(self) -> float:
        """What is lost if every row is taken for the mean row, which is best for every β: Σ φ(x) − Σ φ(mean).

        The divergence is that of Bregman for φ, whose linear terms add up to nothing about a mean (Banerjee, Merugu,
        Dhillon & Ghosh 2005, "Clustering with Bregman divergences").
        """
        there = self.counts > 0
        means = self.sums[there] / self.counts[there]
        return max(self.potential - float(self.loss.potential(means) @ self.counts[there]), 0.0)


def rows_of(given: Any, weight: Floats | None, loss: Loss, unstored: str, entry_weight: Any = None) -> Rows:
    """The rows, if nothing of them is negative or infinite."""
    if scipy.sparse.issparse(given):
        missing = "unstored" if unstored == "missing" else "nan" if np.isnan(given.data).any() else None
    else:
        missing = "nan" if given.dtype.kind == "f" and np.isnan(given.min(initial=0.0)) else None
    return Rows(checked(given, loss, entry_weight, missing), weight)


def checked_shape(entry_weight: Any, source: Source) -> Any:
    """Weights of entries (n, p) that can be cut into rows: an array, or CSR; None: there are none."""
    if entry_weight is None:
        return None
    weights = as_csr(entry_weight) if scipy.sparse.issparse(entry_weight) else np.asarray(entry_weight)
    if weights.shape != (source.n_rows, source.n_columns):
        raise BadInput(
            f"entry_weight has shape {weights.shape}, but X has {source.n_rows} rows and {source.n_columns} columns: "
            "each entry needs one weight."
        )
    return weights


def penalty_of(task: NmfTask, n: float) -> Penalty:
    """What is penalised in a fit of rows that count n together."""
    given = task.penalties
    return Penalty.of((n, task.n_columns), given.alpha_W, given.alpha_H, given.l1_ratio)


def scaled(X: Any, gain: Floats) -> Any:
    """Rows times numbers (n,)."""
    if isinstance(X, Observed):
        return Observed(scaled(X.stored, gain), X.weights, X.unstored)
    if scipy.sparse.issparse(X):  # stored zeros stay stored
        return scipy.sparse.csr_array((X.data * np.repeat(gain, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)
    return X * gain[:, None]
