"""Rows divided at random into parts of nearly equal size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]


def split_rows(numbers: Places, parts: int, rng: np.random.Generator) -> list[Places]:
    """The rows in so many parts, drawn at random; those of one number stay together.

    A row whose copy is known is no test: whatever fits the copy's noise fits the row's.
    """
    distinct, which = np.unique(numbers, return_inverse=True)
    part_of = np.empty(len(distinct), dtype=np.intp)
    for part, some in enumerate(np.array_split(rng.permutation(len(distinct)), parts)):
        part_of[some] = part
    return [np.flatnonzero(part_of[which] == part) for part in range(parts)]
