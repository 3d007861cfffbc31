"""Mixtures of probabilistic PCAs by exact EM, and Gaussian rows of which some entries are hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.models.ppca_mixture import compiled_conditionals
from lowdim.runtime import native
from lowdim.runtime.threads import in_order
from lowdim.solvers.iterate import iterate
from lowdim.types import Floats

# Gaussian rows of which some entries are hidden: how likely the others are, and what they say about the hidden ones.
#
# The covariance is a full p × p matrix here, for p up to some hundreds and few entries observed (or few hidden) a
# row; `ppca_em` is for many columns and few components.

LEAST_VARIANCE = 1e-14
"""Share of the mean variance below which that in a direction is rounding alone."""

PIECE_ROWS = 512
"""Rows in one task of a thread."""


@dataclass(frozen=True)
class Gaussian:
    """A density of rows of p numbers."""

    mean: Floats  # (p,)
    cov: Floats  # (p, p), positive definite

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
    first: Floats  # (p,) Σ weight E[x]
    second: Floats  # (p, p) Σ weight E[(x − c)(x − c)ᵀ] about the centre c that was asked for


def likelihoods(gaussian: Gaussian, X: Floats) -> Floats:
    """(n,) log density of the observed entries of rows (n, p); NaN is hidden."""
    g, find = gaussian, compiled_conditionals.likelihoods if native.is_compiled() else _likelihoods
    precision, logdet = g.precision, g.logdet

    def work(rows: slice) -> Floats:
        loglik = np.empty(len(X[rows]))
        find(np.ascontiguousarray(X[rows]), g.mean, g.cov, precision, logdet, loglik)
        return loglik

    return np.concatenate([np.empty(0), *in_order(work, _pieces(len(X)))])


def expect_entries(gaussian: Gaussian, X: Floats) -> tuple[Floats, Floats]:
    """(n, p) mean of every entry of rows given what was observed of them, and its variance: 0 where it was observed."""
    means, variances = np.empty_like(X), np.empty_like(X)
    for rows, found in _expect_pieces(gaussian, X, np.ones(len(X)), spread=False):
        means[rows], variances[rows] = found[0], found[1]
    return means, variances


def moments(gaussian: Gaussian, X: Floats, weight: Floats, centre: Floats) -> Moments:
    """Expected sums over rows (n, p) with weights (n,), products about a centre (p,)."""
    first, second = np.zeros_like(centre), np.zeros_like(gaussian.cov)
    for rows, (means, _, spread) in _expect_pieces(gaussian, X, weight, spread=True):
        apart = means - centre
        first += weight[rows] @ means
        second += (apart * weight[rows, None]).T @ apart + spread
    return Moments(float(weight.sum()), first, second)


def _expect_pieces(
    gaussian: Gaussian, X: Floats, weight: Floats, spread: bool
) -> Iterator[tuple[slice, tuple[Floats, ...]]]:
    g, p, find = gaussian, X.shape[1], compiled_conditionals.expectations if native.is_compiled() else _expectations
    precision, logdet = g.precision, g.logdet

    def work(rows: slice) -> tuple[slice, tuple[Floats, ...]]:
        n = len(X[rows])
        means, variances, total = np.empty((n, p)), np.empty((n, p)), np.zeros((p, p) if spread else (0, 0))
        find(
            np.ascontiguousarray(X[rows]),
            g.mean,
            g.cov,
            precision,
            logdet,
            weight[rows],
            np.empty(n),
            means,
            variances,
            total,
        )
        return rows, (means, variances, total)

    return in_order(work, _pieces(len(X)))


def _pieces(n: int) -> Iterator[slice]:
    return (slice(start, start + PIECE_ROWS) for start in range(0, n, PIECE_ROWS))


def condition(x: Floats, mean: Floats, cov: Floats) -> tuple[float, Floats, Floats]:
    """Log density of the observed entries of a row (p,), and its mean (p,) and covariance (p, p) given these."""
    here = np.isfinite(x)
    values, vectors = np.linalg.eigh(cov[np.ix_(here, here)])
    values = np.maximum(values, LEAST_VARIANCE * np.trace(cov) / len(cov))
    root = (vectors / np.sqrt(values)).T
    v, B = root @ (x - mean)[here], root @ cov[here]
    left = cov - B.T @ B
    left[here], left[:, here] = 0.0, 0.0
    loglik = -0.5 * float(len(v) * np.log(2 * np.pi) + np.log(values).sum() + v @ v)
    return loglik, np.where(here, x, mean + v @ B), left


def _likelihoods(X: Floats, mean: Floats, cov: Floats, precision: Floats, logdet: float, loglik: Floats) -> None:
    """As `compiled_conditionals.likelihoods`, by the covariance alone."""
    for i, x in enumerate(X):
        loglik[i] = condition(x, mean, cov)[0]


def _expectations(
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
    """As `compiled_conditionals.expectations`, by the covariance alone."""
    for i, x in enumerate(X):
        loglik[i], means[i], left = condition(x, mean, cov)
        variances[i] = np.maximum(np.diag(left), 0.0)
        if len(spread):
            spread += weight[i] * left


# Mixtures of probabilistic PCAs, of rows that may have missing values, by exact EM.
#
# Row i comes from component c with probability weight_c, and is then N(mean_c, W_c W_cᵀ + noise_c I) (Tipping &
# Bishop 1999, "Mixtures of probabilistic principal component analysers"). Hidden entries are latent as well: the
# E-step gives the expected scatter of every component over whole rows, and the most likely W and noise for it are its
# leading eigenvectors, in closed form. One component makes this PPCA with missing values.
#
# A prior (normal-inverse-Wishart) holds components with few rows near a common Gaussian, as Yu, Sapiro & Mallat 2012
# ("Solving inverse problems with piecewise linear estimates") and Aguerrebere et al. 2017 do for patches of pictures.

NEGLIGIBLE = 1e-4
"""Probability of a component below which a row is left out of its sums."""

SMALL_GAIN = 1e-5
"""Increase of the objective, relative to its size, that is taken for none."""


@dataclass(frozen=True)
class Mixture:
    """Some PPCAs and how common each is."""

    weights: Floats  # (c,) that add up to one
    means: Floats  # (c, p)
    W: Floats  # (c, p, k) loadings
    noise: Floats  # (c,) variance about the components' subspaces

    @cached_property
    def gaussians(self) -> tuple[Gaussian, ...]:
        """The densities of the components."""
        p = self.means.shape[1]
        return tuple(
            Gaussian(mean, W @ W.T + noise * np.eye(p))
            for mean, W, noise in zip(self.means, self.W, self.noise, strict=True)
        )


@dataclass(frozen=True)
class Prior:
    """What is known of every component before any row: as if `strength` rows had this mean and this covariance."""

    mean: Floats
    cov: Floats
    strength: float


@dataclass(frozen=True)
class Settings:
    """What a mixture is fitted with."""

    k: int  # loadings of each component, below p
    noise: float | None = None  # variance of the noise if it is known
    least: float = 0.0  # variance below which the noise is not let fall
    prior: Prior | None = None
    gain: float | None = None  # increase of the objective that is taken for none; None: a small share of it


def fit_one_component(filled: Floats, settings: Settings, weight: Floats | None = None) -> Mixture:
    """One PPCA of rows (n, p) without missing values, such as those that some simpler method has filled.

    Here and below, `weight` (n,) counts rows: 2 means twice.
    """
    weight = np.ones(len(filled)) if weight is None else weight
    total = float(weight.sum())
    centre = weight @ filled / total
    apart = filled - centre
    sums = Moments(total, total * centre, (apart * weight[:, None]).T @ apart)
    return _join([_fit_component(sums, centre, settings)], np.ones(1))


def split_by_label(
    one: Mixture, X: Floats, labels: NDArray[np.integer], settings: Settings, weight: Floats | None = None
) -> Mixture:
    """Split a single component into one per label (n,), each fitted to the rows of its label."""
    weight = np.ones(len(X)) if weight is None else weight
    chances = (labels[:, None] == np.unique(labels)).astype(float)
    return _maximise([one.gaussians[0]] * chances.shape[1], X, chances, weight, settings)


def fit_mixture(
    X: Floats,
    start: Mixture,
    settings: Settings,
    most: int = 100,
    observe: Callable[[Search], None] | None = None,
    weight: Floats | None = None,
) -> tuple[Mixture, list[float]]:
    """The mixture that EM reaches, and after every step the log density of the observed entries, plus that of the
    prior where there is one. Rows (n, p) may have NaN, but no column may have nothing else."""
    weight = np.ones(len(X)) if weight is None else weight
    search = iterate(Search(X, weight, start, settings), Search.step, most, observe)
    return search.model, search.path


def responsibilities(model: Mixture, X: Floats) -> tuple[Floats, Floats]:
    """(n, c) probability of each component given the observed entries of rows, and their log density (n,)."""
    each = np.stack([likelihoods(g, X) for g in model.gaussians], axis=1) + np.log(model.weights)
    total: Floats = scipy.special.logsumexp(each, axis=1)
    return np.exp(each - total[:, None]), total


def predict_entries(model: Mixture, X: Floats) -> tuple[Floats, Floats]:
    """(n, p) expected value of every entry given what was observed of its row, and its variance.

    Of a mixture: the means of the components weighed by their probabilities, and the spread of these in the variance.
    """
    chances = responsibilities(model, X)[0] if len(model.weights) > 1 else np.ones((len(X), 1))
    first, second = np.zeros_like(X), np.zeros_like(X)
    for gaussian, chance in zip(model.gaussians, chances.T, strict=True):
        rows = np.flatnonzero(chance >= NEGLIGIBLE)
        means, variances = expect_entries(gaussian, X[rows])
        apart = means - model.means[0]  # squares about some common point keep their digits
        first[rows] += chance[rows, None] * apart
        second[rows] += chance[rows, None] * (variances + apart**2)
    kept = np.where(chances >= NEGLIGIBLE, chances, 0.0).sum(axis=1)[:, None]
    first, second = first / kept, second / kept
    return model.means[0] + first, np.maximum(second - first**2, 0.0)


class Search:
    """The state of EM: a mixture, and the objective of those before."""

    def __init__(self, X: Floats, weight: Floats, model: Mixture, settings: Settings):
        self.X, self.weight, self.model, self.settings = X, weight, model, settings
        self.path: list[float] = []

    @property
    def finished(self) -> bool:
        """Whether the last step gained almost nothing."""
        gain = SMALL_GAIN * abs(self.path[-1]) if self.path and self.settings.gain is None else self.settings.gain
        return len(self.path) > 1 and self.path[-1] - self.path[-2] <= (gain or 0.0)

    @property
    def distance(self) -> float:
        """How many times what counts as nothing the last step gained."""
        if len(self.path) < 2:
            return np.nan
        nothing = SMALL_GAIN * abs(self.path[-1]) if self.settings.gain is None else self.settings.gain
        return (self.path[-1] - self.path[-2]) / nothing if nothing else np.nan

    def step(self) -> Search:
        """Chances and expected sums under the mixture, then the mixture that makes them most likely."""
        chances, loglik = responsibilities(self.model, self.X)
        self.path.append(float(self.weight @ loglik) + _log_prior(self.model, self.settings.prior))
        self.model = _maximise(self.model.gaussians, self.X, chances, self.weight, self.settings)
        return self


def _maximise(
    gaussians: tuple[Gaussian, ...] | list[Gaussian], X: Floats, chances: Floats, weight: Floats, settings: Settings
) -> Mixture:
    parts, weights = [], []
    for gaussian, chance in zip(gaussians, chances.T, strict=True):
        rows = np.flatnonzero(chance >= NEGLIGIBLE)
        share = chance[rows] * weight[rows]
        if share.sum() < 1.0:  # less than a row: the component has died
            continue
        sums = moments(gaussian, X[rows], share, gaussian.mean)
        parts.append(_fit_component(sums, gaussian.mean, settings))
        weights.append(sums.weight)
    return _join(parts, np.array(weights))


def _fit_component(sums: Moments, centre: Floats, settings: Settings) -> tuple[Floats, Floats, float]:
    """Mean, W and noise for expected sums about a centre (Tipping & Bishop 1999, equations 7 and 8)."""
    prior, weight, first, second = settings.prior, sums.weight, sums.first, sums.second
    if prior is not None:
        from_prior = prior.mean - centre
        first = first + prior.strength * prior.mean
        second = second + prior.strength * (prior.cov + np.outer(from_prior, from_prior))
        weight += prior.strength
    mean = first / weight
    values, vectors = np.linalg.eigh(second / weight - np.outer(mean - centre, mean - centre))
    k = settings.k
    noise = settings.noise
    if noise is None:
        noise = max(float(values[: len(values) - k].mean()), settings.least)
    gains = np.sqrt(np.maximum(values[::-1][:k] - noise, 0.0))
    return mean, vectors[:, ::-1][:, :k] * gains, noise


def _join(parts: list[tuple[Floats, Floats, float]], weights: Floats) -> Mixture:
    means, W, noise = zip(*parts, strict=True)
    return Mixture(weights / weights.sum(), np.stack(means), np.stack(W), np.array(noise))


def _log_prior(model: Mixture, prior: Prior | None) -> float:
    """Log density of the prior at all components, but for a constant."""
    if prior is None:
        return 0.0
    total = 0.0
    for g in model.gaussians:
        apart = prior.mean - g.mean
        scatter = prior.cov + np.outer(apart, apart)
        total -= 0.5 * prior.strength * (g.logdet + float(np.einsum("ij,ij->", g.precision, scatter)))
    return total
