"""Which rows observe the same columns: what depends on that alone is computed once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Patterns:
    """n rows sorted into u patterns of observed columns."""

    seen: NDArray[np.float64]
    """(u, p) 1 where the rows of a pattern have an entry, else 0."""
    order: NDArray[np.int64]
    """(n,) rows, those of the first pattern first."""
    starts: NDArray[np.int64]
    """(u + 1,) where the rows of each pattern begin in `order`."""

    @cached_property
    def of_row(self) -> NDArray[np.int64]:
        """(n,) pattern of each row."""
        of_row = np.empty_like(self.order)
        of_row[self.order] = np.repeat(np.arange(len(self.seen)), np.diff(self.starts))
        return of_row

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return len(self.seen) == 1 and bool(self.seen.all())


def patterns_of(seen: NDArray[np.float64], mark: NDArray[np.float64]) -> Patterns:
    """Patterns of rows (n, p), 1 where an entry was observed, else 0, with marks (n,) `seen @ marks_of(p)`."""
    n, p = seen.shape
    if seen.all():
        return Patterns(np.ones((1, p)), np.arange(n), np.array([0, n]))
    # rows of one pattern have the same mark; that the reverse holds too is checked
    order = np.argsort(mark, kind="stable")
    near = np.flatnonzero(mark[order[1:]] == mark[order[:-1]]) + 1
    if not len(near):
        return Patterns(seen, np.arange(n), np.arange(n + 1))
    same = np.zeros(n, dtype=bool)
    same[near] = (seen[order[near]] == seen[order[near - 1]]).all(axis=1)
    first = np.flatnonzero(~same)
    return Patterns(seen[order[first]], order, np.append(first, n))


@cache
def marks_of(p: int) -> NDArray[np.float64]:
    """(p,) random numbers, whose sum over observed columns marks a pattern."""
    return np.random.default_rng(0).random(p)
