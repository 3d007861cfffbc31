"""Distances of probes from identities as curves: genuine pairs against impostors, people against strangers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.rates import Estimate, Rate
from lowdim.results.recognition import Flags, Floats, OpenSet, Verification

Places = NDArray[np.int64]

FEWEST_PEOPLE = 10
"""Of fewer people intervals cannot be drawn person by person."""


@dataclass(frozen=True)
class Pairs:
    """Distances of pairs, sorted into steps of equal distance, so that each drawing only has to count."""

    steps: Floats
    """(t,) distances, rising, each once."""
    genuine: Places
    """(g,) step of each genuine pair, and …"""
    genuine_of: Places
    """(g,) the unit (person or probe) that it is drawn with."""
    impostor: Places
    impostor_of: Places

    def curves(self, weight: Floats) -> tuple[Floats, Floats]:
        """False and true accepts (t,) up to each step, as shares, where units count so often, (u,)."""
        shares = []
        for step, unit in ((self.impostor, self.impostor_of), (self.genuine, self.genuine_of)):
            running = np.cumsum(np.bincount(step, weight[unit], minlength=len(self.steps)))
            shares.append(running / running[-1])
        return shares[0], shares[1]


def area(false_accept: Floats, true_accept: Floats) -> float:
    """Area under the curve, by trapezia: ties of genuine and impostor pairs count half (Bamber 1975)."""
    return float(np.trapezoid(np.concatenate([[0.0], true_accept]), np.concatenate([[0.0], false_accept])))


def equal_error(false_accept: Floats, true_accept: Floats) -> float:
    """Where false accepts and false refusals are as many, on the line between two points of the curve."""
    accept, refuse = np.concatenate([[0.0], false_accept]), np.concatenate([[1.0], 1.0 - true_accept])
    after = int(np.argmax(accept >= refuse))  # accept rises to 1, refuse falls to 0
    gap = refuse - accept
    share = gap[after - 1] / (gap[after - 1] - gap[after])
    return float(accept[after - 1] + share * (accept[after] - accept[after - 1]))


def verification(
    distances: Floats, own: Places, person: Places, level: float, draws: int, rng: np.random.Generator
) -> Verification | None:
    """The curve of all pairs of probes and identities, distances (m, c); None if there are not pairs of both kinds.

    `own` (m,) is the identity that each probe belongs to, −1 for strangers, `person` (m,) whose each is, strangers
    told apart. Pairs with one probe share it, so that formulas for independent pairs (DeLong & al. 1988) do not hold:
    people are drawn again and again instead, with all that is theirs (the bootstrap, clustered).
    """
    is_own = np.zeros(distances.shape, dtype=bool)
    known = own >= 0
    is_own[np.flatnonzero(known), own[known]] = True
    if not is_own.any() or is_own.all():
        return None
    by_person = len(np.unique(person)) >= FEWEST_PEOPLE
    unit = np.unique(person, return_inverse=True)[1] if by_person else np.arange(len(person))
    steps, place = np.unique(distances, return_inverse=True)
    place = place.reshape(distances.shape)
    units = np.broadcast_to(unit[:, None], distances.shape)
    pairs = Pairs(steps, place[is_own], units[is_own], place[~is_own], units[~is_own])
    count = int(unit.max()) + 1
    false_accept, true_accept = pairs.curves(np.ones(count))
    found = _drawn(pairs, count, draws, rng)
    areas, errors = (_interval(values, level) for values in found.T)
    return Verification(
        thresholds=steps,
        false_accept=false_accept,
        true_accept=true_accept,
        genuine=len(pairs.genuine),
        impostor=len(pairs.impostor),
        auc=Estimate(area(false_accept, true_accept), *areas),
        equal_error=Estimate(equal_error(false_accept, true_accept), *errors),
        resampled="identity" if by_person else "probe",
        draws=draws,
    )


def _drawn(pairs: Pairs, count: int, draws: int, rng: np.random.Generator) -> Floats:
    """(draws, 2) area and equal error rate, each time of as many units drawn anew."""
    found = np.empty((draws, 2))
    for i in range(draws):
        while True:
            weight = np.bincount(rng.integers(count, size=count), minlength=count).astype(np.float64)
            if weight[pairs.genuine_of].any() and weight[pairs.impostor_of].any():
                break
        curves = pairs.curves(weight)
        found[i] = area(*curves), equal_error(*curves)
    return found


def _interval(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)


def cumulative_matches(distances: Floats, own: Places) -> Floats:
    """(c,) share of probes whose own identity is among the 1, …, c nearest; of equally near ones it is the last."""
    known = own >= 0
    mine = np.take_along_axis(distances[known], own[known][:, None], axis=1)
    rank = (distances[known] <= mine).sum(axis=1)
    return np.asarray(np.cumsum(np.bincount(rank, minlength=distances.shape[1] + 1)[1:]) / known.sum())


def open_set(nearest: Floats, right: Flags, known: Flags, levels: Sequence[float], level: float) -> OpenSet | None:
    """What a rising limit of the distance lets in, (m,) distances to the nearest; None without strangers or others."""
    if known.all() or not known.any():
        return None
    steps = np.unique(nearest)
    strangers, found = np.sort(nearest[~known]), np.sort(nearest[known & right])
    false_accept = np.searchsorted(strangers, steps, side="right") / len(strangers)
    identified = np.searchsorted(found, steps, side="right") / known.sum()
    at = {}
    for share in levels:
        if share * len(strangers) < 1:  # too few strangers to tell it from none
            continue
        fine = false_accept <= share
        best = float(identified[fine].max(initial=0.0))
        at[share] = Rate(round(best * int(known.sum())), int(known.sum()), level)
    return OpenSet(false_accept, identified, at)
