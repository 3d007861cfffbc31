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
from lowdim.sources.wrapped import stack_rows
from lowdim.types import Floats, Places

MAX_SAMPLE_ENTRIES = 5_000_000
"""Entries of the rows that a start is made from, at most."""


MAX_SAMPLE_ROWS = 5000


def count_sample(n: int, p: int) -> int:
    """Number of rows, of n with p columns, that a start is made from."""
    return min(n, int(np.clip(MAX_SAMPLE_ENTRIES // p, 500, MAX_SAMPLE_ROWS)))


def draw_sample(source: Source, preparation: Preparation, n: int, rng: np.random.Generator) -> Floats:
    """(m, p) prepared rows drawn at random from the n rows of a source, in their order.

    The same ones however the rows are cut into blocks, if it is known where blocks lie; else about m.
    """
    m = count_sample(n, source.n_columns)
    places: Callable[[Block], Places] = _all_places
    if m < n and source.n_rows == n:
        places = partial(_find_places, chosen=np.sort(rng.choice(n, m, replace=False)))
    elif m < n:  # rows of dask's frames are not counted, and some weighted rows may have been left out
        places = partial(_draw_places, share=m / n, seed=int(rng.integers(2**32)))
    rows: Floats = source.reduce(partial(_take_rows, places=places, preparation=preparation), stack_rows)
    return rows


def _all_places(block: Block) -> Places:
    return np.arange(block.rows.shape[0])


def _find_places(block: Block, chosen: NDArray[np.int64]) -> Places:
    """Places in a block of the rows that were chosen among all."""
    first, last = np.searchsorted(chosen, [block.start, block.start + block.rows.shape[0]])
    return np.asarray(chosen[first:last] - block.start, dtype=np.intp)


def _draw_places(block: Block, share: float, seed: int) -> Places:
    """Places in a block of about a share of its rows; blocks differ by their first row, where nothing else tells."""
    mark = crc32(dense(block.rows[:1]).tobytes())
    rng = np.random.default_rng([seed, mark])
    return np.flatnonzero(rng.random(block.rows.shape[0]) < share)


def _take_rows(block: Block, places: Callable[[Block], Places], preparation: Preparation) -> Floats:
    found = places(block)
    if not len(found):
        return np.empty((0, block.rows.shape[1]))
    some = replace(block, rows=block.rows[found], weight=None)
    return np.array(next(preparation.pieces(some, np.float64, len(found))))
