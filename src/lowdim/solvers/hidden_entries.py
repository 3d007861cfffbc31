"""Gaussian rows of which some entries are hidden: how likely the others are, and what they say about the hidden ones.

The covariance is a full p × p matrix here, for p up to some hundreds and few entries observed (or few hidden) a row;
`ppca_em` is for many columns and few components.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

ROWS = 512
"""Rows in one task of a thread."""


@dataclass(frozen=True)
class Gaussian:
    """A density of rows of p numbers."""

    mean: Floats
    """(p,)"""
    cov: Floats
    """(p, p), positive definite."""

    @cached_property
    def precision(self) -> Floats:
        """(p, p) inverse of the covariance."""
        inverse = np.asarray(np.linalg.inv(self.cov), dtype=np.float64)
        return np.ascontiguousarray((inverse + inverse.T) / 2)

    @cached_property
    def logdet(self) -> float:
        """Logarithm of the determinant of the covariance."""
        return float(np.linalg.slogdet(self.cov)[1])


@dataclass(frozen=True)
class Moments:
    """Sums over rows, each with its weight, of what is expected of them."""

    weight: float
    first: Floats
    """(p,) Σ weight E[x]."""
    second: Floats
    """(p, p) Σ weight E[(x − c)(x − c)ᵀ] about the centre c that was asked for."""


def likelihoods(gaussian: Gaussian, X: Floats) -> Floats:
    """(n,) log density of the observed entries of rows (n, p); NaN is hidden."""
    from lowdim.solvers import hidden_kernels

    g = gaussian
    precision, logdet = g.precision, g.logdet

    def work(rows: slice) -> Floats:
        loglik = np.empty(len(X[rows]))
        hidden_kernels.likelihoods(X[rows], g.mean, g.cov, precision, logdet, loglik)
        return loglik

    return np.concatenate([np.empty(0), *in_order(work, _pieces(len(X)))])


def expected(gaussian: Gaussian, X: Floats) -> tuple[Floats, Floats]:
    """(n, p) mean of every entry of rows given what was observed of them, and its variance: 0 where it was observed."""
    means, variances = np.empty_like(X), np.empty_like(X)
    for rows, found in _found(gaussian, X, np.ones(len(X)), spread=False):
        means[rows], variances[rows] = found[0], found[1]
    return means, variances


def moments(gaussian: Gaussian, X: Floats, weight: Floats, centre: Floats) -> Moments:
    """Expected sums over rows (n, p) with weights (n,), products about a centre (p,)."""
    first, second = np.zeros_like(centre), np.zeros_like(gaussian.cov)
    for rows, (means, _, spread) in _found(gaussian, X, weight, spread=True):
        apart = means - centre
        first += weight[rows] @ means
        second += (apart * weight[rows, None]).T @ apart + spread
    return Moments(float(weight.sum()), first, second)


def _found(gaussian: Gaussian, X: Floats, weight: Floats, spread: bool) -> Iterator[tuple[slice, tuple[Floats, ...]]]:
    from lowdim.solvers import hidden_kernels

    g, p = gaussian, X.shape[1]
    precision, logdet = g.precision, g.logdet

    def work(rows: slice) -> tuple[slice, tuple[Floats, ...]]:
        n = len(X[rows])
        means, variances, total = np.empty((n, p)), np.empty((n, p)), np.zeros((p, p) if spread else (0, 0))
        hidden_kernels.expectations(
            X[rows], g.mean, g.cov, precision, logdet, weight[rows], np.empty(n), means, variances, total
        )
        return rows, (means, variances, total)

    return in_order(work, _pieces(len(X)))


def _pieces(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, n, ROWS))
