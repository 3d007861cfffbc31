"""Which rows are set aside: those whose number has the smallest hashes, exactly as many as asked for.

It follows from the seed and the number of rows alone: the same rows from an array, a file or a cluster are split alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_ASIDE = 10_000
"""Rows set aside, at most: the mean loss of so many is known to one part in a hundred …"""

MOST_ASIDE_BYTES = 2**27
"""… and at most so many bytes of them, as they are kept in memory."""

LEAST_ASIDE = 10
"""Fewer would tell nothing: none are set aside."""

STRETCH = 2**18
"""Numbers that are hashed at a time."""


def count_aside(share: float, n: int, p: int) -> int:
    """Rows of n, with p columns, that are set aside where a share was asked for; at least one is left to learn from."""
    wanted = min(round(share * n), MOST_ASIDE, MOST_ASIDE_BYTES // (4 * p), n - 1)
    return wanted if wanted >= LEAST_ASIDE else 0


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows set aside."""

    n: int
    n_aside: int
    seed: int
    bound: int
    """The largest hash of a row set aside."""

    @property
    def n_train(self) -> int:
        """Rows to learn from."""
        return self.n - self.n_aside

    def aside(self, start: int, stop: int) -> NDArray[np.bool_]:
        """(stop − start,) which of these rows are set aside."""
        if not self.n_aside:
            return np.zeros(stop - start, dtype=bool)
        chosen: NDArray[np.bool_] = hashed(start, stop, self.seed) <= np.uint64(self.bound)
        return chosen

    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the rows to learn from, and of those set aside."""
        masks = np.concatenate([self.aside(start, stop) for start, stop in _stretches(self.n)])
        return np.flatnonzero(~masks), np.flatnonzero(masks)


def split(n: int, n_aside: int, seed: int) -> Split:
    """Set so many of n rows aside. No two numbers have the same hash, so that a bound tells them exactly."""
    smallest = np.zeros(0, np.uint64)
    for start, stop in _stretches(n if n_aside else 0):
        smallest = np.concatenate([smallest, hashed(start, stop, seed)])
        if len(smallest) > n_aside:
            smallest = np.partition(smallest, n_aside - 1)[:n_aside]
    return Split(n, n_aside, seed, int(smallest.max()) if n_aside else 0)


def hashed(start: int, stop: int, seed: int) -> NDArray[np.uint64]:
    """SplitMix64 of numbers (Steele, Lea & Flood 2014), under which neighbours have nothing in common."""
    x = np.arange(start + 1, stop + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x += np.random.SeedSequence(seed).generate_state(1, np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed


def _stretches(n: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, STRETCH):
        yield start, min(n, start + STRETCH)
