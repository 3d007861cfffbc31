"""How many components to keep: rules that need only the variances along them. NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""A share is reached, and a bar is not passed, when it is missed by no more than this: the rounding of a sum."""


@dataclass(frozen=True)
class Advice:
    """What one rule says."""

    rule: str
    k: int
    why: str


def share_count(variances: Floats, share: float) -> int:
    """The fewest leading components whose variance reaches a share of the sum (Jolliffe 2002, §6.1.1)."""
    total = float(variances.sum())
    return int(np.argmax(np.cumsum(variances) >= (share - ROUNDING) * total)) + 1


def kaiser_count(variances: Floats) -> int:
    """Components with more variance than the average direction: Guttman 1954, Kaiser 1960.

    With scaled columns the average is 1, the form in which the rule is known; for covariances see Jolliffe 2002,
    §6.1.2.
    """
    return int((variances > variances.mean() * (1 + ROUNDING)).sum())


def broken_stick(count: int) -> Floats:
    """Expected lengths, longest first, of the pieces of a stick of length one that is broken at random.

    The i-th longest of m pieces is Σ_{j = i … m} 1/j / m on average (Frontier 1976; Jackson 1993).
    """
    return np.cumsum(1 / np.arange(count, 0, -1))[::-1] / count


def broken_stick_count(variances: Floats) -> int:
    """Leading components that hold more than the pieces of a stick broken at random, up to the first that does not."""
    total = float(variances.sum())
    if total == 0:
        return 0
    beyond = variances / total > broken_stick(len(variances)) + ROUNDING
    return len(beyond) if beyond.all() else int(np.argmin(beyond))


def spectrum_advice(variances: Floats) -> tuple[Advice, ...]:
    """What these rules say of all variances that the data can have, largest first."""
    shares = tuple(
        Advice(f"{share * 100:.0f} % share", share_count(variances, share), f"fewest that keep {share * 100:.0f} %")
        for share in (0.8, 0.9, 0.95)
    )
    return (
        *shares,
        Advice("Kaiser", kaiser_count(variances), "more than the average variance"),
        Advice("broken stick", broken_stick_count(variances), "more than chance gives the largest"),
    )
