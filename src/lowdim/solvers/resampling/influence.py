"""What one row changes: standard errors and intervals of variances that assume no law of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from lowdim.results.uncertainty import Intervals
from lowdim.solvers.resampling.axes import BASIS
from lowdim.solvers.resampling.bootstrap import Sample
from lowdim.solvers.resampling.large_sample import IN_NOISE, Population, estimate_population
from lowdim.types import EPS, Floats

# What one row changes: standard errors that assume no law, with the degrees of freedom that they have.
#
# A statistic of exchangeable rows moves by I(row) / n if a row counts a little more; the mean square of these
# influences over n is its variance (Jaeckel 1972, the infinitesimal jackknife; Efron 1982, "The jackknife, the
# bootstrap and other resampling plans", §6: what the bootstrap's variance tends to). A variance made of a few large
# squares is itself unsure: it has about ν = 2 (Σ I²)² / (Σ I⁴ − (Σ I²)² / n) degrees of freedom (Satterthwaite 1946),
# so intervals reach as far as Student's t with ν does. Of normal rows ν is about n/7 for a variance; of long tails
# fewer, and intervals wider.

MAX_EXPONENT = 100.0


@dataclass(frozen=True)
class Errors:
    """Standard errors, and their degrees of freedom."""

    standard_error: Floats
    freedom: Floats

    def reach(self, level: float) -> Floats:
        """Half the width of intervals; at most what an exponential can take."""
        return np.asarray(
            np.minimum(scipy.special.stdtrit(self.freedom, 0.5 + level / 2) * self.standard_error, MAX_EXPONENT)
        )


def estimate_errors(influences: Floats, times: Floats, freedom: float, more: Floats | float = 0.0) -> Errors:
    """Of statistics (m,) whose influences (n, m) stand `times` (n,) each; `more` is variance that they do not show."""
    n = float(times.sum())
    squares = times @ influences**2
    fourths = times @ influences**4
    variance = squares / (n * freedom)
    tiny = np.finfo(float).tiny
    own = 2 / np.maximum(fourths / np.maximum(squares**2, tiny) - 1 / n, 2 / n)
    whole = variance + more
    # what is added is known exactly: variances add, and so do squares over degrees of freedom
    share = np.divide(whole, variance, out=np.ones_like(whole), where=variance > 0)
    return Errors(np.sqrt(whole), np.minimum(own * share**2, 1e9))


# Intervals of variances and of shares of them that assume no law of the rows.
#
# Percentiles of resamples will not do: a sample's leading variances are too large, a resample's are too large once
# more, and what they hold together is too large by the sum. Here the centre is the population's variance as far as
# the sample tells (`population_spectrum`), and the width is that of the rows' influences (`influence`), which needs
# no resamples:
#
#     of log λ     t² / l − h          h = 1, or Σ v² z² where columns are scaled by their own standard deviations z
#     of a total   ‖y‖² − total        0 where columns are scaled: their variances add up to a constant
#
# Intervals are those of log λ and of logits of shares, as both are bounded.


@dataclass(frozen=True)
class SpectrumOfRows:
    """All that rows say about the variances of k components."""

    sample: Sample
    components: Floats
    """(k, p)"""
    variances: Floats
    """(k,) estimates, as the fit has them."""
    total: float
    spectrum: Floats
    """All variances of the rows, largest first."""
    level: float

    @cached_property
    def times(self) -> Floats:
        """(n,) how often each row counts."""
        weight = self.sample.weight
        return np.ones(len(self.sample.Y)) if weight is None else weight.astype(np.float64)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a variance."""
        return float(self.times.sum()) - self.sample.center

    @property
    def unit(self) -> float:
        """What variances of the fit are multiplied by to be unbiased in sum."""
        return (float(self.times.sum()) - self.sample.ddof) / self.freedom

    @property
    def k(self) -> int:
        """Components."""
        return len(self.variances)

    @cached_property
    def population(self) -> Population:
        """The population's variances, as far as the rows tell."""
        return estimate_population(self.spectrum * self.unit, self.k, self.freedom, self.components.shape[1])

    @cached_property
    def _relative(self) -> Floats:
        """(n, k) influences on the logarithms of variances."""
        Y, n = self.sample.Y, float(self.times.sum())
        squares = (Y @ self.components.T) ** 2
        mean = self.times @ squares / n
        own = np.ones_like(squares)
        if self.sample.rescale:
            spread = self.times @ Y**2 / n
            inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
            own = Y**2 @ (self.components**2 * inverse).T
        return np.asarray(np.divide(squares, mean, out=np.zeros_like(squares), where=mean > 0) - own)

    @cached_property
    def _totals(self) -> Floats:
        """(n,) influences on the total variance."""
        if self.sample.rescale:
            return np.zeros(len(self.times))
        squares = np.einsum("ij,ij->i", self.sample.Y, self.sample.Y)
        return np.asarray(squares - self.times @ squares / self.times.sum())

    @property
    def _beyond(self) -> Floats:
        """(k,) variance of log λ that the correction for the other components adds to that of log l (Gaussian)."""
        return 2 * (self.population.slopes - 1) / self.freedom

    def intervals(self) -> dict[str, Intervals]:
        """Of variances, of shares, and of shares added up."""
        known = self.population
        clear = np.where(known.variances > 0, known.variances, 1.0)
        errors = estimate_errors(self._relative, self.times, self.freedom, self._beyond)
        factor = np.exp(errors.reach(self.level))
        variances = Intervals(
            self.variances,
            clear * errors.standard_error,
            clear / factor,
            clear * factor,
            self.variances - known.variances,
            BASIS,
        )
        lost = ~known.clear
        return {
            "variances": variances.without(lost, IN_NOISE),
            "shares": self._shares(np.eye(self.k)).without(lost, IN_NOISE),
            "cumulative": self._shares(np.tri(self.k)).without(np.logical_or.accumulate(lost), IN_NOISE),
        }

    def noise(self, estimate: float) -> Intervals:
        """(1,) mean variance of the directions left out, of a model that takes them for noise."""
        known, p = self.population, self.components.shape[1]
        whole = self.total * self.unit
        left = max(whole - float(known.variances.sum()), EPS * whole, np.finfo(float).tiny)
        moved = self._totals - self._relative @ known.variances
        errors = estimate_errors(moved[:, None] / left, self.times, self.freedom)
        middle, factor = np.array([left / max(p - self.k, 1)]), np.exp(errors.reach(self.level))
        given = np.array([estimate])
        return Intervals(given, middle * errors.standard_error, middle / factor, middle * factor, given - middle, BASIS)

    def _shares(self, chosen: Floats) -> Intervals:
        """Of sums of components, `chosen` (m, k) of the total."""
        known, whole = self.population, self.total * self.unit
        estimate = chosen @ self.variances / self.total if self.total > 0 else np.zeros(len(chosen))
        share = chosen @ known.variances / whole if whole > 0 else np.zeros(len(chosen))
        everything = estimate > 1 - 1e-12  # all components there are: no estimate
        inside = (share > 0) & (share < 1) & ~everything
        safe = np.where(inside, share, 0.5)
        moved = (self._relative * known.variances) @ chosen.T - np.multiply.outer(self._totals, safe)
        errors = estimate_errors(
            moved / max(whole, 1e-300), self.times, self.freedom, self._added(chosen) / max(whole, 1e-300) ** 2
        )
        spread = Errors(errors.standard_error / (safe * (1 - safe)), errors.freedom)
        wide = spread.reach(self.level)
        odds = scipy.special.logit(safe)
        ends = [np.where(inside, scipy.special.expit(odds + side * wide), np.minimum(share, 1.0)) for side in (-1, 1)]
        ends = [np.where(everything, 1.0, end) for end in ends]
        error = np.where(inside, errors.standard_error, 0.0)
        return Intervals(estimate, error, ends[0], ends[1], estimate - np.where(everything, estimate, share), BASIS)

    def _added(self, chosen: Floats) -> Floats:
        return np.asarray(chosen**2 @ (self.population.variances**2 * self._beyond))
