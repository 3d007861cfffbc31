"""Loss and gradient from one look at the fit, for multiplicative updates.

`Loss.total` and `Loss.gradient_parts` are the plain twins, each with a fit of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from lowdim.models.nmf.loss import ITAKURA_SAITO, KULLBACK_LEIBLER, Loss, row_blocks
from lowdim.models.nmf.loss import residual as plain_residual
from lowdim.models.nmf.observed import Observed
from lowdim.models.nmf.solvers.compiled_losses import count_ratios, part_residuals, spectrum_ratios
from lowdim.models.nmf.solvers.compiled_newton import taken_rows
from lowdim.runtime import native
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

Parts = tuple[Floats, Floats, float]
"""What the gradient by W takes off, what it adds, both (n, k), and the loss."""


def parts_of(loss: Loss, X: Any, W: Floats, H: Floats, square: float) -> Parts:
    """For X (n, p), dense, CSR or observed in part, with ‖X‖² = square, which only least squares ask for."""
    if loss.quadratic and not isinstance(X, Observed):
        taken, added = loss.gradient_parts(X, W, H)
        across, own = (float(np.vdot(part, W)) for part in (taken, added))
        return taken, added, 0.5 * (square - 2 * across + own)
    if not _compiled(loss) or isinstance(X, Observed) or (scipy.sparse.issparse(X) and loss is not KULLBACK_LEIBLER):
        return *loss.gradient_parts(X, W, H), loss.total(X, W, H)
    if scipy.sparse.issparse(X):
        return _by_stored(X, W, H)
    if X.flags.c_contiguous:
        return _by_rows(loss, X, W, H)
    return _by_columns(loss, np.ascontiguousarray(X.T), W, H)


def total_of(loss: Loss, X: Any, W: Floats, H: Floats) -> float:
    """The loss alone."""
    if not isinstance(X, np.ndarray) or not _compiled(loss):
        return loss.total(X, W, H)
    if not X.flags.c_contiguous:
        X, W, H = np.ascontiguousarray(X.T), H.T, W.T
    return sum(in_order(lambda at: _ratios(loss, X[at], W[at] @ H)[2], row_blocks((X.shape[0], X.shape[1]))))


def residual(W: Floats, taken: Floats, added: Floats) -> float:
    """How far W (n, k) is from a solution: `loss.residual`, in two passes over all."""
    if not native.is_compiled() or not W.size:
        return plain_residual(W, taken, added)
    return float(np.sqrt(part_residuals(W, taken, added).sum() / W.size))


def _compiled(loss: Loss) -> bool:
    return loss in (KULLBACK_LEIBLER, ITAKURA_SAITO) and native.is_compiled()


def _by_stored(X: Any, W: Floats, H: Floats) -> Parts:
    """Counts of CSR, which are fitted where they are stored."""
    W, Ht = np.ascontiguousarray(W), np.ascontiguousarray(H.T)
    taken, losses, sums = np.empty_like(W), np.empty(len(W)), Ht.sum(axis=0)

    def one(at: slice) -> None:
        taken_rows(X.indptr, X.indices, X.data, at.start, min(at.stop, len(W)), W, Ht, taken, losses)

    for _ in in_order(one, row_blocks((len(W), X.nnz // max(len(W), 1)))):
        pass
    return taken, np.broadcast_to(sums, W.shape), float(losses.sum()) + float(W.sum(axis=0) @ sums)


def _by_rows(loss: Loss, X: Floats, W: Floats, H: Floats) -> Parts:
    taken, added = np.empty_like(W), np.empty_like(W)

    def one(at: slice) -> float:
        less, more, lost = _ratios(loss, X[at], W[at] @ H)
        taken[at] = less @ H.T
        added[at] = H.sum(axis=1) if more is None else more @ H.T
        return lost

    lost = sum(in_order(one, row_blocks((X.shape[0], X.shape[1]))))
    return taken, added, lost


def _by_columns(loss: Loss, Y: Floats, W: Floats, H: Floats) -> Parts:
    """The same for X = Yᵀ, whose rows are not met: sums over blocks of columns."""

    def one(at: slice) -> Parts:
        V = np.ascontiguousarray(H[:, at].T)
        less, more, lost = _ratios(loss, Y[at], V @ W.T)
        return less.T @ V, V.sum(axis=0) if more is None else more.T @ V, lost

    taken, added, lost = np.zeros(W.shape), np.zeros(W.shape), 0.0
    for less, more, part in in_order(one, row_blocks((Y.shape[0], Y.shape[1]))):
        taken += less
        added += more
        lost += part
    return taken, added, lost


def _ratios(loss: Loss, x: Floats, fitted: Floats) -> tuple[Floats, Floats | None, float]:
    """x (wh)^(β−2), (wh)^(β−1), None for ones, and the loss."""
    if loss is KULLBACK_LEIBLER:
        lost = count_ratios(x, fitted, loss.least_fit)
        return fitted, None, lost
    inverse = np.empty_like(fitted)
    lost = spectrum_ratios(x, fitted, inverse, loss.least_fit)
    return fitted, inverse, lost
