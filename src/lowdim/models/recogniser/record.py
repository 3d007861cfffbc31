"""The record of a recogniser: its space, its gallery, its rates with intervals; and how a model file keeps it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.results.container import Check, array, facts, flag, mapping, number, one_of, optional, pair, text, whole
from lowdim.results.record import Arrays, LinearFit, Provenance, pack_linear, pack_names, unpack_linear, unpack_names
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

    strangers: Floats
    """(n,) distance of each row to the nearest of other people, its own person left out: a stranger's."""
    densities: Floats | None
    """(n,) log-likelihood of each row in the space of other people; None: the model has no density."""
    nearest: Floats
    """(h,) distance to the nearest row, of those rows whose person has others in the gallery."""
    right: NDArray[np.bool_]
    """(h,) whether that is a row of the same person."""
    folds: tuple[int, int]
    """Into how many parts people, and rows, were divided."""


@dataclass(frozen=True, eq=False)
class RecogniserFit:
    """A gallery in the space of its components."""

    space: LinearFit
    """PCA of the gallery, with variances that divide by n: those of probabilistic PCA."""
    metric: str
    drop_first: int
    n_neighbors: int
    codes: Floats = field(repr=False)
    """(n, k − drop_first) rows of the gallery, in the coordinates in which Euclid's distance is the metric's."""
    places: Indices = field(repr=False)
    """(n,) which of the classes each is."""
    classes: NDArray[Any] = field(repr=False)
    """(c,) labels, sorted."""
    unknown: Any
    """What is said of rows that are turned away; None: no row is."""
    max_distance: float | None
    """Rows further than this from all of the gallery are nobody of it; None: all are somebody."""
    least_density: float | None
    """Rows less likely than this do not belong to the space at all; None: all do."""
    reject: float | None
    """Share of strangers that the distance was to let in; None: it was given, or there is none."""
    reject_outside: float | None
    """Share of the gallery's kind of rows that the log-likelihood was to turn away."""
    trial: Trial | None = None
    """None: nothing had to be tried."""
    names: tuple[str, ...] | None = field(default=None, repr=False)
    """(n,) names of the gallery's rows, such as files of pictures; None: they have none."""

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


# A recogniser as facts and arrays of a model file, and back.

NUMBERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
"""Types of labels that are kept as numbers; texts are kept as texts."""

FIT: dict[str, Check] = {
    "space": mapping,
    "metric": one_of(*METRICS),
    "drop_first": whole,
    "n_neighbors": whole,
    "n_classes": whole,
    "labels": one_of("str", "object", *NUMBERS),
    "unknown": lambda value: value is None or text(value) or number(value),
    "max_distance": optional(number),
    "least_density": optional(number),
    "reject": optional(number),
    "reject_outside": optional(number),
    "trial": optional(mapping),
}

TRIAL = {"seen": whole, "folds": pair(whole), "dense": flag}


def pack_recogniser(fit: RecogniserFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    space, arrays = pack_linear(fit.space)
    arrays |= {"codes": fit.codes, "places": fit.places, "classes": _packed(fit.classes)}
    if fit.names is not None:
        arrays["names"] = pack_names(fit.names)
    trial = None
    if fit.trial is not None:
        tried = fit.trial
        arrays |= {"strangers": tried.strangers, "nearest": tried.nearest, "right": tried.right.astype(np.int64)}
        if tried.densities is not None:
            arrays["densities"] = tried.densities
        trial = {"seen": len(tried.nearest), "folds": list(tried.folds), "dense": tried.densities is not None}
    unknown = fit.unknown.item() if isinstance(fit.unknown, np.generic) else fit.unknown
    known = {
        "space": space,
        "metric": fit.metric,
        "drop_first": fit.drop_first,
        "n_neighbors": fit.n_neighbors,
        "n_classes": len(fit.classes),
        "labels": "str" if fit.classes.dtype.kind == "U" else fit.classes.dtype.name,
        "unknown": unknown,
        "max_distance": fit.max_distance,
        "least_density": fit.least_density,
        "reject": fit.reject,
        "reject_outside": fit.reject_outside,
        "trial": trial,
    }
    return known, arrays


def unpack_recogniser(given: Any, arrays: Mapping[str, NDArray[Any]]) -> RecogniserFit:
    """The fit that `pack_recogniser` took apart."""
    known = facts(given, "fit", FIT)
    space = unpack_linear(known["space"], arrays)
    n, c, drop = space.n_rows, known["n_classes"], known["drop_first"]
    if drop >= space.k or not 1 <= c <= n or not 1 <= known["n_neighbors"] <= n:
        raise FormatError(f"The model file says {c} identities, {n} rows and {space.k} components, which do not agree.")
    places = array(arrays, "places", (n,), np.int64)
    if not np.array_equal(np.unique(places), np.arange(c)):
        raise FormatError(f"The rows of the model file are not those of its {c} identities.")
    return RecogniserFit(
        space=space,
        metric=known["metric"],
        drop_first=drop,
        n_neighbors=known["n_neighbors"],
        codes=array(arrays, "codes", (n, space.k - drop)),
        places=places,
        classes=_unpacked(known["labels"], arrays, c),
        unknown=known["unknown"],
        max_distance=_real(known["max_distance"]),
        least_density=_real(known["least_density"]),
        reject=_real(known["reject"]),
        reject_outside=_real(known["reject_outside"]),
        trial=None if known["trial"] is None else _trial(known["trial"], arrays, n),
        # only pictures and texts have them, and not in files of earlier versions
        names=unpack_names({"columns": arrays["names"]}, n) if "names" in arrays else None,
    )


def _trial(given: Any, arrays: Mapping[str, NDArray[Any]], n: int) -> Trial:
    known = facts(given, "trial", TRIAL)
    seen = known["seen"]
    return Trial(
        strangers=array(arrays, "strangers", (n,)),
        densities=array(arrays, "densities", (n,)) if known["dense"] else None,
        nearest=array(arrays, "nearest", (seen,)),
        right=array(arrays, "right", (seen,), np.int64).astype(bool),
        folds=(known["folds"][0], known["folds"][1]),
    )


def _packed(classes: NDArray[Any]) -> NDArray[Any]:
    if classes.dtype.kind in "UO":
        if not all(isinstance(label, str) for label in classes.tolist()):
            raise BadInput("Labels must be texts or numbers to be kept in a model file, but some are neither.")
        return pack_names(tuple(classes.tolist()))
    if classes.dtype.name not in NUMBERS:
        raise BadInput(f"Labels of type {classes.dtype} cannot be kept in a model file; make them texts or numbers.")
    return classes.astype(np.float64 if classes.dtype.kind == "f" else np.int64)


def _unpacked(kind: str, arrays: Mapping[str, NDArray[Any]], c: int) -> NDArray[Any]:
    if kind in ("str", "object"):
        names = unpack_names({"columns": arrays.get("classes", np.zeros(0))}, c)
        classes = np.array(names, dtype=np.str_ if kind == "str" else object)
    else:
        stored = array(arrays, "classes", (c,), np.float64 if kind.startswith("float") else np.int64)
        classes = stored.astype(kind)
    if len(np.unique(classes)) != c or not np.array_equal(np.sort(classes), classes):
        raise FormatError("The labels of the model file are not sorted, each once.")
    return classes


def _real(value: Any) -> float | None:
    return None if value is None else float(value)
