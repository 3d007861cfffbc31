"""The record of a probabilistic fit: a linear one that also knows its noise and likelihood; and its model file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import array, facts, flag, mapping, number, optional, whole
from lowdim.results.record import Arrays, LinearFit, pack_linear, unpack_linear
from lowdim.types import Floats

# The record of a probabilistic fit: a linear one that also knows its noise, its likelihood and how it was found.


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


# A probabilistic fit as facts and arrays of a model file, and back: a linear one, and what it knows beside that.

FIT = {"linear": mapping, "noise": number, "loglik": number, "uncertain": flag, "ascent": optional(mapping)}
ASCENT = {"steps": whole, "converged": flag, "change": number, "refused": whole}


def pack_latent(fit: LatentFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    if fit.changed:  # EM did not lead here
        fit = replace(fit, ascent=None)
    linear, arrays = pack_linear(replace(fit, mean=np.nan_to_num(fit.mean)))  # NaN where nothing was observed
    arrays["observed"] = np.asarray(fit.observed, dtype=np.int64)
    uncertain = fit.spread is not None
    known: dict[str, Any] = {"linear": linear, "noise": fit.noise, "loglik": fit.loglik, "uncertain": uncertain}
    if fit.spread is not None:
        arrays["spread"] = fit.spread
    known["ascent"], ascent = None, fit.ascent
    if ascent is not None:
        arrays |= {"ascent_loglik": np.array(ascent.loglik), "ascent_logpost": np.array(ascent.logpost)}
        known["ascent"] = {
            "steps": len(ascent.loglik),
            "converged": ascent.converged,
            "change": ascent.change if math.isfinite(ascent.change) else -1.0,  # none was measured
            "refused": ascent.refused,
        }
    return known, arrays


def unpack_latent(given: Any, arrays: Mapping[str, NDArray[Any]]) -> LatentFit:
    """The fit that `pack_latent` took apart."""
    known = facts(given, "fit", FIT)
    linear = unpack_linear(known["linear"], arrays)
    observed = array(arrays, "observed", linear.mean.shape, np.int64)
    if known["noise"] <= 0 or (observed < 0).any() or (observed > linear.n_rows).any():
        raise FormatError("The model file holds a noise or numbers of observed entries that no fit can have.")
    k = linear.k
    plain = {field.name: getattr(linear, field.name) for field in fields(LinearFit)}
    plain["mean"] = np.where(observed > 0, linear.mean, np.nan)
    return LatentFit(
        **plain,
        noise=float(known["noise"]),
        loglik=float(known["loglik"]),
        observed=observed,
        spread=array(arrays, "spread", (len(observed), (k + 1) * (k + 2) // 2)) if known["uncertain"] else None,
        ascent=None if known["ascent"] is None else _ascent(known["ascent"], arrays),
    )


def _ascent(given: Any, arrays: Mapping[str, NDArray[Any]]) -> Ascent:
    known = facts(given, "ascent", ASCENT)
    return Ascent(
        loglik=tuple(array(arrays, "ascent_loglik", (known["steps"],)).tolist()),
        logpost=tuple(array(arrays, "ascent_logpost", (known["steps"],)).tolist()),
        converged=known["converged"],
        change=float(known["change"]) if known["change"] >= 0 else math.inf,
        refused=known["refused"],
    )
