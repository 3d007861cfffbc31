"""Shares of counted trials, and numbers, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """A number with an interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """`count` of `of` trials, with Wilson's score interval, which takes the trials as independent."""

    count: int
    of: int
    level: float = 0.95

    @classmethod
    def of_all(cls, hits: Any, level: float = 0.95) -> Rate:
        """The share of a list of flags that are true."""
        flags = np.asarray(hits, dtype=bool)
        return cls(int(flags.sum()), len(flags), level)

    @property
    def value(self) -> float:
        """The share; NaN of no trials."""
        return self.count / self.of if self.of else math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._interval[1]

    @property
    def _interval(self) -> tuple[float, float]:
        """Wilson 1927: all shares π whose score test, (π̂ − π)² ≤ z² π (1 − π) / n, does not refuse them."""
        if not self.of:
            return math.nan, math.nan
        z = NormalDist().inv_cdf(0.5 + self.level / 2)
        n, share = self.of, self.value
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        # the ends are 0 and 1 exactly where nothing, or all, was hit
        return 0.0 if self.count == 0 else middle - half, 1.0 if self.count == n else middle + half
