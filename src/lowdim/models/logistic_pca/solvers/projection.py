"""Logistic PCA as a projection: θ = μ + U Uᵀ (m (2 x − 1) − μ), with orthonormal U (p, k).

Landgraf & Lee 2020, "Dimensionality reduction for binary data through the projection of natural parameters": where PCA
projects data, this projects the parameters of the saturated model, which are ±∞ for coins and ±m here. Codes of new
rows are one product. Missing entries, and columns that never vary, have nothing to project: m (2 x − 1) − μ := 0.

They minimise the deviance by majorisation: an eigenproblem of a p × p matrix of sums in each of hundreds of steps. Here
the deviance is taken as a function of all matrices W (p, k) that span the same space as U. It is smooth where W has
full rank, its gradient takes thin products only, and L-BFGS goes down in a small part of the steps. No retraction to
orthonormal matrices is needed: the gradient is orthogonal to W, and steps are nearly so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.models.logistic_pca.solvers.column_statistics import (
    Columns,
    Piece,
    columns_in,
    overview,
    pieces,
    scatter_of,
)
from lowdim.models.logistic_pca.solvers.families import Bernoulli
from lowdim.models.logistic_pca.solvers.linear_encoder import Linear, loss_of
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.lbfgs import Search, Slope, minimised
from lowdim.sources.source import Block, Source
from lowdim.types import Array, Floats

COINS = Bernoulli()

FAINT = 1e-2
"""Share of the mean curvature that is added to all, and of the mean weight that a column has at least, where steps are
scaled by the inverse."""

HELD_OUT = 0.2
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
) -> Linear:
    """Minimise Σ w (log(1 + e^θ) − x θ), half the deviance of coins, over U and μ."""
    with one_blas_thread():
        scatter = _free(scatter_of(source, columns.center), columns)
        axes = np.linalg.eigh(scatter)[1][:, ::-1][:, :k].T
        start = np.concatenate([axes, _first_bias(columns, m)[None]])
        slope_at = partial(slope, source=source, columns=columns, m=m)
        state = minimised(start, slope_at, curved(start, source, columns, scatter, m), tol, most, observe, floor)
    U, bias = _basis(state.point[:-1])[0], state.point[-1]
    E = 2.0 * m * U  # Uᵀ (m (2 x − 1) − μ) = 2 m Uᵀ (x − (μ / m + 1) / 2)
    covariance = E @ scatter @ E.T / columns.weight
    turn = np.linalg.eigh(covariance)[1].T[::-1]  # the axes are any of their space: those of the codes, largest first
    U, E, covariance = turn @ U, turn @ E, turn @ covariance @ turn.T
    center = (bias / m + 1.0) / 2.0
    return Linear(U, bias, E, center, covariance, state.path, len(state.path) - 1, state.looks, state.finished)


def slope(point: Floats, source: Source, columns: Columns, m: float) -> Slope:
    """Half the deviance at W and μ, one above the other (k + 1, p), and its gradient, in one pass over the rows.

    For P = W (WᵀW)⁻¹ Wᵀ = U Uᵀ and W = U R, and with S = Σ (q rᵀ + r qᵀ) for q = m (2 x − 1) − μ and the residuals
    r = σ(θ) − x, the gradient in W is (I − P) S U R⁻ᵀ; that in μ is Σ r − Σ P r, the latter over what q depends on.
    """
    U, R = _basis(point[:-1])
    found = source.reduce(partial(_slope_of, U=U, bias=point[-1], columns=columns, m=m), Slope.add)
    across = found.gradient[:-1]
    across -= (across @ U.T) @ U
    found.gradient[:-1] = np.linalg.solve(R, across)
    found.gradient[:, columns.constant] = 0.0
    return found


def _basis(W: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows U (k, p), and R (k, k) with W = Rᵀ U."""
    Q, R = np.linalg.qr(W.T)
    return np.ascontiguousarray(Q.T), R


def _slope_of(block: Block, U: Floats, bias: Floats, columns: Columns, m: float) -> Slope:
    k, p = U.shape
    gradient, loss = np.zeros((k + 1, p)), 0.0
    for piece in pieces(block):
        axes = U.astype(piece.x.dtype, copy=False)
        q = apart(piece, bias, columns, m)
        z = q @ axes.T
        theta = z @ axes
        theta += bias.astype(theta.dtype, copy=False)
        here, residual = piece.look(COINS, theta)
        loss += here
        pulls = residual @ axes.T
        gradient[:k] += pulls.T @ q
        gradient[:k] += z.T @ residual
        gradient[k] += residual.sum(axis=0)
        gradient[k] -= pulls.sum(axis=0) @ axes if piece.missing is None else _sum_of(pulls @ axes, ~piece.missing)
    return Slope(loss, gradient)


