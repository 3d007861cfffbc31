"""Dask arrays and frames: row blocks are computed where the data are, small statistics come home.

A fold is many small graphs, each of some neighbouring blocks: a task per block makes its statistic, a tree of tasks
merges them, and one statistic per graph comes home, where it is merged in block order. Workers keep nothing between
graphs, so a worker that dies costs its part of the graphs under way, and the same blocks give the same bits. What is
merged where follows from the data alone, never from the workers (docs/scaling.md has the numbers behind it).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any, TypeVar, cast, final

import dask
import dask.base
import dask.core
import numpy as np
from dask.delayed import Delayed

from lowdim.errors import BadInput, ClusterFailed, Interrupted
from lowdim.runtime.passes import kept_passes
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import allowed_threads, in_order, single_threaded
from lowdim.sources.arrays import as_table, refuse_dtype, refuse_shape
from lowdim.sources.frames import as_frame, frame_source, to_array
from lowdim.sources.source import Block, Source, weigh_block
from lowdim.types import Array, Floats

Statistic = TypeVar("Statistic")

MAX_SUBMISSIONS = 5
"""Times that a graph is submitted before its rows are given up. The scheduler itself starts a task four times (its
setting `allowed-failures`), so a block may lose 20 workers."""

RETRIES = 2
"""Times that a task is run again after an error of its own, such as a file server that did not answer."""


@final
class DaskSource(Source):
    """A dask array (n, p) or a dask frame of numbers."""

    remote = True

    repeatable = True

    def __init__(self, data: Any):
        self._data = data
        self._weight: Floats | None = None
        self._sizes: list[int] | None = None
        self._is_frame = hasattr(data, "to_dask_array")
        if self._is_frame:
            refuse_shape((1, *data.shape[1:]))
            header = source_of_frame(data._meta)
            self.columns, self.dtype, self.n_columns = header.columns, header.dtype, header.n_columns
            self.header, self.numbered = data._meta, header.numbered
        else:
            _refuse_array(data)
            self.columns, self.dtype, self.n_columns = None, data.dtype, int(data.shape[1])
            if not any(map(math.isnan, data.chunks[0])):
                self._sizes = list(data.chunks[0])
        self.n_rows = None if self._sizes is None else sum(self._sizes)
        if self._sizes is not None and _active_client() is None:
            self.reading_bytes = allowed_threads() * max(self._sizes) * self.n_columns * self.dtype.itemsize

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Compute block after block, wherever dask computes, and give their rows here."""
        done = 0
        for span in self._spans(least_rows):
            rows = dask.delayed(join_chunks, pure=False)(self._parts[span.chunks], self.dtype).compute()
            block = make_block(done, rows, self._weights(span))
            done += len(rows)
            if block is not None:
                yield block
        refuse_shape((done, self.n_columns))

    @kept_passes
    def reduce(
        self,
        per_block: Callable[[Block], Statistic],
        merge: Callable[[Statistic, Statistic], Statistic],
        least_rows: int = 1,
    ) -> Statistic:
        """Fold on the cluster of the active client, or in threads here if there is none."""
        total = Part(0, None)
        with (
            stage(ROW, self.likely_rows) as tell,
            closing(self._statistics(per_block, merge, least_rows)) as statistics,
        ):
            try:
                for part in statistics:
                    total = total.absorb(part, merge)
                    tell(total.rows)
            except Interrupted as stop:
                raise Interrupted(total.rows, total.statistic) from stop
        refuse_shape((total.rows, self.n_columns))
        return cast(Statistic, total.statistic)

    def map_rows(self, function: Callable[[Block], Array], width: int, dtype: Any) -> Any:
        """A lazy dask array (n, width): nothing is computed before the user asks for it."""
        work = dask.delayed(function, pure=False)
        if self._is_frame:
            meta = type(self.header)(np.empty((0, width), dtype=dtype))
            lazy = self._data.map_partitions(map_frame, work, width, self.dtype, dtype, meta=meta)
            return lazy.to_dask_array()
        chunks, meta = (self._data.chunks[0], (width,)), np.empty((0, 0), dtype=dtype)
        whole_rows = self._data.rechunk({1: -1})
        return whole_rows.map_blocks(map_chunk, work=work, width=width, dtype_out=dtype, chunks=chunks, meta=meta)

    def with_weights(self, weight: Floats) -> Source:
        """The same rows with weights, of which each task is sent its own."""
        twin = copy.copy(self)
        twin._weight = weight
        return twin

    def after(self, rows: int) -> Source:
        """The source without its first rows, which an array whose rows are counted need not compute again."""
        if self._is_frame or self.n_rows is None or self._weight is not None or rows >= self.n_rows:
            return super().after(rows)
        return DaskSource(self._data[rows:])

    def count_rows(self) -> int:
        """Number of rows; where chunks do not tell theirs, each is asked for it first."""
        if self._sizes is None:
            some = self._data.index if self._is_frame else self._data[:, :1]
            parts = _Parts([[part] for part in np.ravel(some.to_delayed())])
            jobs = [partial(_count_chunks, parts, span) for span in slices(len(parts), MAX_BLOCKS_MERGED)]
            self._sizes = [count for counts in _compute_in_order(jobs, MAX_BLOCKS_MERGED) for count in counts]
            self.n_rows = sum(self._sizes)
            refuse_shape((self.n_rows, self.n_columns))
        return sum(self._sizes)

    def describe(self) -> str:
        """Say what it is and its shape."""
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows × "
        what = "frame" if self._is_frame else f"{self.dtype} array"
        return f"the dask {what} of {rows}{self.n_columns:,} columns"

    @cached_property
    def _parts(self) -> _Parts:
        chunks = self._data.to_delayed()
        return _Parts([[part] for part in chunks] if self._is_frame else chunks.tolist())

    def _spans(self, least_rows: int) -> list[Span]:
        """Chunks as they are; small ones are joined, which may move and will copy them, so only up to a few blocks."""
        if self._sizes is None:
            return uncounted_spans(len(self._parts))
        usual = self.rows_per_block()
        return make_spans(self._sizes, min(max(least_rows, usual // 4), 4 * usual))

    def _weights(self, span: Span) -> Floats | None:
        return None if self._weight is None else self._weight[span.start : span.start + (span.rows or 0)]

    def _statistics(
        self, per_block: Callable[[Block], Any], merge: Callable[[Any, Any], Any], least_rows: int
    ) -> Generator[Part, None, None]:
        spans = self._spans(least_rows)
        if _active_client() is None:
            yield from in_order(partial(self._computed_here, per_block), spans)
            return
        work = dask.delayed(per_block, pure=False)  # one node for all: it may carry (b, p) vectors
        groups = group_spans(spans, least_rows)
        yield from _compute_in_order(
            [partial(self._job, work, merge, group) for group in groups], max(map(len, groups))
        )

    def _computed_here(self, per_block: Callable[[Block], Any], span: Span) -> Part:
        (chunks,) = dask.compute(self._parts[span.chunks], scheduler="synchronous")
        return fold_chunks(per_block, span.start, chunks, self.dtype, self._weights(span))

    def _job(self, work: Delayed, merge: Callable[[Any, Any], Any], group: Sequence[Span]) -> Delayed:
        """The statistic of neighbouring blocks, merged by a tree of tasks."""
        make, join = dask.delayed(fold_chunks, pure=False), dask.delayed(merge_parts, pure=False)
        level = [make(work, s.start, self._parts[s.chunks], self.dtype, self._weights(s)) for s in group]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [join(merge, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return level[0]


class _Parts:
    """Chunks of a collection, rows by columns, each with the part of the graph that it needs and no more."""

    def __init__(self, chunks: list[list[Delayed]]):
        self._graph = dict(chunks[0][0].__dask_graph__())  # one for all
        self._keys = [[part.key for part in row] for row in chunks]

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, span: slice) -> list[list[Delayed]]:
        return [[Delayed(key, self._needed(key)) for key in row] for row in self._keys[span]]

    def _needed(self, key: Any) -> dict[Any, Any]:
        needed: dict[Any, Any] = {}
        ahead = [key]
        while ahead:
            name = ahead.pop()
            # data that are kept on workers are named in the graph, but no part of it
            if name in self._graph and name not in needed:
                needed[name] = self._graph[name]
                ahead.extend(dask.core.get_dependencies(self._graph, name))
        return needed


def dask_source(data: Any) -> Source:
    """The source behind an object of dask's."""
    if not hasattr(data, "to_dask_array") and not hasattr(data, "chunks"):
        raise BadInput(f"A dask {type(data).__name__} was given, but a dask array or a dask frame is needed.")
    return DaskSource(data)


def lazy_frame(scores: Any, names: list[str], like: Any) -> Any:
    """A lazy dask frame of a lazy array, with the index of another frame in the same chunks."""
    import dask.dataframe as frames

    return frames.from_dask_array(scores, columns=names, index=like.index)


def _active_client() -> Any:
    """The client that dask itself would compute with now, or None."""
    return getattr(dask.base.get_scheduler(), "__self__", None)


def _compute_in_order(jobs: Sequence[Callable[[], Delayed]], blocks: int) -> Generator[Any, None, None]:
    """Results of jobs of at most so many blocks, in order.

    On a cluster so many are under way that every thread has two blocks to do, and no more: what comes home early waits
    here for its turn, so memory stays bounded.
    """
    client = _active_client()
    if client is None:
        yield from dask.compute(*[job() for job in jobs])
        return
    ahead = 2 + 2 * sum(client.nthreads().values()) // blocks
    early: dict[int, Any] = {}
    due = 0
    with closing(_UnderWay(client, jobs)) as under_way:
        for number in range(min(ahead, len(jobs))):
            under_way.submit(number)
        while due < len(jobs):
            number, result = under_way.next_result()
            early[number] = result
            while due in early:
                yield early.pop(due)
                due += 1
                if due + ahead <= len(jobs):
                    under_way.submit(due + ahead - 1)


class _UnderWay:
    """Jobs that a cluster was given, some of which it will lose."""

    def __init__(self, client: Any, jobs: Sequence[Callable[[], Delayed]]):
        import distributed

        self._client = client
        self._jobs = jobs
        self._deaths = [0] * len(jobs)
        self._futures: dict[str, tuple[int, Any]] = {}
        self._done = distributed.as_completed()
        self._died, self._lost = distributed.KilledWorker, distributed.CancelledError

    def submit(self, number: int) -> None:
        # a graph may carry (b, p) vectors: dask's advice about large graphs is not for the user here
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            future = self._client.compute(self._jobs[number](), retries=RETRIES)
        self._futures[future.key] = number, future
        self._done.add(future)

    def next_result(self) -> tuple[int, Any]:
        """Number and result of the job that is done next; it is forgotten by the cluster."""
        for future in self._done:
            if future.key not in self._futures:  # it was taken back
                continue
            number, _ = self._futures[future.key]
            try:
                result = future.result()
            except self._died as error:
                self._submit_all_again(number, error)
                continue
            except self._lost as error:
                raise ClusterFailed.lost(number, len(self._jobs)) from error
            del self._futures[future.key]
            future.release()
            return number, result
        raise AssertionError("no job is under way")

    def close(self) -> None:
        """Take back what is under way."""
        self._client.cancel([future for _, future in self._futures.values()])
        self._futures.clear()

    def _submit_all_again(self, number: int, error: Exception) -> None:
        """All, because what failed stays failed for everybody as long as one graph wants it."""
        self._deaths[number] += 1
        if self._deaths[number] >= MAX_SUBMISSIONS:
            raise ClusterFailed.workers_died(number, len(self._jobs), MAX_SUBMISSIONS) from error
        numbers = sorted(number for number, _ in self._futures.values())
        self.close()
        for again in numbers:
            self.submit(again)


def _count_chunks(parts: _Parts, span: slice) -> Delayed:
    return dask.delayed([dask.delayed(len, pure=False)(row[0]) for row in parts[span]])


def _refuse_array(data: Any) -> None:
    refuse_shape(tuple(1 if math.isnan(n) else n for n in data.shape))
    refuse_dtype(data.dtype)
    if type(data._meta) is not np.ndarray:
        kind = f"{type(data._meta).__module__.partition('.')[0]}.{type(data._meta).__name__}"
        raise BadInput(
            f"The chunks of the dask array are of kind {kind}, but NumPy arrays are needed: turn them with "
            "x.map_blocks first."
        )


# What runs inside a task: the chunks that make a block are joined, folded and mapped.


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


def fold_chunks(
    per_block: Callable[[Block], Any],
    start: int,
    chunks: list[list[Any]],
    dtype: np.dtype[Any],
    weight: Floats | None,
) -> Part:
    """The statistic of one block."""
    rows = join_chunks(chunks, dtype)
    block = make_block(start, rows, weight)
    with single_threaded():
        return Part(len(rows), None if block is None else per_block(block))


def merge_parts(merge: Callable[[Any, Any], Any], one: Part, other: Part) -> Part:
    """Both together; a copy, because the scheduler may need `one` again if the worker with the result dies."""
    with single_threaded():
        return copy.deepcopy(one).absorb(other, merge)


def make_block(start: int, rows: Array, weight: Floats | None) -> Block | None:
    """The rows that count; None if there are none."""
    if not len(rows):
        return None
    return Block(start, rows) if weight is None else weigh_block(Block(start, rows), weight)


def join_chunks(chunks: list[list[Any]], dtype: np.dtype[Any]) -> Array:
    """Rows of neighbouring chunks, each of several column chunks or a frame, as one array."""
    rows = [_join_columns([_chunk_to_array(part) for part in parts]) for parts in chunks]
    whole: Array = np.concatenate(rows) if len(rows) > 1 else rows[0]
    return whole.astype(dtype, copy=False)


def map_chunk(rows: Array, work: Callable[[Block], Array], width: int, dtype_out: Any) -> Array:
    """What `work` makes of a chunk, (rows, width)."""
    if not len(rows):
        return np.empty((0, width), dtype=dtype_out)
    with single_threaded():
        return work(Block(-1, as_table(rows))).astype(dtype_out, copy=False)


def map_frame(frame: Any, work: Callable[[Block], Array], width: int, dtype: np.dtype[Any], dtype_out: Any) -> Any:
    """The same of a frame, with its index."""
    return type(frame)(map_chunk(join_chunks([[frame]], dtype), work, width, dtype_out), index=frame.index)


def source_of_frame(data: Any) -> Source:
    """The columns of a frame, which must hold numbers."""
    frame = as_frame(data)
    if frame is None:
        raise BadInput(f"A chunk is a {type(data).__name__}, but frames or NumPy arrays are needed.")
    return frame_source(frame)


def _join_columns(parts: list[Array]) -> Array:
    return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]


def _chunk_to_array(part: Any) -> Array:
    if isinstance(part, np.ndarray):
        return as_table(part) if len(part) else part
    return to_array(source_of_frame(part))


# Which chunks make a block, and which blocks are merged before their statistic is sent: from the data alone.
#
# Never from the number of workers, so that the same chunks give the same bits on any cluster.

ROWS_READ_PER_ROW_SENT = 128
"""Neighbouring blocks are merged until they have so many times `least_rows`, which is about the size of a statistic."""

MAX_BLOCKS_MERGED = 64
"""At most so many of them, so that a worker that dies costs little."""

UNCOUNTED_BLOCKS_MERGED = 8
"""The same where the number of rows is not known, and the statistic is large."""


@dataclass(frozen=True)
class Span:
    """Neighbouring chunks of rows that make one block."""

    start: int
    """Number of the first row; −1 where rows were not counted."""
    rows: int | None
    chunks: slice


def make_spans(sizes: list[int], enough: int) -> list[Span]:
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


def group_spans(spans: list[Span], least_rows: int) -> list[list[Span]]:
    """Neighbouring blocks that are merged where they are: few of them where a statistic is small beside its block."""
    if spans[0].rows is None:
        return [spans[part] for part in slices(len(spans), UNCOUNTED_BLOCKS_MERGED if least_rows > 1 else 1)]
    groups: list[list[Span]] = []
    rows = 0
    for span in spans:
        if not groups or rows >= ROWS_READ_PER_ROW_SENT * least_rows or len(groups[-1]) == MAX_BLOCKS_MERGED:
            groups.append([])
            rows = 0
        groups[-1].append(span)
        rows += span.rows or 0
    return groups


def slices(length: int, step: int) -> list[slice]:
    """0 … length, so many at a time."""
    return [slice(i, min(i + step, length)) for i in range(0, length, step)]
