"""Variances and axes of Gaussian rows in large samples, and the variances of the population behind them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from lowdim.results.uncertainty import Count, Intervals
from lowdim.solvers.keep import SHARE_ROUNDING
from lowdim.solvers.rank.tracy_widom import quantile, standardise
from lowdim.types import EPS, Floats, Mask

# Variances of the population behind those of a sample: leading ones come out too large, by what the others add.
#
# A sample's k-th variance l answers to the population's λ through the Stieltjes transform of all other variances of
# the sample, for any ratio of rows to columns (Bai & Ding 2012, "Estimation of spiked eigenvalues in spiked models";
# to first order in 1/f it is Lawley 1956, "Tests of significance for the latent roots of covariance and correlation
# matrices"):
#
#     λ = l / (1 + a),    a = Σ_i l_i / (l − l_i) / f,    dλ/dl = λ² Σ_i 1 / (l − l_i)² / f,
#
# over the f companion variances beside l (those of the f × f matrix of inner products: zeros too). The second is the
# slope: what the correction makes of the sampling error of l. Of a new row, the variance along the *sample's* axis is
# smaller again, λ² / l, as the axis leans towards what these rows had by chance (Ledoit & Péché 2011, at an isolated
# eigenvalue).
#
# Two variances that lie nearer together than their sampling errors repel each other no further: 1 / (l − l_i) is
# taken as the real part of 1 / (l − l_i + iη), η² = 2 l l_i / f, the square of the standard error of either.
#
# A component that noise alone would show as large has no variance of its own to be found: its λ is below what a
# sample can tell (Baik, Ben Arous & Péché 2005). It is compared with the largest variance that noise of the variance
# of what is left out would show (Tracy & Widom; Johnstone 2001).

CONFIDENCE_OF_NOISE = 0.95
"""How surely a component must be more than noise."""

IN_NOISE = "no more than noise would show: its variance in the population cannot be told"


@dataclass(frozen=True)
class Population:
    """The first k variances of a population, as far as a sample tells."""

    variances: Floats
    """(k,) λ."""
    slopes: Floats
    """(k,) dλ/dl, at least 1: by how much more a λ varies than its l, in squares of standard errors."""
    clear: Mask
    """(k,) whether a component is more than noise would show."""


def estimate_population(values: Floats, k: int, freedom: float, p: int) -> Population:
    """From all variances of a sample, largest first, of p columns and f = `freedom` degrees of freedom."""
    every = np.maximum(values[: int(min(len(values), freedom, p))], 0.0)
    pull, squares = (terms.sum(axis=1) / freedom for terms in _terms(every, k, freedom))
    mine = every[:k]
    there = mine > 0
    found = np.where(there, mine / np.maximum(1 + pull, EPS), 0.0)
    zeros = max(freedom - len(every), 0.0)  # companion variances that are none of the columns'
    safe = np.where(there, mine, 1.0)
    slopes = found**2 * (squares + (zeros + 1) / (freedom * safe**2))
    return Population(found, np.where(there, np.maximum(slopes, 1.0), 1.0), _find_clear(every, k, freedom, p))


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


def _find_clear(every: Floats, k: int, freedom: float, p: int) -> Mask:
    """(k,) whether each variance is above the largest of noise with the variance of what is left out."""
    left = float(every[k:].sum())
    if p <= k or freedom <= k + 1 or left <= 0:
        return every[:k] > 0
    noise = left / (p - k) * freedom / (freedom - k)
    return np.array([standardise(one / noise, p - k, freedom) > quantile(CONFIDENCE_OF_NOISE) for one in every[:k]])


# Variances and axes of Gaussian rows in large samples: how far they lie from those of the population.
#
# With n rows from a normal distribution whose covariance has distinct eigenvalues λ and eigenvectors v (Girshick
# 1939; Anderson 1963, "Asymptotic theory for principal component analysis"; Anderson 2003, theorem 13.5.1), and f = n
# − 1 degrees of freedom, the estimates are normal in the limit, variances and axes independent of each other, with
#
#     var λ_k = 2 λ_k² / f                cov v_k = Σ_{l ≠ k} λ_k λ_l / (f (λ_k − λ_l)²) v_l v_lᵀ.
#
# The logarithm of a variance has the same standard error √(2 / f) whatever the variance, so its interval is made
# there. That is of few columns. With many, leading variances are too large and vary more than their estimates do:
# intervals of variances and shares are about the population's, with their slopes (`population_spectrum`); for p ≪ f
# nothing changes. An axis that turns by an angle θ keeps cos θ of its own entries, a loss of second order, but of
# everything where two variances are tied: intervals reach as far as estimate · cos θ, for the θ that is not exceeded.
# Directions that are not known one by one have the noise variance of probabilistic PCA, all of them the same. No
# direction can turn further than into another one, so no term of the sum is let above 1.

BASIS = "Gaussian rows"


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
    given_noise: float | None = None
    """Noise variance that was given; None: it is `rest`, an estimate."""
    basis: str = BASIS
    unit: float = 1.0
    """What values are multiplied by to be unbiased in sum: n / (n − 1) where they divide by n."""

    @property
    def reach(self) -> float:
        """Standard errors to either side of an estimate."""
        return float(scipy.special.ndtri(0.5 + self.level / 2))

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
        return _cap(towards), _cap(beside[:, 0])

    @property
    def own(self) -> Floats:
        """(k,) what is left of an axis along itself, at least: cos θ, with θ² a sum of squares of normal angles."""
        towards, beside = self.turning
        mean = towards.sum(axis=1) + self.others * beside
        spread = np.sqrt(2 * ((towards**2).sum(axis=1) + self.others * beside**2))
        return np.asarray(np.cos(np.minimum(np.sqrt(mean + self.reach * spread), np.pi / 2)))

    # -- intervals ------------------------------------------------------------------------------------------------

    @cached_property
    def population(self) -> Population:
        """Of which the values are a sample; directions that are not known one by one are taken for alike."""
        p = self.axes.shape[1]
        more = int(max(min(self.freedom, p) - len(self.values), 0)) if self.others else 0
        rest = np.full(more, self.rest * self.others / more) if more else np.zeros(0)
        return estimate_population(np.append(self.values, rest) * self.unit, self.k, self.freedom, p)

    @property
    def lost(self) -> Mask:
        """(k,) components that noise would show as large."""
        return ~self.population.clear

    def variances(self) -> Intervals:
        """(k,) on the scale of logarithms."""
        values, known = self.values[: self.k], self.population
        middle = np.where(known.variances > 0, known.variances, 1.0)
        made = self._positive(middle, 2 * known.slopes / self.freedom)
        whole = Intervals(values, made.standard_error, made.lower, made.upper, values - known.variances, self.basis)
        return whole.without(self.lost, IN_NOISE)

    def noise(self) -> Intervals:
        """(1,) variance of the rest, the mean of f (p − k) squares."""
        if self.given_noise is not None:
            given = np.array([self.given_noise])
            return Intervals(given, np.zeros(1), given, given, basis="given")
        mean = (self._total - float(self.population.variances.sum())) / self.others_left
        middle = np.array([max(mean, np.finfo(float).tiny)])
        made = self._positive(middle, 2 * self._rest_squares / (self.freedom * (mean * self.others_left) ** 2))
        value = np.array([self.rest])
        return Intervals(value, made.standard_error, made.lower, made.upper, value - middle, self.basis)

    @property
    def others_left(self) -> int:
        """Directions beside the k components."""
        return max(int(self.axes.shape[1]) - self.k, 1)

    @property
    def _total(self) -> float:
        """Of the population."""
        return (float(self.values.sum()) + self.rest * self.others) * self.unit

    @property
    def _rest_squares(self) -> float:
        """Σ λ² of the population beside the k components: from Σ l², which is too large by (Σ l)² / f (Bai & Saranadasa
        1996, eq. 3.2)."""
        f, beside = self.freedom, self.values[self.k :] * self.unit
        if self.others:
            return float((beside**2).sum()) + self.others * (self.rest * self.unit) ** 2
        squares = float((beside**2).sum()) - float(beside.sum()) ** 2 / f
        return max(f * f / ((f - 1) * (f + 2)) * squares if f > 1 else 0.0, 0.0)

    def shares(self, cumulative: bool = False) -> Intervals:
        """(k,) of the total, by the delta method, on the scale of logits; one by one, or of all up to each."""
        known, total = self.population, self._total
        chosen = np.tri(self.k) if cumulative else np.eye(self.k)
        estimate = chosen @ self.values[: self.k] * self.unit / total
        everything = estimate > 1 - SHARE_ROUNDING
        share = np.where(everything, 1.0, chosen @ known.variances / total)
        # d share = Σ (chosen − share) dλ / total, with var dλ = 2 slope λ² / f; what is left out adds to the total
        spread = (chosen - share[:, None]) ** 2 @ (2 * known.slopes * known.variances**2 / self.freedom)
        spread = np.sqrt(spread + share**2 * 2 * self._rest_squares / self.freedom) / total
        inside = (share > 0) & (share < 1)
        safe = np.where(inside, share, 0.5)
        wide = self.reach * np.where(inside, spread / (safe * (1 - safe)), 0.0)
        odds = scipy.special.logit(safe)
        ends = [np.where(inside, scipy.special.expit(odds + side * wide), share) for side in (-1, 1)]
        spread = np.where(inside, spread, 0.0)
        found = Intervals(estimate, spread, ends[0], ends[1], estimate - share, self.basis)
        return found.without(np.logical_or.accumulate(self.lost) if cumulative else self.lost, IN_NOISE)

    def components(self) -> Intervals:
        """(k, p)"""
        return self._entries(self.axes[: self.k], self._axis_errors(), 1.0, self.own)

    def loadings(self, strengths: Floats) -> Intervals:
        """(k, p) axes times strengths √(λ − noise), or √λ with `rest` taken as no noise."""
        mine = self.values[: self.k]
        unsure = 2 * mine**2 / self.freedom
        if not np.allclose(strengths**2, mine) and self.given_noise is None:
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

    def _positive(self, values: Floats, relative: Floats | float) -> Intervals:
        factor = np.exp(self.reach * np.sqrt(relative))
        return Intervals(values, values * np.sqrt(relative), values / factor, values * factor, basis=self.basis)

    def _entries(self, values: Floats, errors: Floats, most: float, own: Floats | None = None) -> Intervals:
        turned = values if own is None else values * own[:, None]
        lower = np.minimum(values, turned) - self.reach * errors
        upper = np.maximum(values, turned) + self.reach * errors
        found = Intervals(values, errors, np.maximum(lower, -most), np.minimum(upper, most), basis=self.basis)
        return found.without(self.lost, IN_NOISE)


def count_reaching(cumulative: Intervals, share: float, rule: str) -> Count | None:
    """The components that reach a share, from the intervals of what they reach; None if the kept ones do not."""
    if cumulative.estimate[-1] < share - SHARE_ROUNDING or np.isnan(cumulative.upper).any():
        return None
    ends = (cumulative.estimate, cumulative.upper - SHARE_ROUNDING, cumulative.lower - SHARE_ROUNDING)
    estimate, first, last = (int(np.argmax(np.append(one, 1.0) >= share - SHARE_ROUNDING)) + 1 for one in ends)
    return Count(rule, estimate, min(first, estimate), last)


def _cap(variances: Floats) -> Floats:
    return np.minimum(np.nan_to_num(variances, nan=0.0, posinf=1.0), 1.0)
