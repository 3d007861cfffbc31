"""NaN and infinite entries: counted column by column, so that an error can name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import MissingValues
from lowdim.matrices.preparation import dense
from lowdim.sources.source import Block, Source


def count_holes(rows: Any) -> NDArray[np.int64] | None:
    """(2, p) numbers of NaN and of infinite entries per column, or None if all are finite."""
    values = dense(rows)
    missing, infinite = np.isnan(values).sum(axis=0), np.isinf(values).sum(axis=0)
    return np.stack([missing, infinite]) if missing.any() or infinite.any() else None


def add_holes(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Holes of two blocks together."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def missing_values(holes: NDArray[np.int64], n_rows: int, columns: tuple[str, ...] | None) -> MissingValues:
    """The error that names the columns with holes."""
    names = columns or tuple(f"column {j}" for j in range(holes.shape[1]))
    missing, infinite = ({names[j]: int(counts[j]) for j in np.flatnonzero(counts)} for counts in holes)
    return MissingValues.found(missing, infinite, n_rows)


def refuse_block_holes(block: Block, columns: tuple[str, ...] | None) -> None:
    """Raise that error if the rows of a block have any; called when their result was not finite."""
    holes = count_holes(block.rows)
    if holes is not None:
        raise missing_values(holes, block.rows.shape[0], columns)


def refuse_holes(source: Source) -> None:
    """Raise that error if any of the rows have holes; one pass."""
    n_rows, holes = source.reduce(_counted_block, _merge)
    if holes is not None:
        raise missing_values(holes, n_rows, source.columns)


@contextmanager
def naming_all_holes(source: Source, only_infinite: bool = False) -> Iterator[None]:
    """Where a block is refused for its holes, count those of all rows instead, if they can be read again.

    `only_infinite`: missing values are no error, infinite ones are.
    """
    try:
        yield
    except MissingValues:
        n_rows, holes = source.reduce(_counted_block, _merge) if source.repeatable else (0, None)
        if holes is None:
            raise
        if only_infinite:
            holes[0] = 0
        raise missing_values(holes, n_rows, source.columns) from None


def _counted_block(block: Block) -> tuple[int, NDArray[np.int64] | None]:
    return block.rows.shape[0], count_holes(block.rows)


def _merge(
    one: tuple[int, NDArray[np.int64] | None], other: tuple[int, NDArray[np.int64] | None]
) -> tuple[int, NDArray[np.int64] | None]:
    return one[0] + other[0], add_holes(one[1], other[1])
