"""What non-negative factors lose: the β-divergence of X from W H, its gradient in two parts, and the KKT residual.

β = 2 is half the squared Frobenius distance, β = 1 the Kullback–Leibler divergence (a Poisson likelihood), β = 0 that
of Itakura & Saito; Févotte & Idier 2011, "Algorithms for nonnegative matrix factorization with the β-divergence".
Rows are taken a block at a time, so that nothing of the size of X is made; for a sparse X with β = 2 or 1 only stored
entries are met. Whatever is done to W is done to H by turning the problem round: Xᵀ ≈ Hᵀ Wᵀ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

FROBENIUS, KULLBACK_LEIBLER, ITAKURA_SAITO = 2.0, 1.0, 0.0

BLOCK = 1 << 17
"""Numbers in a block of rows, or in the factors gathered for stored entries: they stay in the cache, and in memory
that need not be asked for again."""

TINY = 1e-300
"""What W H is never let fall below where something is divided by it."""


@dataclass(frozen=True)
class Penalty:
    """l1 ‖·‖₁ + l2/2 ‖·‖² of each factor."""

    l1_W: float = 0.0  # noqa: N815  the factors' own names
    l2_W: float = 0.0  # noqa: N815
    l1_H: float = 0.0  # noqa: N815
    l2_H: float = 0.0  # noqa: N815

    @classmethod
    def of(
        cls, shape: tuple[int, int], alpha_W: float, alpha_H: float | str = "same", l1_ratio: float = 0.0
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
    """The β-divergence of X (n, p), dense or CSR, from W H, with 0 log 0 = 0."""
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

    return sum(in_order(one, _blocks(X)))


def divergence(x: Floats, fitted: Floats, beta: float) -> Floats:
    """Of each entry. Close fits lose no digits: with d = fitted/x − 1 that of Kullback & Leibler is x (d − log(1 + d)),
    and that of Itakura & Saito the same for x/fitted − 1, without x."""
    if beta == FROBENIUS:
        return np.asarray(0.5 * (x - fitted) ** 2)
    fitted = np.maximum(fitted, TINY)
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
    x = X.data if scipy.sparse.issparse(X) else X
    there = np.where(x > 0, x, 1.0)
    return float((there * np.log(there) - np.where(x > 0, x, 0.0)).sum()) - loss(X, W, H, KULLBACK_LEIBLER)


def parts(X: Any, W: Floats, H: Floats, beta: float) -> tuple[Floats, Floats]:
    """(n, k) what is taken off and what is added in the gradient of the loss by W: gradient = added − taken."""
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
        rows, fitted = _dense(X[at]), np.maximum(W[at] @ H, TINY)
        if beta == KULLBACK_LEIBLER:
            taken[at], added[at] = (rows / fitted) @ H.T, H.sum(axis=1)
        else:
            power = fitted ** (beta - 2)
            taken[at], added[at] = (rows * power) @ H.T, (fitted * power) @ H.T

    for _ in in_order(one, _blocks(X)):
        pass
    return taken, added


def residual(W: Floats, taken: Floats, added: Floats) -> float:
    """‖min(W, gradient)‖ relative to ‖W‖: zero at, and only at, a point that meets the conditions of Karush, Kuhn and
    Tucker, where W ≥ 0, gradient ≥ 0 and one of both is zero.

    A gradient has other units than W: it is taken in units of ‖added‖ / ‖W‖, so that neither the scale of the data nor
    that of a factor matters.
    """
    size, unit = float(np.linalg.norm(W)), float(np.linalg.norm(added))
    if size == 0.0 or unit == 0.0:
        return float(np.linalg.norm(np.minimum(W, added - taken)) > 0.0)
    return float(np.linalg.norm(np.minimum(W, (added - taken) * (size / unit)))) / size


def _blocks(X: Any) -> Iterator[slice]:
    """Rows for one thread."""
    height = max(1, BLOCK // max(1, X.shape[1]))
    return (slice(start, start + height) for start in range(0, X.shape[0], height))


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)


def _at_stored(X: Any, W: Floats, H: Floats) -> Iterator[tuple[slice, Floats]]:
    """W H at the stored entries of a CSR matrix, some at a time: factors gathered for all would be nnz × k."""
    turned = np.ascontiguousarray(H.T)
    length = max(1, BLOCK // max(1, W.shape[1]))
    for start in range(0, len(X.data), length):
        at = slice(start, min(start + length, len(X.data)))
        row = np.searchsorted(X.indptr, np.arange(at.start, at.stop), side="right") - 1
        yield at, np.einsum("ek,ek->e", W[row], turned[X.indices[at]])
