"""From residuals to bounds: what can be said about eigenvalues, axes and their span (Parlett 1998, §4, §11)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import Certificate
from lowdim.solvers.solver import Factors

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

NEAR = 1e-9
"""Eigenvalues that differ by less than this share are called equal, however small their residuals."""

UNCLEAR = 1e-3
"""An axis whose angle to its neighbour's is not known better than this (radians) forms a cluster with it."""


def certify(
    factors: Factors,
    total: float,
    unit: float,
    tol: float,
    data_eps: float,
    solver: str,
    passes: int,
    bytes_read: int | None,
) -> Certificate:
    """Bounds for all components; `unit` turns eigenvalues of YᵀY into variances."""
    values, p = factors.values, factors.vectors.shape[1]
    error = factors.residuals + factors.rounding
    below, below_error = _following(factors, p)
    gaps = _gaps(values, error, below, below_error)
    with np.errstate(divide="ignore", invalid="ignore"):
        sines = np.where(gaps > 0, error / gaps, 1.0)
        # an isolated eigenvalue errs by the square of the residual over the gap (Kato–Temple)
        quadratic = np.where(gaps > 0, factors.residuals**2 / gaps, np.inf)
    half = np.minimum(factors.residuals, quadratic) + factors.rounding
    clusters, cut = _clusters(values, error, below, below_error)
    delta = values[-1] - below - below_error
    spread = float(np.linalg.norm(factors.residuals) + np.linalg.norm(factors.rounding))
    beyond = float(np.sum(factors.residuals**2)) / delta if delta > 0 else float(np.sum(factors.residuals))
    share = values.sum() / total if total > 0 else 0.0
    slack = factors.rounding.sum() / total if total > 0 else 0.0
    return Certificate(
        variances=values * unit,
        residuals=factors.residuals * unit,
        rounding=factors.rounding * unit,
        lower=np.maximum(values - half, 0.0) * unit,
        upper=(values + half) * unit,
        angles=np.arcsin(np.minimum(sines, 1.0)),
        clusters=clusters,
        cut=cut,
        subspace_angle=float(np.arcsin(min(1.0, spread / delta))) if delta > 0 else float(np.pi / 2),
        orthogonality=_orthogonality(factors.vectors),
        captured=(
            max(0.0, float(share - slack)),
            min(1.0, float(share + slack + beyond / max(total, 1e-300))),
        ),
        tol=tol,
        untrusted=_untrusted(values, half, max(tol, 4 * data_eps), p),
        measured=factors.measured,
        solver=solver,
        passes=passes,
        bytes_read=bytes_read,
        notes=factors.notes,
    )


def _following(factors: Factors, p: int) -> tuple[float, float]:
    """The first eigenvalue that was left out, and its uncertainty; minus infinity if there is none."""
    if factors.following is not None:
        return factors.following, factors.following_residual
    return (0.0, 0.0) if len(factors.values) < p else (-np.inf, 0.0)


def _gaps(values: Floats, error: Floats, below: float, below_error: float) -> Floats:
    """Distance of each eigenvalue to its nearest neighbour, less what the neighbour may be wrong by."""
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
    runs: list[tuple[int, ...]] = []
    run = [0]
    for i in range(len(values) - 1):
        if joined[i]:
            run.append(i + 1)
        else:
            runs.append(tuple(run))
            run = [i + 1]
    runs.append(tuple(run))
    return tuple(run for run in runs if len(run) > 1), bool(joined[-1] and values[-1] > 0)


def _untrusted(values: Floats, half: Floats, tol: float, p: int) -> tuple[int, ...]:
    """Components that miss the tolerance and could have been had more accurately: by a decomposition of Y itself."""
    possible = 16 * np.sqrt(p) * EPS * np.sqrt(values * values[0])
    null = 64 * p * EPS**2 * values[0]  # squares of singular values that are zero to rounding
    return tuple(int(i) for i in np.flatnonzero(half > tol * values + possible + null))


def _orthogonality(vectors: Floats) -> float:
    """Largest entry of |V Vᵀ − I|; for very large V its action on a few random signs stands in for it."""
    k, p = vectors.shape
    if k * k * p <= 2e9:
        return float(np.abs(vectors @ vectors.T - np.eye(k)).max())
    probes = np.random.default_rng(0).choice([-1.0, 1.0], size=(k, 4))
    return float(np.abs(vectors @ (vectors.T @ probes) - probes).max())
