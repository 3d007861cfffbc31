"""The record of a recogniser: its space, its gallery, its rates with intervals."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.results.codec import pack_texts, unpack_texts
from lowdim.results.fields import AS_IT_IS, UNSHOWN, NonNegative, OneOf, OwnSizes, Share, StoredAs, has, size
from lowdim.results.meaning import Untold
from lowdim.results.record import LinearFit, Provenance
from lowdim.types import Floats, Indices

# Shares of counted trials, and numbers, with intervals.


@dataclass(frozen=True)
class Estimate:
    """A number with an interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """`count` of `of` trials, with Wilson's score interval, which takes the trials as independent."""

    count: int
    of: int
    level: float = 0.95

    @classmethod
    def of_all(cls, hits: Any, level: float = 0.95) -> Rate:
        """The share of a list of flags that are true."""
        flags = np.asarray(hits, dtype=bool)
        return cls(int(flags.sum()), len(flags), level)

    @property
    def value(self) -> float:
        """The share; NaN of no trials."""
        return self.count / self.of if self.of else math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._interval[1]

    @property
    def _interval(self) -> tuple[float, float]:
        """Wilson 1927: all shares π whose score test, (π̂ − π)² ≤ z² π (1 − π) / n, does not refuse them."""
        if not self.of:
            return math.nan, math.nan
        z = NormalDist().inv_cdf(0.5 + self.level / 2)
        n, share = self.of, self.value
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        # the ends are 0 and 1 exactly where nothing, or all, was hit
        return 0.0 if self.count == 0 else middle - half, 1.0 if self.count == n else middle + half


# The record of a recogniser: the space of the gallery, its rows in there, and when a row is turned away.

COSINE, EUCLID, WHITENED = "cosine", "euclid", "whitened"

METRICS = (COSINE, EUCLID, WHITENED)
"""Angle between whitened scores; distance between scores; distance between whitened scores (Mahalanobis)."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What the gallery says of itself, each time with components of the other rows alone."""

    DERIVED: ClassVar[Mapping[str, Any]] = {"seen": size("nearest"), "dense": has("densities")}

    strangers: Annotated[Floats, "n", NonNegative]
    """(n,) distance of each row to the nearest of other people, its own person left out: a stranger's."""
    densities: Annotated[Floats | None, "n", Untold]
    """(n,) log-likelihood of each row in the space of other people; None: the model has no density."""
    nearest: Annotated[Floats, "seen", NonNegative]
    """(h,) distance to the nearest row, of those rows whose person has others in the gallery."""
    right: Annotated[NDArray[np.bool_], "seen", StoredAs((np.int64,))]
    """(h,) whether that is a row of the same person."""
    folds: tuple[int, int]
    """Into how many parts people, and rows, were divided."""


