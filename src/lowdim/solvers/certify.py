"""From residuals to bounds: what can be said about eigenvalues, axes and their span (Parlett 1998, §4, §11)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import Certificate
from lowdim.solvers.solver import Factors, untrusted

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

NEAR = 1e-9
"""Eigenvalues that differ by less than this share are called equal, however small their residuals."""


@dataclass(frozen=True)
class Account:
    """What a fit cost."""

    solver: str
    n_rows: int
    rank: int
    """Directions that the data can have variance in at most: n − 1 or p when they are centred."""
    total_rounding: float
    """Probable relative error of the total variance."""
    passes: int
    bytes_read: int | None


CRUDE = 1e-2
"""Residuals above this share of their value show that the iteration was stopped far from its end."""

UNCLEAR = 1e-3
"""An axis whose angle to its neighbour's is not known better than this (radians) forms a cluster with it."""


def certify(factors: Factors, total: float, unit: float, tol: float, data_eps: float, account: Account) -> Certificate:
    """Bounds for all components; `unit` turns eigenvalues of YᵀY into variances."""
    p = factors.vectors.shape[1]
    k = int((np.sqrt(factors.values + factors.rounding) > null_size(factors.values, account.n_rows, p)).sum())
    k = min(k, account.rank)
    values, residuals, rounding = (part[:k] for part in (factors.values, factors.residuals, factors.rounding))
    error = residuals + factors.tilt[:k]
    below, below_error = _following(factors, k, p)
    gaps = _gaps(values, error, below, below_error)
    clear = gaps > 0
    # an isolated eigenvalue errs by the square of the residual over the gap (Kato–Temple)
    quadratic = np.divide(residuals**2, gaps, out=np.full(k, np.inf), where=clear)
    half = np.minimum(residuals, quadratic) + rounding + 8 * EPS * values
    upper = values + half
    if factors.measured and (residuals > np.maximum(CRUDE * values, 1e4 * EPS * values[:1])).any():
        # far from converged, a residual only says that some eigenvalue is near; the trace bounds the right one:
        # λ_k ≤ trace − Σ_{i<k} λ_i ≤ trace − Σ_{i<k} θ_i
        upper = np.maximum(upper, total - (np.cumsum(values) - values))
        gaps, clear = np.zeros(k), np.zeros(k, dtype=bool)
        half = upper - values
    sines = np.divide(error, gaps, out=np.ones(k), where=clear)
    clusters, cut = _clusters(values, error, below, below_error)
    crude = bool(len(clear)) and not clear.any()
    span, beyond = (1.0, total) if crude else _span(values, residuals, factors.tilt[:k], below + below_error)
    share, slack, more = (part / total if total > 0 else 0.0 for part in (values.sum(), rounding.sum(), beyond))
    slack += share * (4 * account.total_rounding + 8 * EPS)
    nothing = np.zeros(len(factors.values) - k)
    return Certificate(
        variances=factors.values * unit,
        residuals=factors.residuals * unit,
        rounding=factors.rounding * unit,
        lower=np.concatenate([np.maximum(values - half, 0.0), nothing]) * unit,
        upper=np.concatenate([upper, (factors.values + factors.rounding)[k:]]) * unit,
        angles=np.arcsin(np.concatenate([np.minimum(sines, 1.0), nothing + 1.0])),
        null=tuple(range(k, len(factors.values))),
        clusters=clusters,
        cut=cut,
        subspace_angle=float(np.arcsin(min(1.0, span))),
        orthogonality=_orthogonality(factors.vectors),
        captured=(max(0.0, float(share - slack)), min(1.0, float(share + slack + more))),
        tol=tol,
        untrusted=tuple(np.flatnonzero(untrusted(values, half, tol, data_eps, p)).tolist()),
        measured=factors.measured,
        solver=account.solver,
        passes=account.passes,
        bytes_read=account.bytes_read,
        notes=factors.notes,
    )


def null_size(values: Floats, n: int, p: int) -> float:
    """Singular values up to this are zero to rounding: a few units in the last place of the largest."""
    return 2 * EPS * max(n, p) * float(np.sqrt(values[0])) if len(values) else 0.0


def _span(values: Floats, residuals: Floats, tilt: Floats, below: float) -> tuple[float, float]:
    """Sine of the angle between the span and the true one (Davis–Kahan), and variance it may have missed."""
    if not len(values):
        return 0.0, 0.0
    delta = values[-1] - below
    if delta <= 0:
        return 1.0, float(residuals.sum())
    return float(np.linalg.norm(residuals) + np.linalg.norm(tilt)) / delta, float(residuals @ residuals) / delta


def _following(factors: Factors, k: int, p: int) -> tuple[float, float]:
    """The first eigenvalue after the k that have any, and its uncertainty; minus infinity if there is none."""
    if k < len(factors.values):
        return float(factors.values[k]), 0.0
    if factors.following is not None:
        return factors.following, factors.following_residual
    return (0.0, 0.0) if k < p else (-np.inf, 0.0)


def _gaps(values: Floats, error: Floats, below: float, below_error: float) -> Floats:
    """Distance of each eigenvalue to its nearest neighbour, less what the neighbour may be wrong by."""
    if not len(values):
        return np.zeros(0)
    above = np.concatenate([[np.inf], (values[:-1] - error[:-1]) - values[1:]])
    under = np.concatenate([values[:-1] - (values[1:] + error[1:]), [values[-1] - below - below_error]])
    gaps: Floats = np.minimum(above, under)
    return gaps


def _clusters(
    values: Floats, error: Floats, below: float, below_error: float
) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Runs of neighbours that cannot be told apart, and whether the last one goes on beyond what was kept."""
    ends = np.append(values, below)
    unsure = np.append(error, below_error)
    gap = ends[:-1] - ends[1:]
    joined = gap <= np.maximum((unsure[:-1] + unsure[1:]) / UNCLEAR, NEAR * ends[:-1])
    if not len(values):
        return (), False
    runs: list[tuple[int, ...]] = []
    run = [0]
    for i in range(len(values) - 1):
        if joined[i]:
            run.append(i + 1)
        else:
            runs.append(tuple(run))
            run = [i + 1]
    runs.append(tuple(run))
    return tuple(run for run in runs if len(run) > 1), bool(joined[-1])


def _orthogonality(vectors: Floats) -> float:
    """Largest entry of |V Vᵀ − I|; for very large V its action on a few random signs stands in for it."""
    k, p = vectors.shape
    if k * k * p <= 2e8:
        return float(np.abs(vectors @ vectors.T - np.eye(k)).max())
    probes = np.random.default_rng(0).choice([-1.0, 1.0], size=(k, 4))
    return float(np.abs(vectors @ (vectors.T @ probes) - probes).max())
