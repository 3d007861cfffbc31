"""What the width of a kernel does to scores and to the spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.views.figures.groups import Colour

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Width:
    """Kernel PCA with one width."""

    gamma: float
    scores: Floats
    """(n, 2) of the rows, along the first two components."""
    shares: Floats
    """(k,) of the features' variance, of the leading components."""
    effective_rank: float
    """Between 1, where the kernel is so wide that all rows look alike, and n, where it is so narrow that none do."""


@dataclass(frozen=True)
class Widths:
    """The same rows by several widths, the widest kernel first."""

    widths: tuple[Width, ...]
    chosen: int
    """Which one is the model's."""
    colour: Colour | None = None
    """Of the rows."""


def kernel_widths(widths: Sequence[Width], gamma: float, colour: Colour | None = None) -> Widths:
    """Widths in order; their signs are turned so that neighbours look alike, as the sign of an axis means nothing."""
    ordered = sorted(widths, key=lambda one: one.gamma)
    chosen = int(np.argmin([abs(np.log(one.gamma / gamma)) for one in ordered]))
    turned = list(ordered)
    for i, before in [(i, i + 1) for i in range(chosen - 1, -1, -1)] + [
        (i, i - 1) for i in range(chosen + 1, len(ordered))
    ]:
        one, near = turned[i], turned[before]
        signs = np.where((one.scores * near.scores).sum(axis=0) < 0, -1.0, 1.0)
        turned[i] = Width(one.gamma, one.scores * signs, one.shares, one.effective_rank)
    return Widths(tuple(turned), chosen, colour)
