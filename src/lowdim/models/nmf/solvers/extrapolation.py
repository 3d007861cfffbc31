"""What extrapolated solvers of non-negative factors remember between steps.

Each new point is gone beyond by a share of the last change; the share grows while the objective falls, and a step that
raised it is taken back (Ang & Gillis 2019, "Accelerating nonnegative matrix factorization algorithms using
extrapolation").
"""

from __future__ import annotations

from dataclasses import dataclass

from lowdim.types import Floats

# Ang & Gillis 2019, §4: share of the change at first, growth of share and ceiling when it pays, division when not.
AHEAD, GROWTH, CEILING_GROWTH, SHRINK = 0.5, 1.05, 1.01, 1.5


@dataclass(frozen=True)
class Beyond:
    """The memory of a solver, its factors stored as the solver wants them."""

    W: Floats
    """The last true W, from which the next change is counted."""
    H: Floats
    Wy: Floats
    """Where W is looked at next."""
    Hy: Floats
    share: float = AHEAD
    ceiling: float = 1.0
    plain: bool = True
    """Whether the next step starts from the accepted factors themselves, and so cannot fail."""

    @classmethod
    def nothing(cls, W: Floats, H: Floats, share: float = AHEAD, ceiling: float = 1.0) -> Beyond:
        """Nothing remembered: the next step starts from these factors."""
        return cls(W, H, W, H, share, ceiling)

    @property
    def ahead(self) -> float:
        """Share of the change by which the next step goes on."""
        return 0.0 if self.plain else self.share

    def paid(self, W: Floats, H: Floats, Wy: Floats, Hy: Floats) -> Beyond:
        """After a step that lowered the objective."""
        share, ceiling = min(self.share * GROWTH, self.ceiling), min(self.ceiling * CEILING_GROWTH, 1.0)
        return Beyond(W, H, Wy, Hy, share, ceiling, plain=False)

    def refused(self, W: Floats, H: Floats) -> Beyond:
        """After a step that did not, back at the last factors that were accepted."""
        return Beyond.nothing(W, H, self.share / SHRINK, self.share)
