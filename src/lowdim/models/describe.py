"""What a table holds, in one pass over its rows and without any model."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import dense, piece_rows
from lowdim.results.description import Description
from lowdim.results.names import column_names
from lowdim.sources.source import Block, Source

Part = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Numbers of rows and of complete rows; missing, infinite, least and most of each column."""

PIECE = 2**23
"""Bytes that are looked at in one go: rows of a sparse matrix are filled first."""


def describe(source: Source) -> Description:
    """Count what is missing in each column, and find its range."""
    rows, facts = source.reduce(_part, _merged)
    columns = column_names(source)
    missing, infinite = facts[:2].astype(np.int64)
    least, most = np.where(np.isfinite(facts[2:]), facts[2:], np.nan)  # infinite: no entry was finite
    return Description(int(rows[0]), int(rows[1]), columns, missing, infinite, least, most)


def _part(block: Block) -> Part:
    rows = block.rows
    step = piece_rows(rows.shape[1], 8, PIECE, 1, rows.shape[0])
    return reduce(_merged, (_piece(rows[start : start + step]) for start in range(0, rows.shape[0], step)))


def _piece(rows: Any) -> Part:
    values = dense(rows).astype(np.float64, copy=False)
    missing, infinite = np.isnan(values), np.isinf(values)
    finite = ~(missing | infinite)
    least = np.min(values, axis=0, where=finite, initial=np.inf)
    most = np.max(values, axis=0, where=finite, initial=-np.inf)
    rows_counted = np.array([len(values), int(finite.all(axis=1).sum())])
    return rows_counted, np.stack([missing.sum(axis=0), infinite.sum(axis=0), least, most])


def _merged(one: Part, other: Part) -> Part:
    counts = one[1][:2] + other[1][:2]  # whole numbers, exact up to 2⁵³
    least, most = np.minimum(one[1][2], other[1][2]), np.maximum(one[1][3], other[1][3])
    return one[0] + other[0], np.concatenate([counts, [least, most]])
