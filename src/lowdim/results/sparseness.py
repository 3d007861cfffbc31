"""Hoyer's sparseness: how few of its entries a vector is made of."""

from __future__ import annotations

import numpy as np

from lowdim.types import Floats


def hoyer(sums: Floats, squares: Floats, length: int) -> Floats:
    """Hoyer's sparseness of vectors of so many entries, from Σ|v| and Σv²: 0 where all entries are equal, 1 where one
    alone is not zero (Hoyer 2004, "Non-negative matrix factorization with sparseness constraints"); NaN of zeros.

    >>> import numpy as np
    >>> hoyer(np.array([1.0, 4.0]), np.array([1.0, 4.0]), 4)
    array([1., 0.])
    """
    if length < 2:
        return np.where(squares > 0, 0.0, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (np.sqrt(length) - sums / np.sqrt(squares)) / (np.sqrt(length) - 1.0)
    return found


def sparseness(vectors: Floats) -> Floats:
    """(k,) of the rows of a (k, m) array."""
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    sizes = np.abs(vectors) / np.where(largest > 0, largest, 1.0)  # squares of tiny numbers are none
    return hoyer(sizes.sum(axis=1), (sizes**2).sum(axis=1), vectors.shape[1])
