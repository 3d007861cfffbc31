"""Exponential families in their natural parameter θ: density ∝ exp(x θ − A(θ)), mean A′(θ), variance A″(θ).

Collins, Dasgupta & Schapire 2001, "A generalization of principal component analysis to the exponential family": what
PCA does for normal noise, the same steps do for zeros and ones and counts, and only the functions below differ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy

from lowdim.types import Floats


class Family(ABC):
    """What one entry x is drawn from, given its natural parameter θ. All functions work entry by entry."""

    name: str
    least: float = -np.inf
    """The smallest x there can be, …"""
    most: float = np.inf
    """… and the largest."""
    runs_away: bool = False
    """Whether Newton's method takes very long from parameters that are far too large."""
    farthest: float = 20.0
    """Change of θ beyond which a step is not trusted: where weights are almost nothing it may be any length."""
    most_change: float = 2.0
    """The same of a column's θ, as a root mean square over the rows."""
    entries: str
    """Which values are allowed, in words."""

    @abstractmethod
    def potential(self, theta: Floats) -> Floats:
        """A(θ)."""

    @abstractmethod
    def mean(self, theta: Floats) -> Floats:
        """A′(θ)."""

    @abstractmethod
    def variance(self, mean: Floats) -> Floats:
        """A″(θ), told by the mean: the weight of an entry in a Newton step."""

    @abstractmethod
    def link(self, mean: Floats) -> Floats:
        """θ of a mean that lies inside of what is possible."""

    @abstractmethod
    def saturated(self, x: Floats) -> Floats:
        """The smallest A(θ) − x θ that any θ reaches: what deviances are measured from."""

    def loss(self, x: Floats, theta: Floats) -> Floats:
        """A(θ) − x θ: minus the log-likelihood, less what does not depend on θ."""
        return np.asarray(self.potential(theta) - x * theta)

    def size(self, x: Floats, bias: Floats) -> Floats:
        """(n,) what a change of the loss of a row is small against: its entries, as bits and counts have no units."""
        return np.asarray((~np.isnan(x)).sum(axis=1).astype(np.float64))

    def start_scale(self, mean: Floats) -> Floats:
        """(p,) what columns are divided by for a PCA that a search begins with."""
        return np.ones_like(mean)

    def row_losses(self, x: Floats, theta: Floats, mean: Floats) -> Floats:
        """(n,) sums of that over the entries of each row, for those who have computed the means (n, p) as well."""
        return np.asarray(self.loss(x, theta).sum(axis=1))

    def inner_mean(self, mean: Floats, count: Floats) -> Floats:
        """Means of columns, moved inside where all `count` entries of a column lie on a bound: by half an entry."""
        half = 0.5 / np.maximum(count, 1.0)
        above = np.where(mean <= self.least, self.least + half, mean)
        return np.where(mean >= self.most, self.most - half, above)

    def null_loss(self, bias: Floats, mean: Floats, squares: Floats, count: Floats) -> float:
        """Σ loss where θ is the bias, of columns with so many entries of these means and sums of squares about them."""
        return float((self.potential(bias) - mean * bias) @ count)


class Bernoulli(Family):
    """Coins, and grey values between 0 and 1 as the chances of zeros and ones: mean 1 / (1 + e^−θ)."""

    name = "bernoulli"
    least, most = 0.0, 1.0
    entries = "numbers from 0 to 1"

    def potential(self, theta: Floats) -> Floats:
        """log(1 + e^θ), without overflow."""
        return np.asarray(np.maximum(theta, 0.0) + np.log1p(np.exp(-np.abs(theta))))

    def mean(self, theta: Floats) -> Floats:
        """1 / (1 + e^−θ)."""
        return np.asarray(scipy.special.expit(theta))

    def variance(self, mean: Floats) -> Floats:
        """μ (1 − μ)."""
        return np.asarray(mean * (1.0 - mean))

    def link(self, mean: Floats) -> Floats:
        """log μ / (1 − μ)."""
        return np.asarray(scipy.special.logit(mean))

    def row_losses(self, x: Floats, theta: Floats, mean: Floats) -> Floats:
        """With one logarithm for hundreds of entries: log(1 + e^θ) = max(θ, 0) − log max(μ, 1 − μ), and products of
        numbers from 1/2 to 1 do not underflow so soon."""
        likelier = np.maximum(mean, 1.0 - mean)
        starts = range(0, theta.shape[1], 1000)
        logs = sum(np.log(likelier[:, j : j + 1000].prod(axis=1, dtype=np.float64)) for j in starts)
        return np.asarray(np.maximum(theta, 0.0).sum(axis=1) - np.einsum("ij,ij->i", x, theta) - logs)

    def saturated(self, x: Floats) -> Floats:
        """The entropy of grey values; 0 for 0 and 1."""
        return np.asarray(-scipy.special.xlogy(x, x) - scipy.special.xlog1py(1.0 - x, -x))


class Poisson(Family):
    """Counts: mean e^θ."""

    name = "poisson"
    least = 0.0
    runs_away = True  # e^θ falls by no more than a factor e in a step
    entries = "numbers not below 0"

    def potential(self, theta: Floats) -> Floats:
        """e^θ; beyond the range of float64 infinite, which no step accepts."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(theta))

    mean = potential

    def variance(self, mean: Floats) -> Floats:
        """μ."""
        return mean

    def link(self, mean: Floats) -> Floats:
        """log μ."""
        return np.asarray(np.log(mean))

    def saturated(self, x: Floats) -> Floats:
        """x − x log x."""
        return np.asarray(x - scipy.special.xlogy(x, x))

    def start_scale(self, mean: Floats) -> Floats:
        """Their standard deviations: about the bias θ is (x − μ) / μ, with weight μ."""
        return np.sqrt(mean)


class Gaussian(Family):
    """Numbers with noise of variance one, for which all of this is PCA.

    The loss is half the squared distance, which is A(θ) − x θ but for what does not depend on θ: digits of distances
    would be lost in sums of large offsets.
    """

    name = "gaussian"
    entries = "finite numbers"
    farthest = most_change = np.inf  # weights are all the same, and numbers have units

    def potential(self, theta: Floats) -> Floats:
        """θ² / 2."""
        return np.asarray(0.5 * theta * theta)

    def mean(self, theta: Floats) -> Floats:
        """θ."""
        return theta

    def variance(self, mean: Floats) -> Floats:
        """1."""
        return np.ones_like(mean)

    def link(self, mean: Floats) -> Floats:
        """μ."""
        return mean

    def loss(self, x: Floats, theta: Floats) -> Floats:
        """(θ − x)² / 2."""
        return np.asarray(0.5 * (theta - x) ** 2)

    def saturated(self, x: Floats) -> Floats:
        """0."""
        return np.zeros_like(x)

    def null_loss(self, bias: Floats, mean: Floats, squares: Floats, count: Floats) -> float:
        """Half the sum of squares."""
        return 0.5 * float(squares.sum() + count @ (mean - bias) ** 2)

    def size(self, x: Floats, bias: Floats) -> Floats:
        """(n,) the squared distance of a row from the bias."""
        apart = np.nan_to_num(x - bias)
        return np.asarray(np.einsum("ij,ij->i", apart, apart))


FAMILIES: dict[str, Family] = {family.name: family for family in (Bernoulli(), Poisson(), Gaussian())}
"""By name."""
