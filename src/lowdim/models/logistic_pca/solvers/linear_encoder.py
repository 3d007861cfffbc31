"""PCA of an exponential family with a linear encoder: θ = b + Vᵀ E (x − center), all of E, V and b at once.

This is what Hinton & Salakhutdinov 2006, "Reducing the dimensionality of data with neural networks", compare with as
logistic PCA: an autoencoder of one linear layer and a logistic output. Codes are one product, and not fitted to a row.

L-BFGS on exact gradients, each a fold over the source. Its first guess of the inverse curvature is that of the blocks:
V and b column by column as in a Newton step, and E as a product of what the codes and what the columns curve by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lowdim.matrices.packed import packed, unpacked
from lowdim.models.logistic_pca.solvers.column_statistics import Columns, pieces, scatter_of
from lowdim.models.logistic_pca.solvers.families import Family
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.lbfgs import HALVINGS, Search, Slope, minimised
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

FAINT = 1e-2
"""Share of the mean of its diagonal that is added to a matrix of curvatures before it is inverted: directions without
variance would be blown up. From 1e-4 to 1e-1 on 10,000 digits, 114 to 141 steps go as far."""

EMPTY = 1e-12
"""Share of the largest variance of an axis below which there is only rounding along another."""


@dataclass(frozen=True)
class Linear:
    """A decoder, b + Vᵀ z, and a linear encoder, z = E (x − center); what is missing counts as the center."""

    components: Floats
    """(k, p) V."""
    bias: Floats
    """(p,)"""
    encoder: Floats
    """(k, p) E."""
    center: Floats
    """(p,)"""
    covariance: Floats
    """(k, k) of the codes of the rows that were fitted to, with column means for what is missing."""
    path: tuple[float, ...]
    """What was minimised, at the start and after every step: it never rises."""
    steps: int
    looks: int
    """Passes over the rows that the steps took."""
    finished: bool
    """Whether the last steps changed it by less than the tolerance."""


@dataclass(frozen=True)
class Blocks:
    """The curvature of the blocks of a point: what L-BFGS begins with."""

    of_columns: Floats
    """(p, k + 1, k + 1) inverse Hessians of (v, b) of every column."""
    of_codes: Floats
    """(k, k) inverse of V diag(mean weights) Vᵀ."""
    of_inputs: Floats
    """(p, p) inverse of the sum of (x − center) (x − center)ᵀ, with something on its diagonal."""

    def __call__(self, gradient: Floats) -> Floats:
        """Inverse curvature times a gradient."""
        k = len(self.of_codes)
        found = np.empty_like(gradient)
        found[: k + 1] = np.einsum("jab,bj->aj", self.of_columns, gradient[: k + 1])
        found[k + 1 :] = self.of_codes @ gradient[k + 1 :] @ self.of_inputs
        return found


def fit_linear(
    source: Source,
    family: Family,
    columns: Columns,
    k: int,
    ridge: float = 1e-2,
    tol: float = 1e-5,
    most: int = 300,
    observe: Callable[[Search], None] | None = None,
    floor: float = 0.0,
) -> Linear:
    """Minimise Σ w (A(θ) − x θ) + ½ ridge (Σ w ‖z‖² + ‖V‖²) over the observed entries of a source's rows."""
    with one_blas_thread():
        scatter = scatter_of(source, columns.center)
        slope_at = partial(slope, source=source, family=family, columns=columns, ridge=ridge)
        start = started(slope_at, family, columns, scatter, k)
        blocks = curved(start, source, family, columns, scatter, ridge)
        state = minimised(start, slope_at, blocks, tol, most, observe, floor)
    V, b, E = parts(state.point)
    covariance = E @ scatter @ E.T / columns.weight
    return Linear(V, b, E, columns.center, covariance, state.path, len(state.path) - 1, state.looks, state.finished)


def loss_of(model: Linear, source: Source, family: Family) -> float:
    """Σ w (A(θ) − x θ) over the observed entries of rows, also of others than were fitted to."""
    return source.reduce(partial(_loss_of, model=model, family=family), float.__add__)


def _loss_of(block: Block, model: Linear, family: Family) -> float:
    total = 0.0
    for piece in pieces(block):
        z = piece.apart(model.center) @ model.encoder.T
        total += piece.look(family, z @ model.components + model.bias)[0]
    return total


def parts(point: Floats) -> tuple[Floats, Floats, Floats]:
    """V (k, p), b (p,) and E (k, p) of a point."""
    k = len(point) // 2
    return point[:k], point[k], point[k + 1 :]


def slope(point: Floats, source: Source, family: Family, columns: Columns, ridge: float) -> Slope:
    """What is minimised, and its gradient, in one pass over the rows."""
    found = source.reduce(partial(_slope_of, point=point, family=family, columns=columns, ridge=ridge), Slope.add)
    V, _, _ = parts(point)
    found.gradient[: len(V)] += ridge * V
    found.gradient[: len(V) + 1, columns.constant] = 0.0
    return replace(found, loss=found.loss + 0.5 * ridge * float(np.vdot(V, V)))


