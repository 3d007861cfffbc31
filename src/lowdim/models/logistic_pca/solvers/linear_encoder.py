"""PCA of an exponential family with a linear encoder: θ = b + Vᵀ E (x − center), E, V and b at once; or a projection.

This is what Hinton & Salakhutdinov 2006, "Reducing the dimensionality of data with neural networks", compare with as
logistic PCA: an autoencoder of one linear layer and a logistic output. Codes are one product, and not fitted to a row.

L-BFGS on exact gradients, each a fold over the source. Its first guess of the inverse curvature is that of the blocks:
V and b column by column as in a Newton step, and E as a product of what the codes and what the columns curve by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.packed import pack, unpack
from lowdim.models.logistic_pca.solvers.column_statistics import (
    Columns,
    Piece,
    add_in_place,
    cut_rows,
    fix_columns,
    sum_scatter,
    summarise_columns,
)
from lowdim.models.logistic_pca.solvers.families import Bernoulli, Family
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.lbfgs import MAX_SHORTER_STEPS, Search, Slope, minimise
from lowdim.sources.source import Block, Source
from lowdim.types import Array, Floats

ADDED_CURVATURE = 1e-2
"""Share of the mean of its diagonal that is added to a matrix of curvatures before it is inverted: directions without
variance would be blown up. From 1e-4 to 1e-1 on 10,000 digits, 114 to 141 steps go as far. Of a projection: the share
of the mean weight that a column has at least."""

LEAST_VARIANCE = 1e-12
"""Share of the largest variance of an axis below which there is only rounding along another."""


@dataclass(frozen=True)
class LinearModel:
    """A decoder, b + Vᵀ z, and a linear encoder, z = E (x − center); what is missing counts as the center."""

    components: Floats  # (k, p) V
    bias: Floats  # (p,)
    encoder: Floats  # (k, p) E
    center: Floats  # (p,)
    covariance: Floats  # (k, k) of the codes of the rows that were fitted to, with column means for what is missing
    path: tuple[float, ...]  # what was minimised, at the start and after every step: it never rises
    steps: int
    looks: int  # passes over the rows that the steps took
    finished: bool  # whether the last steps changed it by less than the tolerance


@dataclass(frozen=True)
class BlockCurvature:
    """The curvature of the blocks of a point: what L-BFGS begins with."""

    of_columns: Floats  # (p, k + 1, k + 1) inverse Hessians of (v, b) of every column
    of_codes: Floats  # (k, k) inverse of V diag(mean weights) Vᵀ
    of_inputs: Floats  # (p, p) inverse of the sum of (x − center) (x − center)ᵀ, with something on its diagonal

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
) -> LinearModel:
    """Minimise Σ w (A(θ) − x θ) + ½ ridge (Σ w ‖z‖² + ‖V‖²) over the observed entries of a source's rows."""
    with one_blas_thread():
        scatter = sum_scatter(source, columns.center)
        slope_at = partial(slope, source=source, family=family, columns=columns, ridge=ridge)
        start = find_start(slope_at, family, columns, scatter, k)
        blocks = estimate_curvature(start, source, family, columns, scatter, ridge)
        state = minimise(start, slope_at, blocks, tol, most, observe, floor)
    V, b, E = split_point(state.point)
    covariance = E @ scatter @ E.T / columns.weight
    return LinearModel(
        V, b, E, columns.center, covariance, state.path, len(state.path) - 1, state.looks, state.finished
    )


def loss_of(model: LinearModel, source: Source, family: Family) -> float:
    """Σ w (A(θ) − x θ) over the observed entries of rows, also of others than were fitted to."""
    return source.reduce(partial(_loss_of_block, model=model, family=family), float.__add__)


def _loss_of_block(block: Block, model: LinearModel, family: Family) -> float:
    total = 0.0
    for piece in cut_rows(block):
        z = piece.apart(model.center) @ model.encoder.T
        total += piece.look(family, z @ model.components + model.bias)[0]
    return total


def split_point(point: Floats) -> tuple[Floats, Floats, Floats]:
    """V (k, p), b (p,) and E (k, p) of a point."""
    k = len(point) // 2
    return point[:k], point[k], point[k + 1 :]


