"""Rows drawn at random from a source, prepared: what iterations start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation, dense
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

SAMPLE_ENTRIES = 5_000_000
"""Entries of the rows that a start is made from, at most."""


SAMPLE_ROWS = 5000


def sample_rows(n: int, p: int) -> int:
    """Number of rows, of n with p columns, that a start is made from."""
    return min(n, int(np.clip(SAMPLE_ENTRIES // p, 500, SAMPLE_ROWS)))


def sample_of(source: Source, preparation: Preparation, n: int, rng: np.random.Generator) -> Floats:
    """(m, p) prepared rows drawn at random from the n rows of a source, in their order.

    The same ones however the rows are cut into blocks, if it is known where blocks lie; else about m.
    """
    m = sample_rows(n, source.n_columns)
    places: Callable[[Block], NDArray[np.intp]] = _all_places
    if m < n and source.n_rows == n:
        places = partial(_places_of, chosen=np.sort(rng.choice(n, m, replace=False)))
    elif m < n:  # of dask's frames nobody counted the rows; of weighted rows some may have been left out
        places = partial(_some_places, share=m / n, seed=int(rng.integers(2**32)))
    rows: Floats = source.reduce(partial(_rows_of_block, places=places, preparation=preparation), _beneath)
    return rows


def _all_places(block: Block) -> NDArray[np.intp]:
    return np.arange(block.rows.shape[0])


def _places_of(block: Block, chosen: NDArray[np.int64]) -> NDArray[np.intp]:
    """Places in a block of the rows that were chosen among all."""
    first, last = np.searchsorted(chosen, [block.start, block.start + block.rows.shape[0]])
    return np.asarray(chosen[first:last] - block.start, dtype=np.intp)


def _some_places(block: Block, share: float, seed: int) -> NDArray[np.intp]:
    """Places in a block of about a share of its rows; blocks differ by their first row, where nothing else tells."""
    mark = crc32(dense(block.rows[:1]).tobytes())
    rng = np.random.default_rng([seed, mark])
    return np.flatnonzero(rng.random(block.rows.shape[0]) < share)


def _rows_of_block(block: Block, places: Callable[[Block], NDArray[np.intp]], preparation: Preparation) -> Floats:
    found = places(block)
    if not len(found):
        return np.empty((0, block.rows.shape[1]))
    some = replace(block, rows=block.rows[found], weight=None)
    return np.array(next(preparation.pieces(some, np.float64, len(found))))


def _beneath(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])
