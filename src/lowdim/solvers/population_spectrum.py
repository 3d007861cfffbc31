"""Variances of the population behind those of a sample: leading ones come out too large, by what the others add.

A sample's k-th variance l answers to the population's λ through the Stieltjes transform of all other variances of the
sample, for any ratio of rows to columns (Bai & Ding 2012, "Estimation of spiked eigenvalues in spiked models"; to first
order in 1/f it is Lawley 1956, "Tests of significance for the latent roots of covariance and correlation matrices"):

    λ = l / (1 + a),    a = Σ_i l_i / (l − l_i) / f,    dλ/dl = λ² Σ_i 1 / (l − l_i)² / f,

over the f companion variances beside l (those of the f × f matrix of inner products: zeros too). The second is the
slope: what the correction makes of the sampling error of l. Of a new row, the variance along the *sample's* axis is
smaller again, λ² / l, as the axis leans towards what these rows had by chance (Ledoit & Péché 2011, at an isolated
eigenvalue).

Two variances that lie nearer together than their sampling errors repel each other no further: 1 / (l − l_i) is taken
as the real part of 1 / (l − l_i + iη), η² = 2 l l_i / f, the square of the standard error of either.

A component that noise alone would show as large has no variance of its own to be found: its λ is below what a sample
can tell (Baik, Ben Arous & Péché 2005). It is compared with the largest variance that noise of the variance of what is
left out would show (Tracy & Widom; Johnstone 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.tracy_widom import quantile, standardised

Floats = NDArray[np.float64]

NOISE_LEVEL = 0.95
"""How surely a component must be more than noise."""

IN_NOISE = "no more than noise would show: its variance in the population cannot be told"


@dataclass(frozen=True)
class Population:
    """The first k variances of a population, as far as a sample tells."""

    variances: Floats
    """(k,) λ."""
    slopes: Floats
    """(k,) dλ/dl, at least 1: by how much more a λ varies than its l, in squares of standard errors."""
    clear: NDArray[np.bool_]
    """(k,) whether a component is more than noise would show."""


def population_of(values: Floats, k: int, freedom: float, p: int) -> Population:
    """From all variances of a sample, largest first, of p columns and f = `freedom` degrees of freedom."""
    every = np.maximum(values[: int(min(len(values), freedom, p))], 0.0)
    pull, squares = (terms.sum(axis=1) / freedom for terms in _terms(every, k, freedom))
    mine = every[:k]
    there = mine > 0
    found = np.where(there, mine / np.maximum(1 + pull, np.finfo(float).eps), 0.0)
    zeros = max(freedom - len(every), 0.0)  # companion variances that are none of the columns'
    safe = np.where(there, mine, 1.0)
    slopes = found**2 * (squares + (zeros + 1) / (freedom * safe**2))
    return Population(found, np.where(there, np.maximum(slopes, 1.0), 1.0), _clear(every, k, freedom, p))


def new_row_variances(values: Floats, k: int, freedom: float) -> Floats:
    """(k,) variance of the scores of new rows along the sample's axes: λ² / l, of what the directions left out did.

    Kept axes turn among each other too; of that T² knows by itself, as its law has the kept variances as estimates.
    """
    every = np.maximum(values[: int(min(len(values), freedom))], 0.0)
    pull = _terms(every, k, freedom)[0][:, k:].sum(axis=1) / freedom
    return np.asarray(every[:k] / (1 + np.maximum(pull, 0.0)) ** 2)


def _terms(every: Floats, k: int, freedom: float) -> tuple[Floats, Floats]:
    """(k, r) l_i / (l − l_i) and 1 / (l − l_i)², softened; 0 of a variance with itself."""
    mine = every[:k, None]
    apart = mine - every
    spread = apart**2 + 2 * mine * every / freedom
    itself = np.eye(k, len(every), dtype=bool) | (spread <= 0)
    safe = np.where(itself, 1.0, spread)
    return np.where(itself, 0.0, every * apart / safe), np.where(itself, 0.0, 1 / safe)


def _clear(every: Floats, k: int, freedom: float, p: int) -> NDArray[np.bool_]:
    """(k,) whether each variance is above the largest of noise with the variance of what is left out."""
    left = float(every[k:].sum())
    if p <= k or freedom <= k + 1 or left <= 0:
        return every[:k] > 0
    noise = left / (p - k) * freedom / (freedom - k)
    return np.array([standardised(one / noise, p - k, freedom) > quantile(NOISE_LEVEL) for one in every[:k]])
