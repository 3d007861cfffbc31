"""Which chunks make a block, and which blocks are merged before their statistic is sent: from the data alone.

Never from the number of workers, so that the same chunks give the same bits on any cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

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
