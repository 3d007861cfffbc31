"""The Gaussian density that a linear fit stands for, and log-densities of rows by it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import SingularModel
from lowdim.matrices.missing import refuse_missing_in_block
from lowdim.matrices.preparation import Preparation
from lowdim.results.record import LinearFit
from lowdim.sources.source import Block
from lowdim.types import Floats
from lowdim.words import plural

# The Gaussian density that a linear fit stands for: Tipping & Bishop's model with closed-form parameters.
#
# In the centred and scaled coordinates the covariance is Vᵀ diag(λ) V + σ² (I − Vᵀ V); everything is O(n p k).


def covariance(fit: LinearFit) -> Floats:
    """(p, p) covariance of the model, in the data's units."""
    V, noise = fit.components, fit.noise_variance
    C = (V.T * np.maximum(fit.variances - noise, 0.0)) @ V
    C[np.diag_indices_from(C)] += noise
    undo = fit.undo_gain
    return np.asarray(C * undo[:, None] * undo)


def precision(fit: LinearFit) -> Floats:
    """(p, p) inverse of the covariance (Woodbury), or an error where there is none."""
    variances, noise = require_density(fit)
    V = fit.components
    outside = 1.0 / noise if noise > 0 else 0.0
    P = (V.T * (1.0 / variances - outside)) @ V
    P[np.diag_indices_from(P)] += outside
    gain = fit.gain
    return np.asarray(P * gain[:, None] * gain)


def log_density(fit: LinearFit, scores: Floats, squared_length: Floats) -> Floats:
    """(n,) log density of rows with these scores (n, k) and squared lengths (both centred and scaled)."""
    variances, noise = require_density(fit)
    p, k = len(fit.mean), fit.k
    constant = p * np.log(2 * np.pi) + np.log(variances).sum() - 2 * np.log(fit.gain).sum()
    distance = np.sum(scores**2 / variances, axis=1)
    if k < p:
        constant += (p - k) * np.log(noise)
        distance = distance + np.maximum(squared_length - np.sum(scores**2, axis=1), 0.0) / noise
    return np.asarray(-0.5 * (constant + distance))


def require_density(fit: LinearFit) -> tuple[Floats, float]:
    """Variances and noise of a density that exists."""
    p, noise = len(fit.mean), fit.noise_variance
    variances = np.maximum(fit.known_variances, noise)
    least = 1e-13 * float(variances[0]) if len(variances) else 0.0
    if (fit.k < p and noise <= 0) or variances.min(initial=np.inf) <= least or not fit.gain.all():
        raise SingularModel(
            f"The {plural(fit.k, 'component')} {'holds' if fit.k == 1 else 'hold'} all the variance of "
            f"{fit.n_rows:,} rows in {p:,} columns, so the model has "
            "no density there (its covariance is singular): keep fewer components, or give more rows than columns."
        )
    return variances, noise


# Log-densities of rows, block by block.


def log_density_of_block(
    block: Block, fit: LinearFit, preparation: Preparation, columns: tuple[str, ...] | None
) -> NDArray[np.float64]:
    """(n, 1) log-likelihood of each row under the Gaussian model."""
    parts = []
    for rows in preparation.pieces(block, np.float64, 1024):
        lengths = np.einsum("ij,ij->i", rows, rows)
        if not np.isfinite(lengths).all():
            refuse_missing_in_block(block, columns)
        parts.append(log_density(fit, rows @ fit.components.T, lengths))
    return np.concatenate(parts)[:, None]
