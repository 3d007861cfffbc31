"""Pre-images of a Gaussian kernel by the fixed point of Mika, Schölkopf, Smola, Müller, Scholz & Rätsch 1999
("Kernel PCA and de-noising in feature spaces").

With all φ of one length, |φ(z) − P|² is least where h(z) = ⟨φ(z), P⟩ = Σⱼ gⱼ k(z, bⱼ) is largest. Its gradient is

    ∇h = 2 gamma h(z) (target − z),    target = Σⱼ gⱼ k(z, bⱼ) bⱼ / h(z),

so that going to the target is a step uphill wherever h > 0. With weights that are not all positive the whole way may
be too far, and h lower there: the step is then halved, which makes every step taken one that brings z nearer to P.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.kernel_functions import Gaussian
from lowdim.solvers.iterate import iterate
from lowdim.solvers.preimage_distances import Distances, gaussian
from lowdim.solvers.projections import Projections

Floats = NDArray[np.float64]

CANCELLED = 1e-12
"""Share of Σ|gⱼ| k(z, bⱼ) below which its sum without the bars is rounding: the target would be anywhere."""

ROUNDING = 4 * float(np.finfo(float).eps)
"""The same share, of what adding up may change: steps that lower the sum by less are not refused."""

LEAST_STEP = 2.0**-20
"""Share of the way to the target after which a climb gives up: what is lower that near is so by rounding."""


@dataclass(frozen=True)
class FixedPoint:
    """The way of Mika and others, for Gaussian kernels."""

    tol: float = 1e-6
    """A step shorter than this, relative to the spread of the basis rows, is the last."""
    most: int = 100
    """Steps, at most."""

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images, climbing from rows (m, p) such as those to be denoised, or else from `second_starts`.

        A row to be denoised is brought to the top of its own hill, be it the highest or not: with few components, which
        tell only some clusters of rows apart, the highest stands for others than the row's. Rows with no way up (the
        denominator vanishes) climb from the second start.
        """
        if starts is None:
            return self.climb(projections, second_starts(projections))[0]
        found, led = self.climb(projections, starts)
        if not led.all():
            lost = projections.only(~led)
            found[~led] = self.climb(lost, second_starts(lost))[0]
        return found

    def climb(self, projections: Projections, starts: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """(m, p) where the climbs from the starts (m, p) end, and (m,) whether there was a way up from the start."""
        basis = projections.basis
        middle = basis.mean(axis=0)  # distances stay, and keep their digits
        moved = basis - middle
        spread = float(np.sqrt(np.einsum("ij,ij->", moved, moved) / len(basis)))
        hill = Hill(projections.weights, moved, gaussian(projections.kernel))
        begun = Climb.at(starts - middle, hill)
        end = iterate(begun, lambda state: state.stepped(self.tol * spread), self.most)
        led = np.zeros(len(starts), dtype=bool)
        led[begun.going] = True
        return np.asarray(end.best + middle), led


def second_starts(projections: Projections) -> Floats:
    """(m, p) what distances tell, or the nearest candidate where that is nearer to the projection."""
    nearest = projections.candidates.rows[projections.nearest]
    placed = Distances().rows(projections)
    better = projections.distances(placed) < projections.distances(nearest)
    return np.where(better[:, None], placed, nearest)


class View(NamedTuple):
    """What is seen at m places."""

    heights: Floats
    """(m,) h"""
    rounding: Floats
    """(m,) what heights may be wrong by."""
    targets: Floats
    """(m, p) NaN where there is no telling."""

    @property
    def led(self) -> NDArray[np.bool_]:
        """(m,) where there is a target."""
        return np.asarray(np.isfinite(self.targets).all(axis=1))


@dataclass(frozen=True)
class Hill:
    """h of several projections."""

    weights: Floats
    basis: Floats
    kernel: Gaussian

    def looked_at(self, z: Floats, which: NDArray[np.intp]) -> View:
        """Heights at z (m, p) on the hills `which`, and what way to go from there."""
        terms = self.kernel.between(z, self.basis)
        terms *= self.weights[which]
        heights, sizes = terms.sum(axis=1), np.abs(terms).sum(axis=1)
        divisors = np.where(heights > CANCELLED * sizes, heights, np.nan)[:, None]
        return View(heights, ROUNDING * sizes, terms @ self.basis / divisors)


@dataclass(frozen=True)
class Climb:
    """The state of all climbs; those that have ended are only kept."""

    hill: Hill
    best: Floats
    """(m, p) where they stand."""
    heights: Floats
    """(m,) h there."""
    going: NDArray[np.intp]
    """(a,) which have not ended."""
    targets: Floats
    """(a, p) of those."""
    steps: Floats
    """(a,) share of the way to the target that is tried next."""

    @classmethod
    def at(cls, starts: Floats, hill: Hill) -> Climb:
        """Before the first step."""
        everyone = np.arange(len(starts))
        seen = hill.looked_at(starts, everyone)
        return cls(hill, starts, seen.heights, everyone[seen.led], seen.targets[seen.led], np.ones(int(seen.led.sum())))

    @property
    def finished(self) -> bool:
        """Whether all have ended."""
        return not len(self.going)

    def stepped(self, short: float) -> Climb:
        """After one look at the place that each goes to; climbs whose way there is shorter than `short` end."""
        here = self.best[self.going]
        way = self.steps[:, None] * (self.targets - here)
        seen = self.hill.looked_at(here + way, self.going)
        up = (seen.heights >= self.heights[self.going] - seen.rounding) & seen.led
        best, known = self.best.copy(), self.heights.copy()
        best[self.going[up]], known[self.going[up]] = (here + way)[up], seen.heights[up]
        steps = np.where(up, 1.0, self.steps / 2)
        on = (np.linalg.norm(way, axis=1) > short) & (steps > LEAST_STEP)
        next_targets = np.where(up[:, None], seen.targets, self.targets)
        return replace(self, best=best, heights=known, going=self.going[on], targets=next_targets[on], steps=steps[on])
