"""The one loop of every iterative solver: step, look, stop; and Anderson's acceleration of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

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
    """What an iterative solver carries from step to step."""

    @property
    def finished(self) -> bool:
        """Whether the answer is good enough."""


S = TypeVar("S", bound=State)


def iterate(state: S, step: Callable[[S], S], most: int, observe: Callable[[S], None] | None = None) -> S:
    """Step until the state says that it is finished, or `most` steps were made."""
    for _ in range(most):
        if state.finished:
            break
        state = step(state)
        if observe is not None:
            observe(state)
    return state
