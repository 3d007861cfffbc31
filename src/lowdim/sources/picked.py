"""Rows of a source by their numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.sources.memory import ArraySource, SparseSource
from lowdim.sources.prepared import PreparedSource
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def rows_at(source: Source, places: Places) -> Floats:
    """(m, p) rows in the order of their numbers (m,), which may repeat; one pass, unless they lie in memory."""
    if isinstance(source, PreparedSource):
        return source.prepared(rows_at(source.source, places))
    if isinstance(source, ArraySource):
        return np.asarray(source.array[places], dtype=np.float64, order="C")
    if isinstance(source, SparseSource):
        return _dense(source.matrix[places])
    wanted, back = np.unique(places, return_inverse=True)
    found: Floats = source.reduce(partial(_picked, wanted=wanted), _beneath)
    return found[back]


def passes_to_pick(source: Source) -> int:
    """How often all rows are gone through for that."""
    source = source.source if isinstance(source, PreparedSource) else source
    return 0 if isinstance(source, (ArraySource, SparseSource)) else 1


def _picked(block: Block, wanted: Places) -> Floats:
    first, last = np.searchsorted(wanted, [block.start, block.start + block.rows.shape[0]])
    return _dense(block.rows[wanted[first:last] - block.start])


def _beneath(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])


def _dense(rows: Any) -> Floats:
    return np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64, order="C")
