"""What non-negative factors lose: the β-divergence of X from W H, its gradient in two parts, and the KKT residual.

β = 2 is half the squared Frobenius distance, β = 1 the Kullback–Leibler divergence (a Poisson likelihood), β = 0 that
of Itakura & Saito; Févotte & Idier 2011, "Algorithms for nonnegative matrix factorization with the β-divergence".
Rows are taken a block at a time, so that nothing of the size of X is made; for a sparse X with β = 2 or 1 only stored
entries are met. Whatever is done to W is done to H by turning the problem round: Xᵀ ≈ Hᵀ Wᵀ.
Where entries have weights or are missing (`Observed`), every sum is one over all entries, as if all were zeros of
weight u, and a correction for those that are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from lowdim.models.nmf.solvers.observed import MOSTLY_STORED, Observed
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

FROBENIUS, KULLBACK_LEIBLER, ITAKURA_SAITO = 2.0, 1.0, 0.0

BLOCK = 1 << 17
"""Numbers in a block of rows, or in the factors gathered for stored entries: they stay in the cache, and in memory
that need not be asked for again."""

CANCELLED = 1e-13
"""Share of a sum that is rounding where all of it is taken off again."""

TINY = 1e-300
"""What W H is never let fall below where something is divided by it."""


def tiny(beta: float) -> float:
    """The same for powers: none up to (wh)^(β−2) overflows, so that 0 · (wh)^(β−2) is 0."""
    return TINY if beta >= KULLBACK_LEIBLER else float(1e-200 ** (1.0 / (2.0 - beta)))


@dataclass(frozen=True)
class Penalty:
    """l1 ‖·‖₁ + l2/2 ‖·‖² of each factor."""

    l1_W: float = 0.0  # noqa: N815  the factors' own names
    l2_W: float = 0.0  # noqa: N815
    l1_H: float = 0.0  # noqa: N815
    l2_H: float = 0.0  # noqa: N815

    @classmethod
    def of(
        cls, shape: tuple[float, int], alpha_W: float, alpha_H: float | str = "same", l1_ratio: float = 0.0
    ) -> Penalty:
        """As scikit-learn means its parameters: W counts for each of p columns, H for each of n rows."""
        n, p = shape
        of_W = p * alpha_W
        of_H = n * (alpha_W if isinstance(alpha_H, str) else alpha_H)
        return cls(of_W * l1_ratio, of_W * (1 - l1_ratio), of_H * l1_ratio, of_H * (1 - l1_ratio))

    @property
    def turned(self) -> Penalty:
        """That of the turned problem."""
        return Penalty(self.l1_H, self.l2_H, self.l1_W, self.l2_W)

    def value(self, W: Floats, H: Floats) -> float:
        """What the factors cost; they are not negative."""
        l1 = self.l1_W * W.sum() + self.l1_H * H.sum()
        l2 = self.l2_W * np.einsum("ik,ik->", W, W) + self.l2_H * np.einsum("kj,kj->", H, H)
        return float(l1 + 0.5 * l2)


def loss(X: Any, W: Floats, H: Floats, beta: float) -> float:
    """The β-divergence of X (n, p), dense, CSR or observed in part, from W H, with 0 log 0 = 0."""
    if isinstance(X, Observed):
        return _weighted_loss(X, W, H, beta)
    if scipy.sparse.issparse(X) and beta == FROBENIUS:
        across = float(np.einsum("ik,ik->", X @ H.T, W))
        square = float(np.einsum("kl,kl->", W.T @ W, H @ H.T))
        return 0.5 * (float(X.data @ X.data) - 2 * across + square)
    if scipy.sparse.issparse(X) and beta == KULLBACK_LEIBLER:
        apart = met = 0.0
        for at, fitted in _at_stored(X, W, H):
            apart += float(divergence(X.data[at], fitted, beta).sum())
            met += float(fitted.sum())
        return apart + float(W.sum(axis=0) @ H.sum(axis=1)) - met  # a zero loses what is fitted to it

    def one(at: slice) -> float:
        return float(divergence(_dense(X[at]), W[at] @ H, beta).sum())

    return sum(in_order(one, row_blocks(X.shape)))


def _weighted_loss(X: Observed, W: Floats, H: Floats, beta: float) -> float:
    """Σ m d(x, wh): of what is stored, less what it would lose as zeros of weight u, and of all as such zeros."""
    apart, u = 0.0, X.unstored
    for at, fitted in _at_stored(X.stored, W, H):
        apart += float(X.weights[at] @ divergence(X.stored.data[at], fitted, beta))
        if u:
            apart -= u * float(divergence(np.zeros_like(fitted), fitted, beta).sum())
    return apart + u * _loss_of_zeros(W, H, beta) if u else apart


def _loss_of_zeros(W: Floats, H: Floats, beta: float) -> float:
    """What W H loses where all data are zero: Σ (wh)^β / β."""
    if beta == FROBENIUS:
        return 0.5 * float(np.einsum("kl,kl->", W.T @ W, H @ H.T))
    if beta == KULLBACK_LEIBLER:
        return float(W.sum(axis=0) @ H.sum(axis=1))

    def one(at: slice) -> float:
        return float(((W[at] @ H) ** beta).sum()) / beta

    return sum(in_order(one, row_blocks((len(W), H.shape[1]))))


def divergence(x: Floats, fitted: Floats, beta: float) -> Floats:
    """Of each entry. Close fits lose no digits: with d = fitted/x − 1 that of Kullback & Leibler is x (d − log(1 + d)),
    and that of Itakura & Saito the same for x/fitted − 1, without x."""
    if beta == FROBENIUS:
        return np.asarray(0.5 * (x - fitted) ** 2)
    fitted = np.maximum(fitted, tiny(beta))
    if beta == KULLBACK_LEIBLER:
        there = np.where(x > 0, x, 1.0)
        return np.where(x > 0, there * _beyond_log(fitted, there), fitted)
    if beta == ITAKURA_SAITO:
        return _beyond_log(x, fitted)
    power = fitted ** (beta - 1)
    return np.asarray((x**beta + (beta - 1) * fitted * power - beta * x * power) / (beta * (beta - 1)))


def _beyond_log(a: Floats, b: Floats) -> Floats:
    """d − log(1 + d) for d = a / b − 1 > −1, near d = 0 and near d = −1 alike."""
    d = (a - b) / b
    logs = np.log1p(np.maximum(d, -0.5))
    low = d < -0.5
    logs[low] = np.log(a[low] / b[low])
    return np.asarray(d - logs)


def log_likelihood(X: Any, W: Floats, H: Floats) -> float:
    """Σ x log wh − wh, the Poisson log-likelihood of counts but for Σ log x!: what the lecture's updates raise."""
    x = X.stored.data if isinstance(X, Observed) else X.data if scipy.sparse.issparse(X) else X
    there = np.where(x > 0, x, 1.0)
    best = there * np.log(there) - np.where(x > 0, x, 0.0)
    if isinstance(X, Observed):
        best = best * X.weights
    return float(best.sum()) - loss(X, W, H, KULLBACK_LEIBLER)


