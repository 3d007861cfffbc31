"""Laws that hold for everything that Hypothesis makes up: how many examples each is tried on, and their count.

The same examples on every run and machine: quickly a few, many under `slow`, as many as GOALS says under
`make check-full`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from hypothesis import HealthCheck, given, settings

from harness import many

HOW = settings(
    deadline=None,
    max_examples=20,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)

EXAMPLES = many(100, 500)
"""Of a law, under `slow`."""


class Laws:
    """The laws of a file; each runs as a test of its own, and again with many examples."""

    def __init__(self, quick: int) -> None:
        self._quick = settings(HOW, max_examples=quick)
        self.laws: list[Callable[[int], int]] = []
        """Each with a number of examples → how many were tried."""

    def for_all(self, *strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """A law holds for everything that these strategies make up."""

        def decorate(law: Callable[..., None]) -> Callable[..., None]:
            tried = 0

            @wraps(law)
            def counted(*args: Any, **kwargs: Any) -> None:
                nonlocal tried
                law(*args, **kwargs)
                tried += 1

            checked = given(*strategies)(counted)

            @wraps(law)
            def run(examples: int) -> int:
                nonlocal tried
                tried = 0
                settings(HOW, max_examples=examples)(checked)()
                return tried

            self.laws.append(run)
            return self._quick(given(*strategies)(law))

        return decorate