def slope(point: Floats, source: Source, family: Family, columns: Columns, ridge: float) -> Slope:
    """What is minimised, and its gradient, in one pass over the rows."""
    found = source.reduce(partial(_slope_of_block, point=point, family=family, columns=columns, ridge=ridge), Slope.add)
    V, _, _ = split_point(point)
    found.gradient[: len(V)] += ridge * V
    found.gradient[: len(V) + 1, columns.constant] = 0.0
    return replace(found, loss=found.loss + 0.5 * ridge * float(np.vdot(V, V)))


def _slope_of_block(block: Block, point: Floats, family: Family, columns: Columns, ridge: float) -> Slope:
    gradient, loss, k = np.zeros_like(point), 0.0, len(point) // 2
    for piece in cut_rows(block):
        V, b, E = split_point(point.astype(piece.x.dtype, copy=False))
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


def find_start(
    slope_at: Callable[[Floats], Slope], family: Family, columns: Columns, scatter: Floats, k: int
) -> Floats:
    """A point to begin at: codes along principal axes, and for V a Newton step from 0, where all rows have the same
    weights; columns of little variance, for which that would be a leap, go as far as others."""
    values, vectors = np.linalg.eigh(scatter)
    axes, values = vectors[:, ::-1][:, :k].T, values[::-1][:k, None]
    empty = values[:, 0] <= LEAST_VARIANCE * values[0, 0]  # fewer rows than axes: nothing varies along these
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
    for _ in range(MAX_SHORTER_STEPS):
        if slope_at(point).loss <= least:
            return point
        point[:k] *= 0.5  # counts grow like e^θ: a Newton step may be far too long
    return point


def estimate_curvature(
    point: Floats, source: Source, family: Family, columns: Columns, scatter: Floats, ridge: float
) -> BlockCurvature:
    """The curvature of the blocks at a point, in one pass over the rows."""
    V, _, _ = split_point(point)
    k = len(V)
    sums = source.reduce(partial(_curvature_of_block, point=point, family=family, columns=columns), add_in_place)
    of_columns = unpack(sums, k + 1)
    of_columns[:, np.arange(k), np.arange(k)] += ridge
    of_codes = (V * (of_columns[:, k, k] / columns.weight)) @ V.T + ridge * np.eye(k)
    return BlockCurvature(_inverse(of_columns), _inverse(of_codes), _inverse(scatter))


def _inverse(matrices: Floats) -> Floats:
    """Inverses of matrices (…, a, a) with something added to their diagonals."""
    a = matrices.shape[-1]
    means = np.trace(matrices, axis1=-2, axis2=-1)[..., None, None] / a
    return np.asarray(
        np.linalg.inv(matrices + np.where(means > 0, ADDED_CURVATURE * means, 1.0) * np.eye(a)), dtype=np.float64
    )


