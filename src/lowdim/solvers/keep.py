"""How many components to keep: a rule that is asked with the eigenvalues found so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from lowdim.errors import BadParameter
from lowdim.solvers.rank.minka import minka_dimension
from lowdim.types import Floats

SHARE_ROUNDING = 1e-12
"""A share is reached, and a bar is not passed, when it is missed by no more than this: the rounding of a sum."""


def too_many_components(owner: str, given: object, n: int | None, p: int) -> BadParameter:
    """The error for a number of components that the data cannot have."""
    most = p if n is None else min(n, p)
    shape = f"{p:,} columns" if n is None else f"{n:,} rows × {p:,} columns"
    return BadParameter.of(owner, "n_components", given, f"between 1 and {most:,} for {shape}")


class Keep(ABC):
    """A rule for the number of components."""

    needs_all: bool = False
    """Whether the rule can only be answered from the whole spectrum."""

    @abstractmethod
    def count(self, values: Floats, total: float) -> int | None:
        """Number of components, from the leading eigenvalues in descending order; None: more are needed."""

    @abstractmethod
    def at_least(self, values: Floats, total: float) -> int:
        """A number that the answer cannot be below, given the leading eigenvalues."""

    def for_rows(self, n_rows: int, weight: float) -> Keep:
        """The same rule, now that the number of rows and the sum of their weights are known."""
        return self

    @abstractmethod
    def describe(self) -> str:
        """The rule in words."""


@final
@dataclass(frozen=True)
class KeepCount(Keep):
    """A fixed number of components."""

    k: int
    most: int | None = None
    """Columns, where the number of rows was not known when the rule was made."""
    owner: str = ""
    """The model that asks, for errors."""

    def for_rows(self, n_rows: int, weight: float) -> Keep:
        """No more than there are rows: all of them if all were asked for, else an error."""
        if n_rows >= self.k:
            return self
        if self.k == self.most:
            return KeepCount(n_rows)
        raise too_many_components(self.owner, self.k, n_rows, self.most or self.k)

    def count(self, values: Floats, total: float) -> int | None:
        """k, once there are that many."""
        return self.k if len(values) >= self.k else None

    def at_least(self, values: Floats, total: float) -> int:
        """k."""
        return self.k

    def describe(self) -> str:
        """The rule in words."""
        return f"k = {self.k}"


@final
@dataclass(frozen=True)
class KeepShare(Keep):
    """The fewest components whose variance reaches a share of the total."""

    share: float

    def count(self, values: Floats, total: float) -> int | None:
        """First k whose cumulative variance reaches the share."""
        reached = np.cumsum(values) >= (self.share - SHARE_ROUNDING) * total
        return int(np.argmax(reached)) + 1 if reached.any() else None

    def at_least(self, values: Floats, total: float) -> int:
        """Those before the last, and as many of the last one's size as fill the rest of the share."""
        found = self.count(values, total)
        if found is not None or not len(values) or values[-1] <= 0:
            return found or len(values)
        rest = self.share * total - float(values.sum())
        return len(values) + int(np.ceil(rest / float(values[-1])))

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.share:.4g} of the variance"


@final
@dataclass(frozen=True)
class KeepMinka(Keep):
    """Minka's Bayesian choice, from the whole spectrum of n rows in p dimensions."""

    p: int
    n: float = 0.0
    needs_all = True

    def for_rows(self, n_rows: int, weight: float) -> Keep:
        """Weights count rows."""
        return KeepMinka(self.p, weight)

    def count(self, values: Floats, total: float) -> int | None:
        """The dimension with the largest evidence."""
        return minka_dimension(values, self.p, self.n)

    def at_least(self, values: Floats, total: float) -> int:
        """All values are needed first."""
        return self.p

    def describe(self) -> str:
        """The rule in words."""
        return "Minka's choice"
