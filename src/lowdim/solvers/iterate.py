"""The one loop of every iterative solver: step, look, stop; and Anderson's acceleration of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from lowdim.runtime.progress import stage
from lowdim.types import Floats

# Anderson's acceleration of a fixed-point iteration: extrapolate from the last few steps.
#
# Anderson 1965, "Iterative procedures for nonlinear integral equations"; in the notation of Walker & Ni 2011,
# "Anderson acceleration for fixed-point iterations": of all combinations of the last steps, take that of the smallest
# residual.

REMEMBERED_STEPS = 5
"""Steps that are remembered."""

RELATIVE_RIDGE = 1e-8
"""Weight of the coefficients' size against that of the residual: steps in one direction determine no combination."""


@dataclass(frozen=True)
class History:
    """Points of the last steps, and how far the iteration took each of them."""

    points: tuple[Floats, ...] = ()
    moves: tuple[Floats, ...] = ()

    def after(self, point: Floats, image: Floats) -> History:
        """With one more step, from a point to its image; only the last few are kept."""
        return History(
            (*self.points, point)[-REMEMBERED_STEPS - 1 :], (*self.moves, image - point)[-REMEMBERED_STEPS - 1 :]
        )

    def extrapolated(self) -> Floats | None:
        """Where the iteration seems to lead to; None before there are two steps."""
        if len(self.points) < 2:
            return None
        point, move = self.points[-1], self.moves[-1]
        steps = np.diff(np.array(self.points), axis=0)
        changes = np.diff(np.array(self.moves), axis=0)
        gram = changes @ changes.T
        gram[np.diag_indices_from(gram)] += RELATIVE_RIDGE * np.trace(gram) / len(gram) + np.finfo(float).tiny
        share = np.linalg.solve(gram, changes @ move)
        found: Floats = point + move - share @ (steps + changes)
        return found


# The one loop of every iterative solver: step, look, stop.


class State(Protocol):
    """What an iterative solver carries from step to step.

    A state may have a `distance`: by what factor it is from being finished, 1 or less where it is; NaN where it does
    not know. From how it falls it is told how many steps there will be. Where several steps are made at once it
    has `steps_done`: how many were made before it.
    """

    @property
    def finished(self) -> bool:
        """Whether the answer is good enough."""


S = TypeVar("S", bound=State)

LOOKS = 4
"""Distances that are needed to tell how they fall."""

LIKELY_STEPS = 200
"""Steps that are expected before anything is known, of as many or more."""

INERTIA = 0.95
"""Share of what was expected before a step in what is expected after it: distances fall by fits and starts."""


def iterate(
    state: S,
    step: Callable[[S], S],
    most: int,
    observe: Callable[[S], None] | None = None,
    name: str = "step",
    likely: float = LIKELY_STEPS,
) -> S:
    """Step until the state says that it is finished, or `most` steps were made.

    Whoever watches is told after every step, with about how many there will be, `likely` ones at first, and may ask for
    no more of them, as if there were no more to be made.
    """
    distances: list[tuple[int, float]] = []
    expected = float(min(likely, most))
    with stage(name, most=most or None) as tell:
        done = 0
        while done < most and not state.finished:
            before = getattr(state, "steps_done", 0)
            state = step(state)
            done += max(1, getattr(state, "steps_done", 0) - before)
            if observe is not None:
                observe(state)
            distance = getattr(state, "distance", math.nan)
            if distance > 0 and math.isfinite(distance):
                distances.append((done, math.log(distance)))
                expected = INERTIA * expected + (1 - INERTIA) * expect_steps(distances, most)
            if tell(done, expected):
                break
    return state


def expect_steps(distances: Sequence[tuple[int, float]], most: int) -> float:
    """About how many steps there will be, from the logarithms of distances after some of them.

    In their later half they fell with the steps, or with the logarithm of the number of steps: the geometric mean of
    what the two foretell, the one too soon for most solvers and the other too late.
    """
    if len(distances) < LOOKS:
        return min(LIKELY_STEPS, most)
    (then, before), (now, here) = distances[len(distances) // 2 - 1], distances[-1]
    if here <= 0:
        return now
    if not here < before:
        return min(2 * now, most)
    soon = now + here * (now - then) / (before - here)
    late = math.log(now) + here * math.log(now / then) / (before - here)
    return math.sqrt(min(soon, most) * math.exp(min(late, math.log(most))))
