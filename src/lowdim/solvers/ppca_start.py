"""Where EM begins: PCA of some rows with means in their holes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation
from lowdim.solvers.latent import Latent
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]

SAMPLE_ENTRIES = 5_000_000
"""Entries of the rows that a start is made from, at most."""

SAMPLE_ROWS = 5000

FAINT = 1e-3
"""Share of the noise that a component has at least: one of length zero would stay there for ever."""


def sample_of(source: Source, preparation: Preparation, n: int, rng: np.random.Generator) -> Floats:
    """(m, p) prepared rows drawn at random from the n rows of a source, in their order."""
    most = int(np.clip(SAMPLE_ENTRIES // source.n_columns, 500, SAMPLE_ROWS))
    chosen = np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
    rows: Floats = source.reduce(partial(_rows_of_block, chosen=chosen, preparation=preparation), _beneath)
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


def _rows_of_block(block: Block, chosen: NDArray[np.int64], preparation: Preparation) -> Floats:
    first, last = np.searchsorted(chosen, [block.start, block.start + block.rows.shape[0]])
    places = chosen[first:last] - block.start
    if not len(places):
        return np.empty((0, block.rows.shape[1]))
    some = replace(block, rows=block.rows[places], weight=None)
    return np.array(next(preparation.pieces(some, np.float64, len(places))))


def _beneath(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])
