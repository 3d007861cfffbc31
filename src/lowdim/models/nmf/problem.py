"""How rows become a problem: what is known of them, how much each counts, what is penalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import scipy.special

from lowdim.errors import BadInput, BadParameter
from lowdim.models.nmf.settings import NmfTask
from lowdim.models.nmf.solvers.loss import FROBENIUS, ITAKURA_SAITO, KULLBACK_LEIBLER, Penalty, row_blocks
from lowdim.models.nmf.solvers.observed import Observed
from lowdim.models.nmf.solvers.problem import Problem, checked
from lowdim.runtime.threads import in_order
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

    def problem(self, beta: float, penalty: Penalty) -> Problem:
        """What is to be solved.

        A row that counts s times is one that is s^(1/β) times as large: d(cx | cy) = c^β d(x | y).
        """
        if self.weight is None:
            return Problem(self.X, beta, penalty)
        self._refuse_penalties(beta, penalty)
        return Problem(scaled(self.X, self._gain(beta)), beta, penalty)

    def _refuse_penalties(self, beta: float, penalty: Penalty) -> None:
        """Codes are scaled with their rows, and only one penalty of them for each loss is none the worse for it."""
        fine = {FROBENIUS: penalty.l1_W == 0, KULLBACK_LEIBLER: penalty.l2_W == 0}.get(
            beta, penalty.l1_W == penalty.l2_W == 0
        )
        if not fine:
            raise BadParameter(
                "NMF: with sample_weight, codes can be penalised by their squares (l1_ratio=0) for the Frobenius loss, "
                "by their sums (l1_ratio=1) for Kullback–Leibler, and not at all for others: change l1_ratio, or set "
                "alpha_W=0."
            )

    @property
    def count(self) -> float:
        """Rows, each as often as it counts."""
        return float(self.X.shape[0] if self.weight is None else self.weight.sum())

    def totals(self, beta: float) -> Totals:
        """What these rows say of the columns, and of a fit without parts."""
        n, p = self.X.shape
        weight = np.ones(n) if self.weight is None else self.weight
        counted = Problem(self.X if self.weight is None else scaled(self.X, weight), KULLBACK_LEIBLER)
        sums, counts = counted.turned.parts(np.ones((p, 1)), weight[None])  # of the gradient where every column is 1
        known = self._potential(beta, weight)
        return Totals(n, self.count, sums[:, 0], counts[:, 0], known, beta, self.n_missing)

    def _potential(self, beta: float, weight: Floats) -> float:
        """Σ φ(x) of what is known, by weight; φ(0) = 0 where zeros are allowed, so only stored entries are met."""
        X = self.X
        stored = X.stored if isinstance(X, Observed) else X
        if scipy.sparse.issparse(stored):
            each = np.repeat(weight, np.diff(stored.indptr)) * (X.weights if isinstance(X, Observed) else 1.0)
            return float(potential(np.where(each > 0, stored.data, 1.0), beta) @ each)
        return sum(in_order(lambda at: float(potential(X[at], beta).sum(axis=1) @ weight[at]), row_blocks(X.shape)))

    def _gain(self, beta: float) -> Floats:
        if beta == ITAKURA_SAITO:
            raise BadParameter(
                "NMF(beta_loss='itakura-saito') sees only ratios, so that rows cannot be given weights: leave "
                "sample_weight out."
            )
        assert self.weight is not None
        gain: Floats = self.weight ** (1.0 / beta)
        return gain


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
    beta: float
    n_missing: int

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.n_rows + other.n_rows,
            self.count + other.count,
            self.sums + other.sums,
            self.counts + other.counts,
            self.potential + other.potential,
            self.beta,
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
        return max(self.potential - float(potential(means, self.beta) @ self.counts[there]), 0.0)


def potential(x: Floats, beta: float) -> Floats:
    """φ, of which the β-divergence is that of Bregman; 0 log 0 = 0."""
    if beta == KULLBACK_LEIBLER:
        return np.asarray(scipy.special.xlogy(x, x))
    if beta == ITAKURA_SAITO:
        return np.asarray(-np.log(x))
    return np.asarray(x**beta / (beta * (beta - 1)))


def rows_of(given: Any, weight: Floats | None, beta: float, unstored: str, entry_weight: Any = None) -> Rows:
    """The rows, if nothing of them is negative or infinite."""
    if scipy.sparse.issparse(given):
        missing = "unstored" if unstored == "missing" else "nan" if np.isnan(given.data).any() else None
    else:
        missing = "nan" if given.dtype.kind == "f" and np.isnan(given.min(initial=0.0)) else None
    return Rows(checked(given, beta, entry_weight, missing), weight)


def checked_shape(entry_weight: Any, source: Source) -> Any:
    """Weights of entries (n, p) that can be cut into rows: an array, or CSR; None: there are none."""
    if entry_weight is None:
        return None
    weights = entry_weight.tocsr() if scipy.sparse.issparse(entry_weight) else np.asarray(entry_weight)
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
