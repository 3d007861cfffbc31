"""Probabilistic PCA of rows without holes: PCA gives its most likely parameters (Tipping & Bishop 1999, §3.2)."""

from __future__ import annotations

import warnings
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import RankWarning
from lowdim.models.latent_components import most_components
from lowdim.results.certificate import counted
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.solvers.ppca_em import LEAST_NOISE
from lowdim.solvers.spectrum_rules import ppca_bic

Floats = NDArray[np.float64]


def closed_form(fit: LinearFit, noise: float | None) -> LatentFit:
    """The model of k components behind a PCA of them (ddof 0); `noise` is its variance, if that is known.

    Variances and their total are those of the rows, whatever noise was given: shares of them are shares of the rows'.
    """
    p = len(fit.mean)
    least = max(LEAST_NOISE * fit.total_variance / p, float(np.finfo(float).tiny))
    if noise is None and fit.noise_variance < least:
        warnings.warn(
            f"{counted(fit.k, 'component')} {'holds' if fit.k == 1 else 'hold'} all the variance of {fit.n_rows:,} "
            "rows, so the noise was put at its floor of "
            f"{least:.1e} and error bars mean nothing: ask for fewer components.",
            RankWarning,
            stacklevel=5,
        )
    level = max(fit.noise_variance, least) if noise is None else noise
    known = {field.name: getattr(fit, field.name) for field in fields(LinearFit)} | {"spectrum": None}
    loglik = _loglik(fit, np.maximum(fit.variances, level), level) + fit.weight * float(np.log(fit.gain).sum())
    return LatentFit(**known, noise=level, loglik=loglik, observed=np.full(p, fit.n_rows))


def least_bic(fit: LinearFit) -> int:
    """The number of components of least BIC, from all variances of a fit."""
    return least_bic_of(fit.variances, len(fit.mean), fit.n_rows, fit.weight)


def least_bic_of(variances: Floats, p: int, n: int, weight: float) -> int:
    """The same from all variances of n different rows, which count `weight` together."""
    most = min(len(variances), most_components(n, p))
    return int(np.argmin(ppca_bic(variances, p, weight, most)[1:])) + 1


def _loglik(fit: LinearFit, variances: Floats, noise: float) -> float:
    """−n/2 (p log 2π + log |C| + tr C⁻¹ S), with the eigenvalues of S along the axes of C."""
    p, k = len(fit.mean), fit.k
    rest = max(fit.total_variance - float(fit.variances.sum()), 0.0)
    logdet = float(np.log(variances).sum()) + (p - k) * np.log(noise)
    trace = float((fit.variances / variances).sum()) + rest / noise
    return float(-0.5 * fit.weight * (p * np.log(2 * np.pi) + logdet + trace))
