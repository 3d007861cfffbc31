"""One sign for each component, the same from every solver, batch size and thread count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TIE = 1e-6
"""Entries within this of the largest magnitude tie with it; far above what solvers differ by."""


def fix_signs(vectors: NDArray[np.float64]) -> None:
    """Turn each row, in place, so that its entry of largest magnitude is positive, the lowest index on ties."""
    for vector in vectors:
        size = np.abs(vector)
        first = int(np.argmax(size >= (1 - TIE) * size.max()))
        if vector[first] < 0:
            np.negative(vector, out=vector)
