"""Where EM begins: PCA of some rows with means in their holes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation, dense
from lowdim.solvers.latent import Latent
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]

SAMPLE_ENTRIES = 5_000_000
"""Entries of the rows that a start is made from, at most."""

SAMPLE_ROWS = 5000

FAINT = 1e-3
"""Share of the noise that a component has at least: one of length zero would stay there for ever."""


def sample_rows(n: int, p: int) -> int:
    """Number of rows, of n with p columns, that a start is made from."""
    return min(n, int(np.clip(SAMPLE_ENTRIES // p, 500, SAMPLE_ROWS)))


def start_memory(n: int, p: int) -> int:
    """Bytes that a start takes: the sample, as it is gathered or with means in its holes, and matrices of products."""
    m = sample_rows(n, p)
    return 8 * (3 * m * p + 3 * min(m, p) ** 2)


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


def start_from(sample: Floats, k: int, rng: np.random.Generator) -> Latent:
    """A model of prepared rows (m, p) with holes: their principal components where means fill the holes."""
    filled = np.nan_to_num(sample)
    m, p = filled.shape
    total = float(np.einsum("ij,ij->", filled, filled)) / m
    if p <= m:
        values, vectors = np.linalg.eigh(filled.T @ filled / m)
        values, axes = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        values, vectors = np.linalg.eigh(filled @ filled.T / m)
        values = values[::-1][:k]
        lengths = np.sqrt(np.maximum(m * values, np.finfo(float).tiny))
        axes = filled.T @ vectors[:, ::-1][:, :k] / lengths
    noise = max((total - float(values.sum())) / max(p - k, 1), FAINT * total / p, np.finfo(float).tiny)
    strengths = np.sqrt(np.maximum(values - noise, FAINT * noise))
    W = np.zeros((p, k))
    W[:, : len(values)] = axes * strengths
    W += np.sqrt(FAINT * noise / p) * rng.standard_normal((p, k))  # directions that the sample did not have
    return Latent(np.zeros(p), W, noise)


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
