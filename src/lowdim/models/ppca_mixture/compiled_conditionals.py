"""Compiled: what the observed entries of a row say about its hidden ones, if rows are Gaussian with a known covariance.

Two ways lead there. Few observed entries O: through the Cholesky factor L of cov[O, O], with B = L⁻¹ cov[O, :], the
mean is mean + Bᵀ L⁻¹ (x − mean)[O] and the covariance cov − Bᵀ B. Few hidden entries H: through the precision P, whose
block P[H, H] is the precision of what is hidden. Each row goes the way of its smaller system (Anderson, "An
introduction to multivariate statistical analysis", section 2.5).
"""

from __future__ import annotations

import numpy as np

from lowdim.runtime.native import Kernel, scratch
from lowdim.types import Floats

_likelihoods = Kernel(
    "likelihoods", "X[n,p] mean[p] cov[p,p] precision[p,p] logdet *loglik[n] *work[room] *places[both]:int64"
)

_expectations = Kernel(
    "expectations",
    "X[n,p] mean[p] cov[p,p] precision[p,p] logdet weight[n] *loglik[n] *means[n,p] *variances[n,p] *spread[s,s] "
    "*total[wide,step] *work[room] *places[both]:int64",
)


def likelihoods(X: Floats, mean: Floats, cov: Floats, precision: Floats, logdet: float, loglik: Floats) -> None:
    """Log density (n,) of the observed entries of rows (n, p); NaN is hidden."""
    p = len(mean)
    _likelihoods(X, mean, cov, precision, logdet, loglik, scratch(room_of(p)), scratch(2 * p, dtype=np.int64))


def expectations(
    X: Floats,
    mean: Floats,
    cov: Floats,
    precision: Floats,
    logdet: float,
    weight: Floats,
    loglik: Floats,
    means: Floats,
    variances: Floats,
    spread: Floats,
) -> None:
    """Log densities (n,), means (n, p) and variances (n, p) of rows given what was observed of them.

    spread += Σ weight_i cov(row i | observed), where it is (p, p); an empty one spares the work.
    """
    p = len(mean)
    assert len(spread) in (0, p)
    room = scratch(padded(p), step_of(p)), scratch(room_of(p)), scratch(2 * p, dtype=np.int64)
    _expectations(X, mean, cov, precision, logdet, weight, loglik, means, variances, spread, *room)


def padded(p: int) -> int:
    """What the kernels fill p up to."""
    return -(-p // 8) * 8


def step_of(p: int) -> int:
    """How far apart they lay rows of so many numbers."""
    return padded(p) + (0 if padded(p) % 16 else 8)


def room_of(p: int) -> int:
    """Numbers that `make_room` asks for."""
    return padded(p) * (2 * step_of(p) + 3)
