"""The record of a recogniser: the space of the gallery, its rows in there, and when a row is turned away."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit, Provenance
from lowdim.results.rates import Rate

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

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
    places: Places = field(repr=False)
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
    def rows_of_each(self) -> Places:
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