def _slope_of(block: Block, point: Floats, family: Family, columns: Columns, ridge: float) -> Slope:
    gradient, loss, k = np.zeros_like(point), 0.0, len(point) // 2
    for piece in pieces(block):
        V, b, E = parts(point.astype(piece.x.dtype, copy=False))
        apart = piece.apart(columns.center)
        z = apart @ E.T
        theta = z @ V
        theta += b
        here, residual = piece.look(family, theta)
        if not np.isfinite(here):  # counts of e^θ overflow: a step that comes here is refused, whatever its slope
            return Slope(np.inf, gradient)
        pull = ridge * (z if piece.weight is None else z * piece.weight[:, None].astype(z.dtype))
        loss += here + 0.5 * float(np.vdot(pull, z))
        gradient[:k] += z.T @ residual
        gradient[k] += residual.sum(axis=0)
        pull += residual @ V.T
        gradient[k + 1 :] += pull.T @ apart
    return Slope(loss, gradient)


def started(slope_at: Callable[[Floats], Slope], family: Family, columns: Columns, scatter: Floats, k: int) -> Floats:
    """A point to begin at: codes along principal axes, and for V a Newton step from 0, where all rows have the same
    weights; columns of little variance, for which that would be a leap, go as far as others."""
    values, vectors = np.linalg.eigh(scatter)
    axes, values = vectors[:, ::-1][:, :k].T, values[::-1][:k, None]
    empty = values[:, 0] <= EMPTY * values[0, 0]  # fewer rows than axes: nothing varies along these
    variance = np.where(columns.constant, 0.0, family.variance(family.mean(columns.bias)))
    usual = variance.sum() / max(1, np.count_nonzero(variance))
    V = axes / np.maximum(variance, usual) if usual else axes
    V = np.where(empty[:, None] | columns.constant, 0.0, V)
    with np.errstate(divide="ignore", invalid="ignore"):
        balance = np.sqrt(np.sqrt((V**2).sum(axis=1, keepdims=True) / values))  # Σ z² = ‖v‖²: the least penalty
    balance[empty] = 1.0
    axes = np.where(empty[:, None], 0.0, axes)  # where V and E are both 0, so are their gradients: they stay there
    point = np.concatenate([V / balance, columns.bias[None], axes * balance])
    none = np.where(np.arange(2 * k + 1)[:, None] < k, 0.0, point)
    least = slope_at(none).loss
    for _ in range(HALVINGS):
        if slope_at(point).loss <= least:
            return point
        point[:k] *= 0.5  # counts grow like e^θ: a Newton step may be far too long
    return point


def curved(point: Floats, source: Source, family: Family, columns: Columns, scatter: Floats, ridge: float) -> Blocks:
    """The curvature of the blocks at a point, in one pass over the rows."""
    V, _, _ = parts(point)
    k = len(V)
    sums = source.reduce(partial(_curving_of, point=point, family=family, columns=columns), _plus)
    of_columns = unpacked(sums, k + 1)
    of_columns[:, np.arange(k), np.arange(k)] += ridge
    of_codes = (V * (of_columns[:, k, k] / columns.weight)) @ V.T + ridge * np.eye(k)
    return Blocks(_inverse(of_columns), _inverse(of_codes), _inverse(scatter))


def _inverse(matrices: Floats) -> Floats:
    """Inverses of matrices (…, a, a) with something added to their diagonals."""
    a = matrices.shape[-1]
    means = np.trace(matrices, axis1=-2, axis2=-1)[..., None, None] / a
    return np.asarray(np.linalg.inv(matrices + np.where(means > 0, FAINT * means, 1.0) * np.eye(a)), dtype=np.float64)


def _curving_of(block: Block, point: Floats, family: Family, columns: Columns) -> Floats:
    """(p, (k + 1) (k + 2) / 2) Σ w A″(θ) (z, 1) (z, 1)ᵀ for every column, as upper triangles."""
    k, p = len(point) // 2, point.shape[1]
    total = np.zeros((p, (k + 1) * (k + 2) // 2))
    for piece in pieces(block):
        V, b, E = parts(point.astype(piece.x.dtype, copy=False))
        z = piece.apart(columns.center) @ E.T
        weights = family.variance(family.mean(z @ V + b))
        if piece.missing is not None:
            weights[piece.missing] = 0.0
        if piece.weight is not None:
            weights *= piece.weight[:, None].astype(weights.dtype)
        longer = np.append(z, np.ones((len(z), 1), dtype=z.dtype), axis=1)
        total += weights.T @ packed(longer[:, :, None] * longer[:, None, :])
    return total


def _plus(one: Floats, other: Floats) -> Floats:
    one += other
    return one
