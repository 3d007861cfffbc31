"""Functions that run inside Dask tasks: which chunks make a block, and how they are joined, folded and mapped."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.runtime.threads import alone
from lowdim.sources.arrays import as_table
from lowdim.sources.frames import as_frame, frame_source, rows_of
from lowdim.sources.source import Block, Source, with_weight

# What a task of somebody else's scheduler does with the chunks that make a block: join, fold, map.


@dataclass(frozen=True)
class Part:
    """What some rows say."""

    rows: int
    statistic: Any
    """None if there are no rows, or none with weight."""

    def absorb(self, other: Part, merge: Callable[[Any, Any], Any]) -> Part:
        """Both together, reusing the memory of this one."""
        if self.statistic is None or other.statistic is None:  # a copy, as what was brought here may be read only
            known = copy.deepcopy(other.statistic) if self.statistic is None else self.statistic
            return Part(self.rows + other.rows, known)
        return Part(self.rows + other.rows, merge(self.statistic, other.statistic))


def part_of(
    per_block: Callable[[Block], Any],
    start: int,
    chunks: list[list[Any]],
    dtype: np.dtype[Any],
    weight: NDArray[np.float64] | None,
) -> Part:
    """The statistic of one block."""
    rows = joined(chunks, dtype)
    block = block_of(start, rows, weight)
    with alone():
        return Part(len(rows), None if block is None else per_block(block))


def merged(merge: Callable[[Any, Any], Any], one: Part, other: Part) -> Part:
    """Both together; a copy, because the scheduler may need `one` again if the worker with the result dies."""
    with alone():
        return copy.deepcopy(one).absorb(other, merge)


def block_of(start: int, rows: NDArray[Any], weight: NDArray[np.float64] | None) -> Block | None:
    """The rows that count; None if there are none."""
    if not len(rows):
        return None
    return Block(start, rows) if weight is None else with_weight(Block(start, rows), weight)


def joined(chunks: list[list[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Rows of neighbouring chunks, each of several column chunks or a frame, as one array."""
    rows = [_beside([_array(part) for part in parts]) for parts in chunks]
    whole: NDArray[Any] = np.concatenate(rows) if len(rows) > 1 else rows[0]
    return whole.astype(dtype, copy=False)


def mapped(rows: NDArray[Any], work: Callable[[Block], NDArray[Any]], width: int, dtype_out: Any) -> NDArray[Any]:
    """What `work` makes of a chunk, (rows, width)."""
    if not len(rows):
        return np.empty((0, width), dtype=dtype_out)
    with alone():
        return work(Block(-1, as_table(rows))).astype(dtype_out, copy=False)


def mapped_frame(
    frame: Any, work: Callable[[Block], NDArray[Any]], width: int, dtype: np.dtype[Any], dtype_out: Any
) -> Any:
    """The same of a frame, with its index."""
    return type(frame)(mapped(joined([[frame]], dtype), work, width, dtype_out), index=frame.index)


def source_of_frame(data: Any) -> Source:
    """The columns of a frame, which must hold numbers."""
    frame = as_frame(data)
    if frame is None:
        raise BadInput(f"A chunk is a {type(data).__name__}, but frames or NumPy arrays are needed.")
    return frame_source(frame)


def _beside(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]


def _array(part: Any) -> NDArray[Any]:
    if isinstance(part, np.ndarray):
        return as_table(part) if len(part) else part
    return rows_of(source_of_frame(part))


# Which chunks make a block, and which blocks are merged before their statistic is sent: from the data alone.
#
# Never from the number of workers, so that the same chunks give the same bits on any cluster.

READ_PER_SENT = 128
"""Neighbouring blocks are merged until they have so many times `least_rows`, which is about the size of a statistic."""

MOST_BLOCKS = 64
"""At most so many of them, so that a worker that dies costs little."""

BLOCKS_UNCOUNTED = 8
"""So many where nobody knows how many rows they have, and the statistic is large."""


@dataclass(frozen=True)
class Span:
    """Neighbouring chunks of rows that make one block."""

    start: int
    """Number of the first row; −1 where nobody has counted."""
    rows: int | None
    chunks: slice


def spans_of(sizes: list[int], enough: int) -> list[Span]:
    """Chunks of so many rows each, small ones joined until they have enough."""
    starts = list(accumulate(sizes, initial=0))
    cuts = [0]
    for i in range(1, len(sizes)):
        if starts[i] - starts[cuts[-1]] >= enough:
            cuts.append(i)
    return [Span(starts[a], starts[b] - starts[a], slice(a, b)) for a, b in pairwise([*cuts, len(sizes)])]


def uncounted_spans(chunks: int) -> list[Span]:
    """Each chunk by itself."""
    return [Span(-1, None, part) for part in slices(chunks, 1)]


def grouped(spans: list[Span], least_rows: int) -> list[list[Span]]:
    """Neighbouring blocks that are merged where they are: few of them where a statistic is small beside its block."""
    if spans[0].rows is None:
        return [spans[part] for part in slices(len(spans), BLOCKS_UNCOUNTED if least_rows > 1 else 1)]
    groups: list[list[Span]] = []
    rows = 0
    for span in spans:
        if not groups or rows >= READ_PER_SENT * least_rows or len(groups[-1]) == MOST_BLOCKS:
            groups.append([])
            rows = 0
        groups[-1].append(span)
        rows += span.rows or 0
    return groups


def slices(length: int, step: int) -> list[slice]:
    """0 … length, so many at a time."""
    return [slice(i, min(i + step, length)) for i in range(0, length, step)]
