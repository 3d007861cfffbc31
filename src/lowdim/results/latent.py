"""The record of a probabilistic fit: a linear one that also knows its noise, its likelihood and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ascent:
    """What EM did."""

    loglik: tuple[float, ...]
    """Log-likelihood of the observed entries after every step."""
    logpost: tuple[float, ...]
    """The same with the log-prior of the loadings, which never falls; equal to it where there is no prior."""
    converged: bool
    change: float
    """Relative change of the loadings in the last step."""
    refused: int
    """Extrapolated steps that were taken back."""


@dataclass(frozen=True)
class LatentFit(LinearFit):
    """x = mean + loadings z + e with z ~ N(0, I) and e ~ N(0, noise), in the centred and scaled coordinates.

    The variances are those of the model along its axes: the squared length of a loading vector, and the noise.
    """

    noise: float = 0.0
    loglik: float = 0.0
    """Of all observed entries, in the data's units."""
    observed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    """(p,) entries of each column that were there."""
    spread: Floats | None = field(default=None, repr=False)
    """(p, (k + 1) (k + 2) / 2) upper triangles of the covariances of each column's loadings and mean, in the scaled
    coordinates, where they are known only so well (n_components="ard"); None: they are taken for certain."""
    ascent: Ascent | None = field(default=None, repr=False)
    """None: the closed form was used."""

    @property
    def noise_variance(self) -> float:
        """Variance of every entry about mean + loadings z."""
        return self.noise

    @property
    def missing(self) -> int:
        """Entries that were not there."""
        return int(self.n_rows * len(self.observed) - self.observed.sum())

    @property
    def unseen(self) -> tuple[int, ...]:
        """Columns (from 0) of which nothing was observed: no loadings, and a mean that nobody knows (NaN)."""
        return tuple(np.flatnonzero(self.observed == 0).tolist())

    @property
    def strengths(self) -> Floats:
        """(k,) lengths of the loading vectors."""
        return np.sqrt(np.maximum(self.variances - self.noise, 0.0))

    @property
    def reached(self) -> bool:
        """Whether EM stood still at the end, or the closed form is certified."""
        return self.certificate.reached if self.ascent is None else self.ascent.converged and not self.changed

    @property
    def whitening(self) -> Floats:
        """(k,) what scores of a row without holes are multiplied by to give the expected hidden values.

        (WᵀW + noise I)⁻¹ Wᵀ for orthogonal W: shrunk, because some of a score is noise (Tipping & Bishop 1999, §3.3).
        """
        return np.divide(self.strengths, self.variances, out=np.zeros(self.k), where=self.variances > 0)

    def axes(self, whiten: bool) -> Floats:
        """(k, p) loadings in the data's units, by which hidden values become rows about the mean."""
        axes = self.components * self.undo_gain
        return axes * self.strengths[:, None] if whiten else axes

    @property
    def bic(self) -> float:
        """−2 log-likelihood + log n for each free number: loadings up to turns, means, and the noise."""
        p, k = len(self.mean) - len(self.unseen), self.k
        free = p * k - k * (k - 1) // 2 + p + 1
        return float(free * np.log(self.weight) - 2 * self.loglik)
