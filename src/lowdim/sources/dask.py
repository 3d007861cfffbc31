"""Dask arrays and frames: row blocks are computed where the data are, small statistics come home.

A fold is many small graphs, each of some neighbouring blocks: a task per block makes its statistic, a tree of tasks
merges them, and one statistic per graph comes home, where it is merged in block order. Workers keep nothing between
graphs, so a worker that dies costs its part of the graphs under way, and the same blocks give the same bits. What is
merged where follows from the data alone, never from the workers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, pairwise
from typing import Any, TypeVar, cast, final

import dask
import dask.base
import dask.core
import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from lowdim.errors import BadInput, ClusterFailed
from lowdim.sources.checks import as_table, refuse_dtype, refuse_shape
from lowdim.sources.frames import as_frame, frame_source
from lowdim.sources.memory import ArraySource
from lowdim.sources.source import Block, Source, rows_per_block, weighted_block
from lowdim.sources.workers import alone, in_order

Statistic = TypeVar("Statistic")

READ_PER_SENT = 128
"""A graph reads at least so many times `least_rows`, about the size of a statistic, before it sends one home."""

MOST_BLOCKS = 64
"""Blocks of one graph at most, so that one death among many workers costs little."""

BLOCKS_UNCOUNTED = 8
"""Blocks of one graph where nobody knows how many rows they have."""

DEATHS = 5
"""Times that a graph is submitted before its blocks are given up. The scheduler itself restarts a task three times
(its setting `allowed-failures`), so a block may lose 20 workers."""

RETRIES = 2
"""Times that a task is run again after an error of its own, such as a file server that did not answer."""


@dataclass(frozen=True)
class Span:
    """Neighbouring chunks of rows that make one block."""

    start: int
    """Number of the first row; −1 where nobody has counted."""
    rows: int | None
    first: int
    last: int
    """One past the last chunk."""


@final
class DaskSource(Source):
    """A dask array (n, p) or a dask frame of numbers."""

    repeatable = True

    def __init__(self, data: Any, weight: NDArray[np.float64] | None = None):
        self._data = data
        self._weight = weight
        self._is_frame = hasattr(data, "to_dask_array")
        if self._is_frame:
            refuse_shape((1, *data.shape[1:]))
            header = frame_source(_framed(data._meta))
            self.columns, self.dtype, self.n_columns = header.columns, header.dtype, header.n_columns
            self.header = data._meta
            self._sizes: list[int] | None = None
            chunks = [[part] for part in data.to_delayed()]
        else:
            _refuse_array(data)
            self.columns, self.dtype, self.n_columns = None, data.dtype, int(data.shape[1])
            self._sizes = None if any(map(math.isnan, data.chunks[0])) else list(data.chunks[0])
            chunks = data.to_delayed().tolist()
        self._graph = dict(chunks[0][0].__dask_graph__()) if chunks else {}
        self._keys = [[part.key for part in row] for row in chunks]
        self.n_rows = None if self._sizes is None else sum(self._sizes)
        refuse_shape((1 if self.n_rows is None else self.n_rows, self.n_columns))

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Compute block after block, wherever dask computes, and give their rows here."""
        start = 0
        for span in self._spans(least_rows):
            rows = dask.delayed(_joined, pure=False)(self._chunks(span), self.dtype).compute()
            block = self._weighed(Block(start, rows), span)
            start += len(rows)
            if block is not None:
                yield block
        if not start:
            refuse_shape((0, self.n_columns))

    def reduce(
        self,
        per_block: Callable[[Block], Statistic],
        merge: Callable[[Statistic, Statistic], Statistic],
        least_rows: int = 1,
    ) -> Statistic:
        """Fold on the cluster of the active client, or in threads here if there is none."""
        spans, client = self._spans(least_rows), _active_client()
        if client is None:
            statistics = in_order(partial(self._computed_here, per_block), spans)
        else:
            work = dask.delayed(per_block, pure=False)  # one node for all: it may carry (b, p) vectors
            groups = _grouped(spans, least_rows)
            jobs = [partial(self._job, work, merge, group) for group in groups]
            statistics = results_in_order(client, jobs, max(map(len, groups)))
        total: Any = reduce(partial(_merged_in_place, merge), statistics, None)
        if total is None:
            refuse_shape((0, self.n_columns))
        return cast(Statistic, total)

    def map_rows(self, function: Callable[[Block], NDArray[Any]], width: int, dtype: Any) -> Any:
        """A lazy dask array (n, width): nothing is computed before the user asks for it."""
        work = dask.delayed(function, pure=False)
        if self._is_frame:
            meta = type(self.header)(np.empty((0, width), dtype=dtype))
            mapped = self._data.map_partitions(_mapped_frame, work, width, self.dtype, dtype, meta=meta)
            return mapped.to_dask_array()
        chunks, meta = (self._data.chunks[0], (width,)), np.empty((0, 0), dtype=dtype)
        whole_rows = self._data.rechunk({1: -1})
        return whole_rows.map_blocks(_mapped, work=work, width=width, dtype_out=dtype, chunks=chunks, meta=meta)

    def weighted(self, weight: NDArray[np.float64]) -> Source:
        """The same rows with weights, of which each task is sent its own."""
        twin = copy.copy(self)
        twin._weight = weight
        return twin

    def count_rows(self) -> int:
        """Number of rows; where chunks do not tell theirs, all are asked for it first."""
        if self._sizes is None:
            firsts = self._data.index.to_delayed() if self._is_frame else self._data[:, :1].to_delayed().ravel()
            self._sizes = [int(n) for n in dask.compute(*[dask.delayed(len)(part) for part in firsts])]
            self.n_rows = sum(self._sizes)
            refuse_shape((self.n_rows, self.n_columns))
        return sum(self._sizes)

    def describe(self) -> str:
        """Say what it is and its shape."""
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows × "
        what = "frame" if self._is_frame else f"{self.dtype} array"
        return f"the dask {what} of {rows}{self.n_columns:,} columns in {len(self._keys):,} row chunks"

    def _spans(self, least_rows: int) -> list[Span]:
        """Chunks as they are, small ones together: copied, so only up to a few blocks' bytes."""
        if self._sizes is None:
            return [Span(-1, None, i, i + 1) for i in range(len(self._keys))]
        usual = rows_per_block(self.n_columns, self.dtype.itemsize)
        enough = min(max(least_rows, usual), 4 * usual)
        starts = list(accumulate(self._sizes, initial=0))
        cuts = [0]
        for i in range(1, len(self._sizes)):
            if starts[i] - starts[cuts[-1]] >= enough:
                cuts.append(i)
        edges = pairwise([*cuts, len(self._sizes)])
        return [Span(starts[a], starts[b] - starts[a], a, b) for a, b in edges]

    def _chunks(self, span: Span) -> list[list[Delayed]]:
        """Each with the part of the graph that it needs and no more."""
        return [[Delayed(key, _needed(self._graph, key)) for key in row] for row in self._keys[span.first : span.last]]

    def _weights(self, span: Span) -> NDArray[np.float64] | None:
        return None if self._weight is None else self._weight[span.start : span.start + (span.rows or 0)]

    def _weighed(self, block: Block, span: Span) -> Block | None:
        weight = self._weights(span)
        if not len(block.rows):
            return None
        return block if weight is None else weighted_block(block, weight)

    def _computed_here(self, per_block: Callable[[Block], Statistic], span: Span) -> Statistic | None:
        chunks = dask.compute(self._chunks(span), scheduler="synchronous")[0]
        return _statistic(per_block, span.start, chunks, self.dtype, self._weights(span))

    def _job(self, work: Delayed, merge: Callable[[Any, Any], Any], group: Sequence[Span]) -> Delayed:
        """The statistic of neighbouring blocks, merged by a tree of tasks."""
        make, join = dask.delayed(_statistic, pure=False), dask.delayed(_merged, pure=False)
        level = [make(work, span.start, self._chunks(span), self.dtype, self._weights(span)) for span in group]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [join(merge, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return level[0]


def dask_source(data: Any) -> Source:
    """The source behind an object of dask's."""
    if not hasattr(data, "to_dask_array") and not hasattr(data, "chunks"):
        raise BadInput(f"A dask {type(data).__name__} was given, but a dask array or a dask frame is needed.")
    return DaskSource(data)


def lazy_frame(scores: Any, names: list[str], like: Any) -> Any:
    """A lazy dask frame of a lazy array, with the index of another frame in the same chunks."""
    import dask.dataframe as frames

    return frames.from_dask_array(scores, columns=names, index=like.index)


def results_in_order(client: Any, jobs: Sequence[Callable[[], Delayed]], blocks: int) -> Iterator[Any]:
    """Run jobs on the cluster and give their results in order.

    So many are under way that every thread of the cluster has two blocks to do, and no more: what comes home early
    waits here for its turn, so memory stays bounded.
    """
    import distributed

    ahead = 2 + 2 * sum(client.nthreads().values()) // blocks
    done, tries, early = distributed.as_completed(), [0] * len(jobs), {}
    under_way: dict[str, tuple[int, Any]] = {}

    def submit(number: int) -> None:
        tries[number] += 1
        # the graph may carry (b, p) vectors: dask's advice about large graphs is not for the user here
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            future = client.compute(jobs[number](), retries=RETRIES)
        under_way[future.key] = number, future
        done.add(future)

    try:
        for number in range(min(ahead, len(jobs))):
            submit(number)
        due = 0
        for future in done:
            number, _ = under_way.pop(future.key)
            try:
                early[number] = future.result()
            except distributed.KilledWorker as error:
                if tries[number] >= DEATHS:
                    raise ClusterFailed.workers_died(number, len(jobs), tries[number]) from error
                submit(number)
            except distributed.CancelledError as error:
                raise ClusterFailed.lost(number, len(jobs)) from error
            future.release()
            while due in early:
                yield early.pop(due)
                due += 1
                if due + ahead <= len(jobs):
                    submit(due + ahead - 1)
    finally:
        client.cancel([future for _, future in under_way.values()])


def _active_client() -> Any:
    """The client that dask itself would compute with now, or None."""
    return getattr(dask.base.get_scheduler(), "__self__", None)


def _needed(graph: dict[Any, Any], key: Any) -> dict[Any, Any]:
    """The part of a graph behind one key. Data that are kept on workers are named in it, but not part of it."""
    part: dict[Any, Any] = {}
    ahead = [key]
    while ahead:
        name = ahead.pop()
        if name in graph and name not in part:
            part[name] = graph[name]
            ahead.extend(dask.core.get_dependencies(graph, name))
    return part


def _grouped(spans: list[Span], least_rows: int) -> list[list[Span]]:
    """Neighbouring blocks that one graph merges: few statistics come home where they are large beside their blocks."""
    if spans[0].rows is None:
        most = BLOCKS_UNCOUNTED if least_rows > 1 else 1
        return [spans[i : i + most] for i in range(0, len(spans), most)]
    groups: list[list[Span]] = []
    rows = 0
    for span in spans:
        if not groups or rows >= READ_PER_SENT * least_rows or len(groups[-1]) == MOST_BLOCKS:
            groups.append([])
            rows = 0
        groups[-1].append(span)
        rows += span.rows or 0
    return groups


# -- what tasks do ----------------------------------------------------------------------------------------------------


def _statistic(
    per_block: Callable[[Block], Statistic],
    start: int,
    chunks: list[list[Any]],
    dtype: np.dtype[Any],
    weight: NDArray[np.float64] | None,
) -> Statistic | None:
    """What one block says; None if it has no rows, or none with weight."""
    rows = _joined(chunks, dtype)
    if not len(rows):
        return None
    block: Block | None = Block(start, rows)
    if weight is not None:
        block = weighted_block(Block(start, rows), weight)
    with alone():
        return None if block is None else per_block(block)


def _merged(merge: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Both together; a copy, because dask may need `one` again if the worker with the result dies."""
    with alone():
        return _merged_in_place(merge, copy.deepcopy(one), other)


def _merged_in_place(merge: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    if one is None or other is None:
        return copy.deepcopy(other) if one is None else one
    return merge(one, other)


def _mapped(rows: NDArray[Any], work: Callable[[Block], NDArray[Any]], width: int, dtype_out: Any) -> NDArray[Any]:
    if not len(rows):
        return np.empty((0, width), dtype=dtype_out)
    with alone():
        return work(Block(-1, as_table(rows))).astype(dtype_out, copy=False)


def _mapped_frame(
    frame: Any, work: Callable[[Block], NDArray[Any]], width: int, dtype: np.dtype[Any], dtype_out: Any
) -> Any:
    return type(frame)(_mapped(_joined([[frame]], dtype), work, width, dtype_out), index=frame.index)


def _joined(chunks: list[list[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Rows of neighbouring chunks, each of several column chunks or a frame, as one array."""
    rows = [np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0] for parts in map(_arrays, chunks)]
    whole: NDArray[Any] = np.concatenate(rows) if len(rows) > 1 else rows[0]
    return whole.astype(dtype, copy=False)


def _arrays(parts: list[Any]) -> list[NDArray[Any]]:
    return [as_table(part) if len(part) else part for part in (_array(part) for part in parts)]


def _array(part: Any) -> NDArray[Any]:
    if isinstance(part, np.ndarray):
        return part
    source: Any = frame_source(_framed(part))
    array: NDArray[Any] = source.array if isinstance(source, ArraySource) else source.to_array()
    return array


def _framed(data: Any) -> Any:
    frame = as_frame(data)
    if frame is None:
        raise BadInput(f"A chunk is a {type(data).__name__}, but frames or NumPy arrays are needed.")
    return frame


def _refuse_array(data: Any) -> None:
    refuse_shape(tuple(1 if math.isnan(n) else n for n in data.shape))
    refuse_dtype(data.dtype)
    if type(data._meta) is not np.ndarray:
        kind = f"{type(data._meta).__module__.partition('.')[0]}.{type(data._meta).__name__}"
        raise BadInput(
            f"The chunks of the dask array are of kind {kind}, but NumPy arrays are needed: turn them with "
            "x.map_blocks first."
        )
