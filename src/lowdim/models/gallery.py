"""Rows with labels in the space of their components, and what they say of thresholds when some are left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, LowdimWarning, SingularModel
from lowdim.models.pca import PCA
from lowdim.results.recogniser import Trial
from lowdim.solvers.matching import coordinates, nearest_rows

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

PEOPLE_PARTS = 20
"""Into so many parts people are divided, each in turn strangers to the others: few, and the rest would be too small."""

ROW_PARTS = 5
"""Into so many parts the rows of each person are divided, each in turn seen for the first time."""


@dataclass(frozen=True)
class SpaceTask:
    """A space that is to be found, and how rows are compared in it."""

    n_components: Any
    scale: Any
    metric: str
    drop_first: int
    seed: Any

    def space(self, rows: Any, most: int | None = None) -> PCA:
        """PCA of rows; of `most` components at most, where fewer rows than the gallery has could not give more."""
        k = self.n_components
        if most is not None and isinstance(k, (int, np.integer)):
            k = min(int(k), most)
        # variances that divide by n are those of probabilistic PCA (Tipping & Bishop 1999, eqs. 7 and 8), whose density
        # is Moghaddam & Pentland's 1997, eqs. 8 to 11
        return PCA(k, scale=self.scale, ddof=0, random_state=self.seed).fit(rows)

    def codes(self, space: PCA, rows: Any) -> Floats:
        """(n, k − drop_first) coordinates of rows."""
        fit = space.fit_
        if self.drop_first >= fit.k:
            raise BadParameter.of(
                "Recogniser", "drop_first", self.drop_first, f"below the number of components, {fit.k}: none is left"
            )
        scores = np.asarray(space.transform(rows), dtype=np.float64)
        return coordinates(scores, fit.whitening, self.metric, self.drop_first)


def tried(rows: Any, places: Places, task: SpaceTask, rng: np.random.Generator) -> Trial:
    """What rows (n, p) of these people (n,) say of each other when some are left out, from components to distances.

    Distances of rows that the components were fitted to would be too small of a kind: n rows in n − 1 whitened
    dimensions are all equally far from each other.
    """
    strangers, densities = _as_strangers(rows, places, task, rng)
    nearest, right, parts = _as_new_rows(rows, places, task, rng)
    return Trial(strangers, densities, nearest, right, (min(PEOPLE_PARTS, int(places.max()) + 1), parts))


def _as_strangers(rows: Any, places: Places, task: SpaceTask, rng: np.random.Generator) -> tuple[Floats, Floats | None]:
    people = int(places.max()) + 1
    if people < 2:
        raise BadInput(
            "Recogniser: the gallery has one identity, and none is left to be a stranger to it: give two or more, or "
            "max_distance in place of reject."
        )
    part = rng.permutation(people) % min(PEOPLE_PARTS, people)
    found, densities = np.empty(len(places)), np.empty(len(places))
    for fold in range(int(part.max()) + 1):
        out = part[places] == fold
        space, codes, others = _left_out(rows, out, task)
        found[out] = nearest_rows(codes, others, task.metric, 1)[0][:, 0]
        try:
            densities[out] = space.score_samples(rows[out])
        except SingularModel:
            densities[out] = np.nan
    return found, None if np.isnan(densities).any() else densities


def _as_new_rows(
    rows: Any, places: Places, task: SpaceTask, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_], int]:
    part = _parts_of_each(places, rng)
    nearest, right = np.full(len(places), np.nan), np.zeros(len(places), dtype=bool)
    for fold in range(int(part.max()) + 1):
        out = part == fold
        _, codes, others = _left_out(rows, out, task)
        distances, which = nearest_rows(codes, others, task.metric, 1)
        nearest[out] = distances[:, 0]
        right[out] = places[~out][which[:, 0]] == places[out]
    seen = part >= 0
    return nearest[seen], right[seen], int(part.max()) + 1


def _parts_of_each(places: Places, rng: np.random.Generator) -> Places:
    """(n,) which part each row is in, drawn person by person; −1: the only row of its person."""
    part = np.full(len(places), -1, dtype=np.int64)
    for person in range(int(places.max()) + 1):
        own = rng.permutation(np.flatnonzero(places == person))
        if len(own) > 1:
            part[own] = np.arange(len(own)) % ROW_PARTS
    return part


def _left_out(rows: Any, out: NDArray[np.bool_], task: SpaceTask) -> tuple[PCA, Floats, Floats]:
    """The space of the other rows, and coordinates in it of those left out and of the others."""
    kept = rows[~out]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)  # the fit of all rows has said it
        space = task.space(kept, most=min(kept.shape[0] - 1, kept.shape[1]))
    return space, task.codes(space, rows[out]), task.codes(space, kept)


def furthest_accepted(strangers: Floats, share: float) -> float:
    """The largest distance that lets in no more than this share of strangers, judged by n of them, (n,).

    One more stranger is nearer than the r-th nearest of n with a chance of r / (n + 1), if all are exchangeable (as in
    conformal prediction, Vovk & al. 2005); so r is the largest for which this is no more than the share.
    """
    return float(np.nextafter(np.sort(strangers)[_rank(len(strangers), share) - 1], -np.inf))


def least_likely_accepted(densities: Floats, share: float) -> float:
    """The smallest log-likelihood that turns away no more than this share of rows, in the same way."""
    return float(np.sort(densities)[_rank(len(densities), share) - 1])


def _rank(n: int, share: float) -> int:
    """At least 1: n rows cannot promise a share below 1 / (n + 1)."""
    return max(1, int(np.floor(share * (n + 1))))
