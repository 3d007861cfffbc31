"""The record of a probabilistic fit: a linear one that also knows its noise, its likelihood and how it was found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.fields import UNSHOWN, AddedLater, NonNegative, Prefix, StandsFor, has, size
from lowdim.results.meaning import Invertible, refuse, refuse_skew
from lowdim.results.record import LinearFit
from lowdim.types import Floats


@dataclass(frozen=True)
class Ascent:
    """What EM did."""

    DERIVED: ClassVar[Mapping[str, Any]] = {"steps": size("loglik")}

    loglik: Annotated[tuple[float, ...], "steps"]
    """Log-likelihood of the observed entries after every step."""
    logpost: Annotated[tuple[float, ...], "steps"]
    """The same with the log-prior of the loadings, which never falls; equal to it where there is no prior."""
    converged: bool
    change: Annotated[float, NonNegative, StandsFor(math.inf, -1.0)]
    """Relative change of the loadings in the last step."""
    refused: int
    """Extrapolated steps that were taken back."""

    def check(self) -> None:
        """Refuse what no file can say."""
        refuse(self.converged and not np.isfinite(self.change), "that EM stood still, and of no step")


@dataclass(frozen=True)
class LatentFit(LinearFit):
    """x = mean + loadings z + e with z ~ N(0, I) and e ~ N(0, noise), in the centred and scaled coordinates.

    The variances are those of the model along its axes: the squared length of a loading vector, and the noise.
    """

    INHERITED: ClassVar[str] = "linear"
    PROBABILISTIC: ClassVar[bool] = True
    DERIVED: ClassVar[Mapping[str, Any]] = {"uncertain": AddedLater(has("spread"))}  # the first files do not say so

    noise: Annotated[float, Invertible] = 0.0
    loglik: float = 0.0
    """Of all observed entries, in the data's units."""
    observed: Annotated[NDArray[np.int64], "p", NonNegative] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False
    )
    """(p,) entries of each column that were there."""
    spread: Annotated[Floats | None, "p triangle", UNSHOWN] = field(default=None, repr=False)
    """(p, (k + 1) (k + 2) / 2) upper triangles of the covariances of each column's loadings and mean, in the scaled
    coordinates, where they are known only so well (n_components="ard"); None: they are taken for certain."""
    ascent: Annotated[Ascent | None, Prefix("ascent_")] = field(default=None, repr=False)
    """None: the closed form was used."""

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields: EM led to no changed arrays, and a mean that nobody knows is 0."""
        ascent = None if self.changed else self.ascent
        return super().to_file() | {"ascent": ascent, "mean": np.nan_to_num(self.mean)}

    @classmethod
    def from_file(cls, values: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Fields that are not what the file holds."""
        return {"mean": np.where(values["observed"] > 0, values["mean"], np.nan)}

    def check(self) -> None:
        """Refuse what no file can say."""
        super().check()
        nobody = np.array(self.unseen, dtype=int)
        refuse(len(nobody) == self.n_columns, "that nothing was observed")
        refuse(self.components[:, nobody].any(), "loadings of columns of which nothing was observed")
        if self.ascent is not None:  # EM, and nothing assigned since
            refuse_skew(self.components)
        if (self.observed > self.n_rows).any():
            raise FormatError(f"The model file says that more entries than its {self.n_rows} rows have were observed.")
        if self.spread is not None and self.spread.shape[1] != (self.k + 1) * (self.k + 2) // 2:
            raise FormatError(f"Array 'spread' of the model file does not hold covariances of {self.k} loadings.")

    @property
    def noise_variance(self) -> float:
        """Variance of every entry about mean + loadings z."""
        return self.noise

    @property
    def found_by_em(self) -> bool:
        """Whether EM was needed; else the closed form was used."""
        return self.ascent is not None

    def with_assigned(self, known: Mapping[str, Any], given: Mapping[str, Any]) -> Self:
        """The record with these fields in place of its own: no EM led there, and nothing says how sure they are."""
        noise = float(given.get("noise_variance_", self.noise))
        return super().with_assigned({**known, "noise": noise, "spread": None, "ascent": None}, given)

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


RECORD = LatentFit
