"""The one loop of every iterative solver: step, look, stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar


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
