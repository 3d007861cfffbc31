"""To which decimal the values of each column were rounded, as their values tell."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import dense, piece_rows
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

STEPS = 10.0 ** np.arange(4, -7, -1)
"""Tens of thousands to millionths, coarsest first."""

ROUNDING = 2
"""Units in the last place that a rounded value may be off, as its decimals have no exact binary form."""

KNOWN = 0.05
"""Steps to which a number must be known: of fewer digits nothing can be said."""

PIECE_BYTES = 2**22
"""Bytes of values that are looked at at a time: looking takes several times as much."""


def value_steps(source: Source, spacing: float) -> Floats:
    """(p,) the largest power of ten that all values of a column are multiples of; 0 where there is none.

    `spacing` is the relative distance of the numbers that the data can hold.
    """
    fine = source.reduce(partial(_multiples, spacing=spacing), np.logical_and)
    return np.where(fine.any(axis=0), STEPS[fine.argmax(axis=0)], 0.0)


def _multiples(block: Block, spacing: float) -> NDArray[np.bool_]:
    """(steps, p) whether all values of a column are multiples of a step."""
    p = block.rows.shape[1]
    found = np.ones((len(STEPS), p), dtype=bool)
    for piece in block.pieces(piece_rows(p, 8, PIECE_BYTES, 1, block.rows.shape[0])):
        found &= _multiples_in(np.asarray(dense(piece.rows), dtype=np.float64), spacing)
    return found


def _multiples_in(rows: Floats, spacing: float) -> NDArray[np.bool_]:
    found = np.zeros((len(STEPS), rows.shape[1]), dtype=bool)
    open_yet = np.ones(rows.shape[1], dtype=bool)
    for i, step in enumerate(STEPS):
        counts = rows[:, open_yet] / step if step >= 1 else rows[:, open_yet] * round(1 / step)
        allowed = ROUNDING * spacing * np.abs(counts)
        fine = ((np.abs(counts - np.rint(counts)) <= allowed) & (allowed < KNOWN)).all(axis=0)
        found[i:, np.flatnonzero(open_yet)[fine]] = True  # multiples of ten are multiples of one
        open_yet[open_yet] = ~fine
    return found
