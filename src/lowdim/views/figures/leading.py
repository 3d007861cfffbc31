"""Which columns, or words, stand out in a row: a part, a topic, a codeword."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Leading:
    """The columns that stand out in a row, largest first."""

    names: tuple[str, ...]
    values: Floats
    """(m,) their entries."""
    title: str = ""
    """What the row is called."""
    note: str = ""
    """A fact about it, such as its share."""

    @property
    def pairs(self) -> list[tuple[str, float]]:
        """Names with their values."""
        return list(zip(self.names, map(float, self.values), strict=True))


def leading(
    row: Floats, names: Sequence[str], most: int, least: float = 0.0, title: str = "", note: str = ""
) -> Leading:
    """The `most` columns of largest magnitude in a row (p,), those left out that are not above `least` of the largest.

    >>> leading(np.array([0.1, -3.0, 0.0, 2.0]), "abcd", 3).names
    ('b', 'd', 'a')
    """
    sizes = np.abs(row)
    order = np.argsort(-sizes, kind="stable")[:most]
    order = order[sizes[order] > least * sizes.max(initial=0.0)]
    return Leading(tuple(names[int(j)] for j in order), np.asarray(row[order], dtype=np.float64), title, note)