def parts(X: Any, W: Floats, H: Floats, beta: float) -> tuple[Floats, Floats]:
    """(n, k) what is taken off and what is added in the gradient of the loss by W: gradient = added − taken."""
    if isinstance(X, Observed):
        return _weighted_parts(X, W, H, beta)
    if beta == FROBENIUS:
        return np.asarray(X @ H.T), W @ (H @ H.T)
    if scipy.sparse.issparse(X) and beta == KULLBACK_LEIBLER:
        ratios = np.empty_like(X.data)
        for at, fitted in _at_stored(X, W, H):
            ratios[at] = X.data[at] / np.maximum(fitted, TINY)
        ratio = scipy.sparse.csr_array((ratios, X.indices, X.indptr), shape=X.shape)
        return np.asarray(ratio @ H.T), np.broadcast_to(H.sum(axis=1), W.shape).copy()
    taken, added = np.empty_like(W), np.empty_like(W)

    def one(at: slice) -> None:
        rows, fitted = _dense(X[at]), np.maximum(W[at] @ H, tiny(beta))
        if beta == KULLBACK_LEIBLER:
            taken[at], added[at] = (rows / fitted) @ H.T, H.sum(axis=1)
        else:
            power = fitted ** (beta - 2)
            taken[at], added[at] = (rows * power) @ H.T, (fitted * power) @ H.T

    for _ in in_order(one, row_blocks(X.shape)):
        pass
    return taken, added