@dataclass(frozen=True, eq=False)
class RecogniserFit:
    """A gallery in the space of its components."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_classes": size("classes"),
        "labels": lambda fit: "str" if fit.classes.dtype.kind == "U" else fit.classes.dtype.name,
    }

    space: Annotated[LinearFit, OwnSizes("n p")]
    """PCA of the gallery, with variances that divide by n: those of probabilistic PCA."""
    metric: Annotated[str, OneOf(METRICS)]
    drop_first: int
    n_neighbors: int
    codes: Annotated[Floats, "n coordinates", UNSHOWN] = field(repr=False)
    """(n, k − drop_first) rows of the gallery, in the coordinates in which Euclid's distance is the metric's."""
    places: Annotated[Indices, "n"] = field(repr=False)
    """(n,) which of the classes each is."""
    classes: Annotated[NDArray[Any], "c", AS_IT_IS] = field(repr=False)
    """(c,) labels, sorted."""
    unknown: str | float | None
    """What is said of rows that are turned away; None: no row is."""
    max_distance: float | None
    """Rows further than this from all of the gallery are nobody of it; None: all are somebody."""
    least_density: float | None
    """Rows less likely than this do not belong to the space at all; None: all do."""
    reject: Annotated[float | None, Share]
    """Share of strangers that the distance was to let in; None: it was given, or there is none."""
    reject_outside: Annotated[float | None, Share]
    """Share of the gallery's kind of rows that the log-likelihood was to turn away."""
    trial: Trial | None = None
    """None: nothing had to be tried."""
    names: Annotated[tuple[str, ...] | None, "n"] = field(default=None, repr=False)
    """(n,) names of the gallery's rows, such as files of pictures; None: they have none."""

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields."""
        return {"classes": _held_labels(self.classes)}

    @classmethod
    def from_file(cls, values: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Fields that are not what the file holds."""
        return {"classes": _labels(facts["labels"], values["classes"])}

    def check(self) -> None:
        """Refuse what no file can say."""
        n, c = self.n_rows, len(self.classes)
        if self.k < 1 or self.k != self.codes.shape[1] or not 1 <= c <= n or not 1 <= self.n_neighbors <= n:
            raise FormatError(
                f"The model file says {c} identities, {n} rows and {self.space.k} components, which do not agree."
            )
        if not np.array_equal(np.unique(self.places), np.arange(c)):
            raise FormatError(f"The rows of the model file are not those of its {c} identities.")
        if len(np.unique(self.classes)) != c or not np.array_equal(np.sort(self.classes), self.classes):
            raise FormatError("The labels of the model file are not sorted, each once.")

    @property
    def n_rows(self) -> int:
        """Rows of the gallery."""
        return len(self.codes)

    @property
    def n_columns(self) -> int:
        """Numbers of a row."""
        return self.space.n_columns

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Their names."""
        return self.space.columns

    @property
    def k(self) -> int:
        """Coordinates in which rows are compared."""
        return self.space.k - self.drop_first

    @property
    def provenance(self) -> Provenance:
        """Where the space comes from."""
        return self.space.provenance

    @property
    def reached(self) -> bool:
        """Whether the components are as accurate as was asked."""
        return self.space.reached

    @property
    def rows_of_each(self) -> Indices:
        """(c,) rows of each identity."""
        return np.bincount(self.places, minlength=len(self.classes)).astype(np.int64)

    def trial_rates(self, level: float = 0.95) -> dict[str, Rate]:
        """How often the rules would have been wrong about the gallery itself, had each row been a new one.

        Strangers let in; people of the gallery turned away, or taken for somebody else; rows said to lie outside.
        """
        trial = self.trial
        if trial is None:
            return {}
        found = {}
        reach = np.inf if self.max_distance is None else self.max_distance
        if self.max_distance is not None:
            found["strangers let in"] = Rate.of_all(trial.strangers <= reach, level)
            found["own people turned away"] = Rate.of_all(trial.nearest > reach, level)
        found["own people mistaken"] = Rate.of_all((trial.nearest <= reach) & ~trial.right, level)
        if self.least_density is not None and trial.densities is not None:
            found["rows said to lie outside"] = Rate.of_all(trial.densities < self.least_density, level)
        return found


NUMBERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
"""Types of labels that are kept as numbers; texts are kept as texts."""


def _held_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as a file holds them."""
    if classes.dtype.kind in "UO":
        if not all(isinstance(label, str) for label in classes.tolist()):
            raise BadInput("Labels must be texts or numbers to be kept in a model file, but some are neither.")
        return pack_texts(tuple(classes.tolist()))
    if classes.dtype.name not in NUMBERS:
        raise BadInput(f"Labels of type {classes.dtype} cannot be kept in a model file; make them texts or numbers.")
    return classes.astype(np.float64 if classes.dtype.kind == "f" else np.int64)


def _labels(kind: Any, held: NDArray[Any] | None) -> NDArray[Any]:
    """Labels of a type that a file names, from what it holds."""
    texts = unpack_texts(held) if held is not None and kind in ("str", "object") else None
    if texts is not None:
        return np.array(texts, dtype=np.str_ if kind == "str" else object)
    number = np.float64 if kind in ("float32", "float64") else np.int64
    if held is not None and held.ndim == 1 and held.dtype == number and kind in NUMBERS and np.isfinite(held).all():
        return held.astype(kind)
    raise FormatError(f"The model file has no labels of the type that it says, {reprlib.repr(kind)}.")


RECORD = RecogniserFit
