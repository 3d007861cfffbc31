"""Compiled: whether a sparse row has two entries in one place. SciPy tells only of rows that are sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.runtime.native import Kernel

_repeats = Kernel("csr_repeats", "starts[n1]:index places[m]:index *seen[p]:int64", gives=True)


def has_repeats(X: Any) -> bool:
    """Whether a CSR matrix has two entries in one place."""
    return bool(_repeats(X.indptr, X.indices, np.full(X.shape[1], -1, np.int64)))