def _weighted_parts(X: Observed, W: Floats, H: Floats, beta: float) -> tuple[Floats, Floats]:
    """As above; what is added is, but for rounding, not negative where weights are below u."""
    taken, added = np.empty(len(X.weights)), np.empty(len(X.weights))
    for at, fitted in _at_stored(X.stored, W, H):
        m, fit = X.weights[at], np.maximum(fitted, tiny(beta))
        taken[at] = m * X.stored.data[at] * (1.0 if beta == FROBENIUS else fit ** (beta - 2))
        added[at] = (m - X.unstored) * (fitted if beta == FROBENIUS else fit ** (beta - 1))
    across = np.ascontiguousarray(H.T)
    whole = X.unstored * _added_by_zeros(W, H, beta) if X.unstored else 0.0
    return np.asarray(X.like(taken) @ across), cleaned(X.like(added) @ across + whole, whole)


def cleaned(added: Floats, whole: Floats | float) -> Floats:
    """What is left after something was taken off a whole, with zeros where that is nothing but rounding."""
    return np.where(added > CANCELLED * whole, added, 0.0)


def _added_by_zeros(W: Floats, H: Floats, beta: float) -> Floats:
    """(n, k) the gradient by W where all data are zero: Σ (wh)^(β−1) h."""
    if beta == FROBENIUS:
        return W @ (H @ H.T)
    if beta == KULLBACK_LEIBLER:
        return np.broadcast_to(H.sum(axis=1), W.shape)

    def one(at: slice) -> Floats:
        return np.asarray(np.maximum(W[at] @ H, tiny(beta)) ** (beta - 1) @ H.T)

    return np.vstack(list(in_order(one, row_blocks((len(W), H.shape[1])))))


def fitted_total(X: Any, W: Floats, H: Floats) -> float:
    """Σ m wh, which is Σ m x where the Kullback–Leibler divergence is least."""
    if isinstance(X, Observed):
        return float(np.einsum("ik,ik->", W, X.weighed(H.T)))
    return float(W.sum(axis=0) @ H.sum(axis=1))


def residual(W: Floats, taken: Floats, added: Floats) -> float:
    """How far W (n, k) is from the conditions of Karush, Kuhn and Tucker, which hold where W ≥ 0, gradient ≥ 0 and one
    of both is zero: the root mean square of min(W, gradient), zero there and only there, and at most one.

    W is taken in units of the size of its part, and the gradient, which is what is added less what is taken off, as a
    share of both: so neither the scale of the data nor that of a part matters, and no row with a steep gradient, as
    β < 1 has them where little is fitted, hides the others.
    """
    if not W.size:
        return 0.0
    return float(np.sqrt(np.mean([_of_part(*part) for part in zip(W.T, taken.T, added.T, strict=True)])))


def _of_part(w: Floats, taken: Floats, added: Floats) -> float:
    """Mean square of one part (n,): by parts, nothing of the size of W is made."""
    size, both = np.sqrt(np.mean(w**2)), added + taken
    slope = np.divide(added - taken, both, out=np.zeros_like(w), where=both > 0)
    return float(np.mean(np.minimum(w / size if size > 0 else 0.0, slope) ** 2))


def row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Rows for one thread."""
    n, p = shape
    height = max(1, BLOCK // max(1, p))
    return (slice(start, start + height) for start in range(0, n, height))


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)


def _at_stored(X: Any, W: Floats, H: Floats) -> Iterator[tuple[slice, Floats]]:
    """W H at the stored entries of a CSR matrix, some at a time: factors gathered for all would be nnz × k."""
    if MOSTLY_STORED * X.nnz >= X.shape[0] * X.shape[1]:
        yield from _at_most_places(X, W, H)
        return
    turned = np.ascontiguousarray(H.T)
    length = max(1, BLOCK // max(1, W.shape[1]))
    for start in range(0, len(X.data), length):
        at = slice(start, min(start + length, len(X.data)))
        row = np.searchsorted(X.indptr, np.arange(at.start, at.stop), side="right") - 1
        yield at, np.einsum("ek,ek->e", W[row], turned[X.indices[at]])


def _at_most_places(X: Any, W: Floats, H: Floats) -> Iterator[tuple[slice, Floats]]:
    """The same, from dense blocks of W H."""
    for block in row_blocks(X.shape):
        starts = X.indptr[block.start : block.stop + 1]
        at = slice(int(starts[0]), int(starts[-1]))
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        yield at, (W[block] @ H)[row, X.indices[at]]