def apart(piece: Piece, bias: Floats, columns: Columns, m: float) -> Array:
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


def _free(scatter: Floats, columns: Columns) -> Floats:
    """A (p, p) matrix without the rows and columns of what never varies."""
    free = ~columns.constant
    return scatter * free * free[:, None]


@dataclass(frozen=True)
class Curving:
    """A guess of the inverse curvature, as if the weights w = A″ of all rows were their mean over the rows.

    Turning U by D changes θ by U Dᵀ q + D Uᵀ q; the squares of both, times w, sum up to tr Dᵀ diag(w) D C and
    tr Dᵀ S D M, for S and C the scatters of q and of its codes, and M = Uᵀ diag(w) U. There are coordinates of the
    columns and of the codes in which all four matrices are diagonal, so that every number has a curvature of its own.
    """

    of_columns: Floats
    """(p, p) coordinates T with Tᵀ diag(w) T = I and Tᵀ S T diagonal."""
    of_codes: Floats
    """(k, k) the same for M and C."""
    curvature: Floats
    """(k, p) in these coordinates."""
    of_bias: Floats
    """(p,)"""

    def __call__(self, gradient: Floats) -> Floats:
        """Inverse curvature times a gradient."""
        inside = (self.of_codes.T @ gradient[:-1] @ self.of_columns) / self.curvature
        return np.concatenate([self.of_codes @ inside @ self.of_columns.T, (gradient[-1] / self.of_bias)[None]])


def curved(point: Floats, source: Source, columns: Columns, scatter: Floats, m: float) -> Curving:
    """The guess at a point, from one pass over the rows; `scatter` is that of the rows."""
    U = _basis(point[:-1])[0]
    weights: Floats = source.reduce(partial(_weights_of, U=U, bias=point[-1], columns=columns, m=m), np.add)
    weights = weights / columns.weight
    weights = np.maximum(weights, FAINT * weights.mean() + np.finfo(float).tiny)
    S = 4.0 * m * m * scatter
    root = np.sqrt(weights)
    along, vectors = np.linalg.eigh(S / root / root[:, None])
    codes, of_codes = scipy.linalg.eigh(U @ S @ U.T, (U * weights) @ U.T)
    curvature = np.maximum(codes, 0.0)[:, None] + np.maximum(along, 0.0)
    curvature += FAINT * curvature.mean() + np.finfo(float).tiny
    return Curving(vectors / root[:, None], of_codes, curvature, columns.weight * weights)


def _weights_of(block: Block, U: Floats, bias: Floats, columns: Columns, m: float) -> Floats:
    """(p,) Σ w A″(θ) over the observed entries."""
    total = np.zeros(len(bias))
    for piece in pieces(block):
        axes = U.astype(piece.x.dtype, copy=False)
        theta = (apart(piece, bias, columns, m) @ axes.T) @ axes + bias.astype(piece.x.dtype, copy=False)
        weights = COINS.variance(COINS.mean(theta))
        if piece.missing is not None:
            weights[piece.missing] = 0.0
        total += weights.sum(axis=0) if piece.weight is None else piece.weight @ weights
    return total


def best_m(source: Source, k: int, grid: Sequence[float], rng: np.random.Generator) -> tuple[float, Floats]:
    """The m of a grid whose model, fitted to most rows, is best for the others; and their deviances, one for each m."""
    n = source.count_rows()
    assert n is not None  # a source that can be read again has been counted
    held_out = np.zeros(n)
    held_out[rng.choice(n, max(1, round(HELD_OUT * n)), replace=False)] = 1.0
    fitted, others = source.with_weights(1.0 - held_out), source.with_weights(held_out)
    columns = columns_in(overview(fitted, COINS), COINS)
    losses = [loss_of(fit_projection(fitted, columns, k, m), others, COINS) for m in grid]
    deviances = 2.0 * np.array(losses)
    return float(grid[int(np.argmin(deviances))]), deviances