def _curvature_of_block(block: Block, point: Floats, family: Family, columns: Columns) -> Floats:
    """(p, (k + 1) (k + 2) / 2) Σ w A″(θ) (z, 1) (z, 1)ᵀ for every column, as upper triangles."""
    k, p = len(point) // 2, point.shape[1]
    total = np.zeros((p, (k + 1) * (k + 2) // 2))
    for piece in cut_rows(block):
        V, b, E = split_point(point.astype(piece.x.dtype, copy=False))
        z = piece.apart(columns.center) @ E.T
        weights = family.variance(family.mean(z @ V + b))
        if piece.missing is not None:
            weights[piece.missing] = 0.0
        if piece.weight is not None:
            weights *= piece.weight[:, None].astype(weights.dtype)
        longer = np.append(z, np.ones((len(z), 1), dtype=z.dtype), axis=1)
        total += weights.T @ pack(longer[:, :, None] * longer[:, None, :])
    return total


# Logistic PCA as a projection: θ = μ + U Uᵀ (m (2 x − 1) − μ), with orthonormal U (p, k).
#
# Landgraf & Lee 2020, "Dimensionality reduction for binary data through the projection of natural parameters": where
# PCA projects data, this projects the parameters of the saturated model, which are ±∞ for 0 and 1, ±m here. Codes of
# new rows are one product. Missing entries, and constant columns, have nothing to project: m (2 x − 1) − μ := 0.
#
# They minimise the deviance by majorisation: an eigenproblem of a p × p matrix of sums in each of hundreds of steps.
# Here the deviance is taken as a function of all matrices W (p, k) that span the same space as U. It is smooth where W
# has full rank, its gradient takes thin products only, and L-BFGS converges in a small part of the steps. No retraction
# to orthonormal matrices is needed: the gradient is orthogonal to W, and steps are nearly so.

BERNOULLI = Bernoulli()

HELD_OUT_SHARE = 0.2
"""Share of the rows on which values of m are compared."""


def fit_projection(
    source: Source,
    columns: Columns,
    k: int,
    m: float = 4.0,
    tol: float = 1e-5,
    most: int = 1000,
    observe: Callable[[Search], None] | None = None,
    floor: float = 0.0,
) -> LinearModel:
    """Minimise Σ w (log(1 + e^θ) − x θ), half the deviance of zeros and ones, over U and μ."""
    with one_blas_thread():
        scatter = _zero_constant(sum_scatter(source, columns.center), columns)
        axes = np.linalg.eigh(scatter)[1][:, ::-1][:, :k].T
        start = np.concatenate([axes, _first_bias(columns, m)[None]])
        slope_at = partial(projection_slope, source=source, columns=columns, m=m)
        state = minimise(
            start,
            slope_at,
            estimate_projection_curvature(start, source, columns, scatter, m),
            tol,
            most,
            observe,
            floor,
        )
    U, bias = _basis(state.point[:-1])[0], state.point[-1]
    E = 2.0 * m * U  # Uᵀ (m (2 x − 1) − μ) = 2 m Uᵀ (x − (μ / m + 1) / 2)
    covariance = E @ scatter @ E.T / columns.weight
    turn = np.linalg.eigh(covariance)[1].T[::-1]  # the axes are any of their space: those of the codes, largest first
    U, E, covariance = turn @ U, turn @ E, turn @ covariance @ turn.T
    center = (bias / m + 1.0) / 2.0
    return LinearModel(U, bias, E, center, covariance, state.path, len(state.path) - 1, state.looks, state.finished)


def projection_slope(point: Floats, source: Source, columns: Columns, m: float) -> Slope:
    """Half the deviance at W and μ, one above the other (k + 1, p), and its gradient, in one pass over the rows.

    For P = W (WᵀW)⁻¹ Wᵀ = U Uᵀ and W = U R, and with S = Σ (q rᵀ + r qᵀ) for q = m (2 x − 1) − μ and the residuals
    r = σ(θ) − x, the gradient in W is (I − P) S U R⁻ᵀ; that in μ is Σ r − Σ P r, the latter over what q depends on.
    """
    U, R = _basis(point[:-1])
    found = source.reduce(partial(_projection_slope_of_block, U=U, bias=point[-1], columns=columns, m=m), Slope.add)
    across = found.gradient[:-1]
    across -= (across @ U.T) @ U
    found.gradient[:-1] = np.linalg.solve(R, across)
    found.gradient[:, columns.constant] = 0.0
    return found


def _basis(W: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows U (k, p), and R (k, k) with W = Rᵀ U."""
    Q, R = np.linalg.qr(W.T)
    return np.ascontiguousarray(Q.T), R


def _projection_slope_of_block(block: Block, U: Floats, bias: Floats, columns: Columns, m: float) -> Slope:
    k, p = U.shape
    gradient, loss = np.zeros((k + 1, p)), 0.0
    for piece in cut_rows(block):
        axes = U.astype(piece.x.dtype, copy=False)
        q = saturated_residuals(piece, bias, columns, m)
        z = q @ axes.T
        theta = z @ axes
        theta += bias.astype(theta.dtype, copy=False)
        here, residual = piece.look(BERNOULLI, theta)
        loss += here
        pulls = residual @ axes.T
        gradient[:k] += pulls.T @ q
        gradient[:k] += z.T @ residual
        gradient[k] += residual.sum(axis=0)
        gradient[k] -= pulls.sum(axis=0) @ axes if piece.missing is None else _sum_of(pulls @ axes, ~piece.missing)
    return Slope(loss, gradient)


def saturated_residuals(piece: Piece, bias: Floats, columns: Columns, m: float) -> Array:
    """(n, p) m (2 x − 1) − μ, and 0 where there is nothing to project."""
    q = (2.0 * m) * piece.x
    q -= (m + bias).astype(q.dtype, copy=False)
    if piece.missing is not None:
        q[piece.missing] = 0.0
    if columns.constant.any():
        q[:, columns.constant] = 0.0
    return q


def _sum_of(values: Array, seen: NDArray[np.bool_]) -> Array:
    """(p,) sums of rows (n, p) over what was observed."""
    total: Array = np.einsum("ij,ij->j", values, seen)
    return total


def _first_bias(columns: Columns, m: float) -> Floats:
    """Natural parameters of the means; where these are beyond ±m, no saturated parameter is."""
    return np.where(columns.constant, columns.bias, np.clip(columns.bias, -m, m))


def _zero_constant(scatter: Floats, columns: Columns) -> Floats:
    """A (p, p) matrix without the rows and columns of what never varies."""
    free = ~columns.constant
    return scatter * free * free[:, None]


@dataclass(frozen=True)
class Curvature:
    """A guess of the inverse curvature, as if the weights w = A″ of all rows were their mean over the rows.

    Turning U by D changes θ by U Dᵀ q + D Uᵀ q; the squares of both, times w, sum up to tr Dᵀ diag(w) D C and
    tr Dᵀ S D M, for S and C the scatters of q and of its codes, and M = Uᵀ diag(w) U. There are coordinates of the
    columns and of the codes in which all four matrices are diagonal, so that every number has a curvature of its own.
    """

    of_columns: Floats  # (p, p) coordinates T with Tᵀ diag(w) T = I and Tᵀ S T diagonal
    of_codes: Floats  # (k, k) the same for M and C
    curvature: Floats  # (k, p) in these coordinates
    of_bias: Floats  # (p,)

    def __call__(self, gradient: Floats) -> Floats:
        """Inverse curvature times a gradient."""
        inside = (self.of_codes.T @ gradient[:-1] @ self.of_columns) / self.curvature
        return np.concatenate([self.of_codes @ inside @ self.of_columns.T, (gradient[-1] / self.of_bias)[None]])


def estimate_projection_curvature(
    point: Floats, source: Source, columns: Columns, scatter: Floats, m: float
) -> Curvature:
    """The guess at a point, from one pass over the rows; `scatter` is that of the rows."""
    U = _basis(point[:-1])[0]
    weights: Floats = source.reduce(partial(_weights_of_block, U=U, bias=point[-1], columns=columns, m=m), np.add)
    weights = weights / columns.weight
    weights = np.maximum(weights, ADDED_CURVATURE * weights.mean() + np.finfo(float).tiny)
    S = 4.0 * m * m * scatter
    root = np.sqrt(weights)
    along, vectors = np.linalg.eigh(S / root / root[:, None])
    codes, of_codes = scipy.linalg.eigh(U @ S @ U.T, (U * weights) @ U.T)
    curvature = np.maximum(codes, 0.0)[:, None] + np.maximum(along, 0.0)
    curvature += ADDED_CURVATURE * curvature.mean() + np.finfo(float).tiny
    return Curvature(vectors / root[:, None], of_codes, curvature, columns.weight * weights)


def _weights_of_block(block: Block, U: Floats, bias: Floats, columns: Columns, m: float) -> Floats:
    """(p,) Σ w A″(θ) over the observed entries."""
    total = np.zeros(len(bias))
    for piece in cut_rows(block):
        axes = U.astype(piece.x.dtype, copy=False)
        theta = (saturated_residuals(piece, bias, columns, m) @ axes.T) @ axes + bias.astype(piece.x.dtype, copy=False)
        weights = BERNOULLI.variance(BERNOULLI.mean(theta))
        if piece.missing is not None:
            weights[piece.missing] = 0.0
        total += weights.sum(axis=0) if piece.weight is None else piece.weight @ weights
    return total


def choose_m(source: Source, k: int, grid: Sequence[float], rng: np.random.Generator) -> tuple[float, Floats]:
    """The m of a grid whose model, fitted to most rows, is best for the others; and their deviances, one for each m."""
    n = source.count_rows()
    assert n is not None  # a source that can be read again has been counted
    held_out = np.zeros(n)
    held_out[rng.choice(n, max(1, round(HELD_OUT_SHARE * n)), replace=False)] = 1.0
    fitted, others = source.with_weights(1.0 - held_out), source.with_weights(held_out)
    columns = fix_columns(summarise_columns(fitted, BERNOULLI), BERNOULLI)
    losses = [loss_of(fit_projection(fitted, columns, k, m), others, BERNOULLI) for m in grid]
    deviances = 2.0 * np.array(losses)
    return float(grid[int(np.argmin(deviances))]), deviances
