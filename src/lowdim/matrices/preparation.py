"""Centring, scaling and weighting of rows: Y = √w · (X − center) · gain, block by block, without touching X."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lowdim.sources.source import Block
from lowdim.types import Array, Floats


@dataclass(frozen=True)
class Preparation:
    """What is done to each row before a solver sees it."""

    center: Floats
    """(p,) subtracted first."""
    gain: Floats | None
    """(p,) multiplied afterwards: the square root of the column weight over the scale; None means one."""
    low: Floats | None = None
    """(p,) what float64 leaves over of the mean, subtracted second: beside a large offset it is not small."""

    def of(self, columns: slice) -> Preparation:
        """The same for some of the columns."""
        gain, low = (None if part is None else part[columns] for part in (self.gain, self.low))
        return Preparation(self.center[columns], gain, low)

    def pieces(self, block: Block, dtype: type[np.floating[Any]], rows: int) -> Iterator[Array]:
        """Give the prepared rows of a block in pieces, all written to one buffer: use each before the next, read only.

        Rows that need no preparation are given without a copy.
        """
        total, columns = block.rows.shape
        if self._changes_nothing(block, dtype):
            yield from (block.rows[start : start + rows] for start in range(0, total, rows))
            return
        center = self.center.astype(dtype, copy=False)
        gain = None if self.gain is None else self.gain.astype(dtype, copy=False)
        root = None if block.weight is None else np.sqrt(block.weight).astype(dtype, copy=False)[:, None]
        low = None if self.low is None else self.low.astype(dtype, copy=False)
        shifted = bool(center.any())
        buffer = np.empty((min(rows, total), columns), dtype=dtype, order=_order(block.rows))
        for start in range(0, total, rows):
            piece = dense(block.rows[start : start + rows])
            prepared = buffer[: len(piece)]
            if piece.dtype == dtype and shifted:
                np.subtract(piece, center, out=prepared)
            else:  # a cast, then a subtraction, takes a third of the time of both at once
                np.copyto(prepared, piece, casting="unsafe")
                if shifted:
                    prepared -= center
            if low is not None:
                prepared -= low
            if gain is not None:
                prepared *= gain
            if root is not None:
                prepared *= root[start : start + rows]
            yield prepared

    def _changes_nothing(self, block: Block, dtype: type[np.floating[Any]]) -> bool:
        if not isinstance(block.rows, np.ndarray) or block.rows.dtype != dtype or block.weight is not None:
            return False
        return (
            block.rows.itemsize in block.rows.strides
            and self.gain is None
            and self.low is None
            and not self.center.any()
        )


def dense(rows: Any) -> Array:
    """Rows as a dense array; only sparse rows are copied."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def piece_rows(columns: int, itemsize: int, bytes_a_piece: int, least: int, most: int) -> int:
    """Rows of a piece of about so many bytes, within limits."""
    return min(max(bytes_a_piece // max(1, columns * itemsize), least), most)


def _order(rows: Any) -> Literal["C", "F"]:
    """The order in which copying these rows walks through memory, so that column-major data stay so."""
    return "F" if isinstance(rows, np.ndarray) and rows.strides[0] < rows.strides[1] else "C"


def working_dtype(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """float32 data are multiplied in float32 (and summed in float64); everything else in float64."""
    return np.float32 if dtype == np.float32 else np.float64
