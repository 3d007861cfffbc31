"""Probabilistic PCA of rows with missing values by exact EM: x = mean + W z + e with z ~ N(0, I), e ~ N(0, noise I).

Only observed entries enter (Tipping & Bishop 1999, appendix B; Ilin & Raiko 2010, "Practical approaches to principal
component analysis in the presence of missing values"). Loadings and mean of a column are solved for together, and the
latent space is brought back to mean zero and covariance one in every step, which is a parameter-expanded EM (Liu,
Rubin & Wu 1998) and takes a small part of the iterations that plain EM needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.iterate import iterate

Floats = NDArray[np.float64]

ROWS = 4096
"""Rows whose k × k systems are held at a time."""

LEAST_NOISE = 1e-10
"""Share of the mean variance of a column below which the noise is not let fall."""

SMALL_GAIN = 1e-7
"""Increase of the log-likelihood, per observed entry, that is taken for none; EM's last digits are slow."""


@dataclass(frozen=True)
class Latent:
    """A Gaussian model of p columns with k hidden ones."""

    mean: Floats
    """(p,)"""
    W: Floats
    """(p, k) loadings."""
    noise: float
    """Variance of every entry about mean + W z."""


@dataclass(frozen=True)
class Posterior:
    """What the observed entries of some rows say about their hidden values."""

    z: Floats
    """(n, k) means."""
    cov: Floats
    """(n, k, k) covariances."""
    loglik: Floats
    """(n,) log density of the observed entries."""


def posterior(model: Latent, X: Floats) -> Posterior:
    """Hidden values of rows (n, p); NaN marks what was not observed."""
    seen = np.isfinite(X)
    apart = np.where(seen, X - model.mean, 0.0)
    k = model.W.shape[1]
    products = (model.W[:, :, None] * model.W[:, None, :]).reshape(-1, k * k)  # w_j w_jᵀ for every column
    M = (seen.astype(float) @ products).reshape(-1, k, k) + model.noise * np.eye(k)
    projected = apart @ model.W
    inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
    z = np.einsum("nij,nj->ni", inverse, projected)
    count = seen.sum(axis=1)
    # the determinant and the inverse of W_O W_Oᵀ + noise I through the k × k matrix M (Woodbury)
    logdet = np.linalg.slogdet(M)[1] + (count - k) * np.log(model.noise)
    square = (np.einsum("nj,nj->n", apart, apart) - np.einsum("ni,ni->n", projected, z)) / model.noise
    cov: Floats = model.noise * inverse
    return Posterior(z, cov, -0.5 * (count * np.log(2 * np.pi) + logdet + square))


def predicted(model: Latent, X: Floats) -> tuple[Floats, Floats]:
    """(n, p) expected value of every entry given what was observed of its row, and its standard deviation."""
    values, deviations = np.empty_like(X), np.empty_like(X)
    for rows in _pieces(len(X)):
        known = posterior(model, X[rows])
        values[rows] = model.mean + known.z @ model.W.T
        spread = np.einsum("jk,nkl,jl->nj", model.W, known.cov, model.W, optimize=True)
        deviations[rows] = np.sqrt(spread + model.noise)
    return values, deviations


def fit_by_em(X: Floats, k: int, rng: np.random.Generator, most: int = 1000) -> tuple[Latent, list[float]]:
    """The most likely model with k hidden columns, and the log-likelihood after every step."""
    search = iterate(_Search(X, _start(X, k, rng)), _Search.step, most)
    return search.model, search.path


class _Search:
    """The state of EM: a model, and how likely the observed entries were under it and those before."""

    def __init__(self, X: Floats, model: Latent):
        self.X, self.model = X, model
        self.path: list[float] = []
        self._seen = np.isfinite(X)
        self._entries = int(self._seen.sum())
        self._least = LEAST_NOISE * float(np.nanvar(X, axis=0).mean())

    @property
    def finished(self) -> bool:
        """Whether two steps in a row gained next to nothing."""
        if len(self.path) < 3:
            return False
        return bool((np.diff(self.path[-3:]) < SMALL_GAIN * self._entries).all())

    def step(self) -> _Search:
        """Expected sums over hidden values, then the model that makes them most likely."""
        model = self.model
        p, k = model.W.shape
        first, second, likely = np.zeros(k), np.zeros((k, k)), 0.0
        system, right = np.zeros((p, (k + 1) ** 2)), np.zeros((p, k + 1))
        squares = 0.0
        for rows in _pieces(len(self.X)):
            known, seen = posterior(model, self.X[rows]), self._seen[rows].astype(float)
            apart = np.where(self._seen[rows], self.X[rows] - model.mean, 0.0)
            moments = known.cov + known.z[:, :, None] * known.z[:, None, :]
            longer = np.concatenate([known.z, np.ones((len(known.z), 1))], axis=1)
            whole = longer[:, :, None] * longer[:, None, :]
            whole[:, :k, :k] = moments
            system += seen.T @ whole.reshape(len(longer), -1)
            right += apart.T @ longer
            first += known.z.sum(axis=0)
            second += moments.sum(axis=0)
            squares += float(np.einsum("nj,nj->", apart, apart))
            likely += float(known.loglik.sum())
        self.path.append(likely)
        self.model = self._most_likely(system.reshape(p, k + 1, k + 1), right, squares, first, second)
        return self

    def _most_likely(self, system: Floats, right: Floats, squares: float, first: Floats, second: Floats) -> Latent:
        n, k = len(self.X), len(first)
        solved = np.linalg.solve(system, right[:, :, None])[:, :, 0]
        noise = max((squares - float(np.einsum("ji,ji->", solved, right))) / self._entries, self._least)
        W, mean = solved[:, :k], self.model.mean + solved[:, k]
        center = first / n
        spread = np.linalg.cholesky(second / n - np.outer(center, center))
        return Latent(mean + W @ center, W @ spread, noise)


def _start(X: Floats, k: int, rng: np.random.Generator) -> Latent:
    """PCA of the rows with means in the holes."""
    mean = np.nanmean(X, axis=0)
    filled = np.where(np.isfinite(X), X - mean, 0.0)
    values, vectors = np.linalg.eigh(filled.T @ filled / len(X))
    rest = max(float(values[: len(values) - k].mean()), 1e-3 * float(values.mean()))
    gains = np.sqrt(np.maximum(values[::-1][:k] - rest, 1e-3 * rest))
    W = vectors[:, ::-1][:, :k] * gains + 1e-6 * np.sqrt(rest) * rng.standard_normal((len(mean), k))
    return Latent(mean, W, rest)


def _pieces(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, n, ROWS))
