"""Compiled: whether the places of a sparse matrix lie in it, and whether a row has two entries in one place.

Compiled loops, SciPy's and ours, follow these numbers without looking: a wrong one is a crash and no exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.runtime.native import Kernel, is_compiled
from lowdim.types import Array

_farthest = Kernel("farthest_place", "places[m]:index", gives=True)

_repeats = Kernel("csr_repeats", "starts[n1]:index places[m]:index *seen[p]:int64", gives=True)


def lie_within(places: Array, width: int) -> bool:
    """Whether whole numbers are all from 0 to width − 1: one pass over them, without a copy."""
    if not len(places):
        return True
    if is_compiled() and places.dtype in (np.int32, np.int64) and places.flags.c_contiguous:
        return bool(_farthest(places) < width)
    return bool(places.min() >= 0 and places.max() < width)


def has_repeats(X: Any) -> bool:
    """Whether a CSR matrix has two entries in one place."""
    return bool(_repeats(X.indptr, X.indices, np.full(X.shape[1], -1, np.int64)))
