"""L-BFGS: minimise by the gradient and the curvature seen along the last few steps.

Nocedal 1980, "Updating quasi-Newton matrices with limited storage"; the two loops of Nocedal & Wright 2006, "Numerical
optimization", algorithm 7.4, about any first guess of the inverse curvature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lowdim.solvers.iterate import iterate
from lowdim.types import Floats

REMEMBERED_STEPS = 20
"""Steps that are remembered."""

MAX_SHORTER_STEPS = 30
"""Shorter steps that are tried before a search gives up: it is at the rounding of the loss by then."""

MIN_DECREASE = 1e-4
"""Share of the decrease that the gradient promises which a step must bring (Armijo's rule)."""

AVERAGED_STEPS = 5
"""Steps over which a decrease is averaged before it is called small: single ones may be small by chance."""

MIN_CURVATURE_COSINE = 1e-10
"""Cosine between a step and the change of the gradient below which it says nothing: noise, or a function that curves
downwards."""


@dataclass(frozen=True)
class Slope:
    """What is minimised, and its gradient: sums over rows, so that blocks add up."""

    loss: float
    gradient: Floats

    def add(self, other: Slope) -> Slope:
        """Sums over both sets of rows, in this one's memory."""
        self.gradient[:] += other.gradient
        return replace(self, loss=self.loss + other.loss)


@dataclass(frozen=True)
class Curvature:
    """An inverse curvature: a first guess, corrected by what was seen along the last steps."""

    guess: Callable[[Floats], Floats]
    """Inverse curvature times a gradient; symmetric and positive."""
    steps: tuple[Floats, ...] = ()
    changes: tuple[Floats, ...] = ()
    """Of the gradient, by each of the steps."""

    def after(self, step: Floats, change: Floats) -> Curvature:
        """With one more step; only the last few are kept."""
        if _dot(step, change) <= MIN_CURVATURE_COSINE * np.linalg.norm(step) * np.linalg.norm(change):
            return self
        return replace(
            self, steps=(*self.steps, step)[-REMEMBERED_STEPS:], changes=(*self.changes, change)[-REMEMBERED_STEPS:]
        )

    def direction(self, gradient: Floats) -> Floats:
        """−(inverse curvature) gradient: where the minimum is expected."""
        pairs = list(zip(self.steps, self.changes, strict=True))
        left, shares = gradient.copy(), []
        for step, change in reversed(pairs):
            shares.append(_dot(step, left) / _dot(step, change))
            left -= shares[-1] * change
        found = self.guess(left)
        if pairs:
            step, change = pairs[-1]
            found = found * (_dot(step, change) / _dot(change, self.guess(change)))
        for (step, change), share in zip(pairs, reversed(shares), strict=True):
            found = found + (share - _dot(change, found) / _dot(step, change)) * step
        return -found


@dataclass(frozen=True)
class Search:
    """A point, its slope, and the curvature as seen along the steps so far."""

    point: Floats
    slope: Slope
    curvature: Curvature
    tol: float
    """Decrease in a step that is taken for none, as a share of what lies above the floor."""
    floor: float
    """What the loss is at least."""
    path: tuple[float, ...]
    """Losses, of the start and after every step: they never rise."""
    looks: int = 1
    """Slopes that were computed."""
    stuck: bool = False
    """Whether nothing is gained any more along any direction: the loss is minimal to its rounding."""

    @property
    def finished(self) -> bool:
        """Whether the last steps brought next to nothing."""
        if len(self.path) <= AVERAGED_STEPS:
            return self.stuck
        return self.stuck or self.path[-1 - AVERAGED_STEPS] - self.path[-1] <= AVERAGED_STEPS * self.tol * abs(
            self.path[-1] - self.floor
        )

    @property
    def distance(self) -> float:
        """How many times what counts as nothing the last steps brought."""
        if len(self.path) <= AVERAGED_STEPS:
            return math.nan
        nothing = AVERAGED_STEPS * self.tol * abs(self.path[-1] - self.floor)
        return (self.path[-1 - AVERAGED_STEPS] - self.path[-1]) / nothing if nothing else math.nan


def minimise(
    start: Floats,
    slope_at: Callable[[Floats], Slope],
    guess: Callable[[Floats], Floats],
    tol: float,
    most: int,
    observe: Callable[[Search], None] | None = None,
    floor: float = 0.0,
) -> Search:
    """Go down from a point until the loss stands still, or after so many steps."""
    slope = slope_at(start)
    state = Search(start, slope, Curvature(guess), tol, floor, (slope.loss,))
    return iterate(state, partial(take_step, slope_at=slope_at), most, observe)


def take_step(state: Search, slope_at: Callable[[Floats], Slope]) -> Search:
    """One step, shortened until it brings enough; a loss that is not finite is none that is enough."""
    direction = state.curvature.direction(state.slope.gradient)
    promised = _dot(direction, state.slope.gradient)
    length = 1.0
    looks = state.looks
    for _ in range(MAX_SHORTER_STEPS):
        slope = slope_at(state.point + length * direction)
        looks += 1
        if slope.loss <= state.slope.loss + MIN_DECREASE * length * promised:
            break
        length *= _choose_shorter_step(slope.loss - state.slope.loss, length * promised)
    else:
        return replace(state, stuck=True, looks=looks)
    curvature = state.curvature.after(length * direction, slope.gradient - state.slope.gradient)
    point = state.point + length * direction
    return replace(state, point=point, slope=slope, curvature=curvature, path=(*state.path, slope.loss), looks=looks)


def _choose_shorter_step(rise: float, promised: float) -> float:
    """Share of a step at which the parabola through what is known has its minimum."""
    return float(np.clip(-promised / (2.0 * (rise - promised)), 0.1, 0.5)) if np.isfinite(rise) else 0.1


def _dot(one: Floats, other: Floats) -> float:
    return float(np.vdot(one, other))
