"""Variances and axes of Gaussian rows in large samples: how far they lie from those of the population.

With n rows from a normal distribution whose covariance has distinct eigenvalues λ and eigenvectors v (Girshick 1939;
Anderson 1963, "Asymptotic theory for principal component analysis"; Anderson 2003, theorem 13.5.1), and f = n − 1
degrees of freedom, the estimates are normal in the limit, variances and axes independent of each other, with

    var λ_k = 2 λ_k² / f                cov v_k = Σ_{l ≠ k} λ_k λ_l / (f (λ_k − λ_l)²) v_l v_lᵀ.

The logarithm of a variance has the same standard error √(2 / f) whatever the variance, so its interval is made there.
An axis that turns by an angle θ keeps cos θ of its own entries, a loss of second order, but of everything where two
variances are tied: intervals reach as far as estimate · cos θ, for the θ that is not exceeded. Directions that are not
known one by one have the noise variance of probabilistic PCA, all of them the same. No direction can turn further than
into another one, so no term of the sum is let above 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from lowdim.results.uncertainty import Count, Intervals

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """What is known of the covariance: k components that are asked about, and everything beside them."""

    values: Floats
    """(r,) variances whose axes are known, largest first; the first k are asked about."""
    axes: Floats
    """(r, p)"""
    k: int
    rest: float
    """Variance of each of the p − r directions beside them."""
    freedom: float
    level: float
    noise_known: bool = False
    """Whether `rest` is not an estimate."""

    @property
    def reach(self) -> float:
        """Standard errors to either side of an estimate."""
        return float(ndtri(0.5 + self.level / 2))

    @property
    def others(self) -> int:
        """Directions that are not known one by one."""
        return int(self.axes.shape[1] - len(self.values))

    @property
    def turning(self) -> tuple[Floats, Floats]:
        """(k, r) and (k,) variance of the angle by which each axis turns towards every other, and towards one of the
        rest."""
        mine = self.values[: self.k, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            towards = mine * self.values / (self.freedom * (mine - self.values) ** 2)
            beside = mine * self.rest / (self.freedom * (mine - self.rest) ** 2)
        towards[np.arange(self.k), np.arange(self.k)] = 0.0
        return _capped(towards), _capped(beside[:, 0])

    @property
    def own(self) -> Floats:
        """(k,) what is left of an axis along itself, at least: cos θ, with θ² a sum of squares of normal angles."""
        towards, beside = self.turning
        mean = towards.sum(axis=1) + self.others * beside
        spread = np.sqrt(2 * ((towards**2).sum(axis=1) + self.others * beside**2))
        return np.asarray(np.cos(np.minimum(np.sqrt(mean + self.reach * spread), np.pi / 2)))

    # -- intervals ------------------------------------------------------------------------------------------------

    def variances(self) -> Intervals:
        """(k,) on the scale of logarithms."""
        return self._positive(self.values[: self.k], np.full(self.k, 2 / self.freedom))

    def noise(self) -> Intervals:
        """(1,) variance of the rest, the mean of f (p − k) squares."""
        relative = 0.0 if self.noise_known else 2 / (self.freedom * max(self.others, 1))
        return self._positive(np.array([self.rest]), np.array([relative]))

    def shares(self, cumulative: bool = False) -> Intervals:
        """(k,) of the total, by the delta method, on the scale of logits; one by one, or of all up to each."""
        every = np.append(self.values, self.rest)
        times = np.append(np.ones(len(self.values)), self.others)
        total = float(every @ times)
        chosen = np.tri(self.k, len(every)) if cumulative else np.eye(self.k, len(every))
        share = chosen @ every / total
        # d share = Σ (chosen − share) dλ / total, with var dλ = 2 λ² / f, and 2 λ² / (f m) of a mean of m alike
        gradient = (chosen - share[:, None]) * times / total
        spread = np.sqrt(gradient**2 @ (2 * every**2 / (self.freedom * np.maximum(times, 1.0))))
        inside = (share > 0) & (share < 1)
        safe = np.where(inside, share, 0.5)
        wide = self.reach * np.where(inside, spread / (safe * (1 - safe)), 0.0)
        ends = [np.where(inside, expit(logit(safe) + side * wide), share) for side in (-1, 1)]
        return Intervals(share, spread, ends[0], ends[1])

    def components(self) -> Intervals:
        """(k, p)"""
        return self._entries(self.axes[: self.k], self._axis_errors(), 1.0, self.own)

    def loadings(self, strengths: Floats) -> Intervals:
        """(k, p) axes times strengths √(λ − noise), or √λ with `rest` taken as no noise."""
        mine = self.values[: self.k]
        unsure = 2 * mine**2 / self.freedom
        if not np.allclose(strengths**2, mine) and not self.noise_known:
            unsure = unsure + 2 * self.rest**2 / (self.freedom * max(self.others, 1))
        by_length = np.divide(unsure, 4 * strengths**2, out=np.zeros(self.k), where=strengths > 0)
        axes = self.axes[: self.k]
        errors = np.sqrt((strengths[:, None] * self._axis_errors()) ** 2 + axes**2 * by_length[:, None])
        return self._entries(axes * strengths[:, None], errors, np.inf, self.own)

    def scores(self, along: Floats, squares: Floats, gains: Floats, slopes: Floats) -> Intervals:
        """(k, n) of rows that are given, gain · (x − mean)ᵀv: their axes, gains and the mean are unsure.

        `along` (n, r) are lengths along the axes, `squares` (n,) squared lengths; gains (k,) change by `slopes` (k,)
        for one unit of the variance.
        """
        towards, beside = self.turning
        left = np.maximum(squares - np.einsum("nr,nr->n", along, along), 0.0)
        mine = self.values[: self.k, None]
        turned = towards @ (along**2).T + np.multiply.outer(beside, left)
        shifted = mine / (self.freedom + 1)
        length = along[:, : self.k].T
        errors = gains[:, None] ** 2 * (turned + shifted) + (slopes[:, None] * length * mine) ** 2 * 2 / self.freedom
        return self._entries(gains[:, None] * length, np.sqrt(errors), np.inf)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _axis_errors(self) -> Floats:
        towards, beside = self.turning
        squares = self.axes**2
        left = np.maximum(1 - squares.sum(axis=0), 0.0) if self.others else np.zeros(self.axes.shape[1])
        return np.sqrt(towards @ squares + np.multiply.outer(beside, left))

    def _positive(self, values: Floats, relative: Floats) -> Intervals:
        factor = np.exp(self.reach * np.sqrt(relative))
        return Intervals(values, values * np.sqrt(relative), values / factor, values * factor)

    def _entries(self, values: Floats, errors: Floats, most: float, own: Floats | None = None) -> Intervals:
        turned = values if own is None else values * own[:, None]
        lower = np.minimum(values, turned) - self.reach * errors
        upper = np.maximum(values, turned) + self.reach * errors
        return Intervals(values, errors, np.maximum(lower, -most), np.minimum(upper, most))


def count_reaching(cumulative: Intervals, share: float, rule: str) -> Count | None:
    """The components that reach a share, from the intervals of what they reach; None if the kept ones do not."""
    first = [int(np.argmax(ends >= share - 1e-12)) + 1 for ends in (cumulative.estimate, cumulative.upper)]
    if cumulative.estimate[-1] < share - 1e-12:
        return None
    reached = cumulative.lower >= share
    last = int(np.argmax(reached)) + 1 if reached.any() else len(reached) + 1
    return Count(rule, first[0], first[1], last)


def _capped(variances: Floats) -> Floats:
    return np.minimum(np.nan_to_num(variances, nan=0.0, posinf=1.0), 1.0)
