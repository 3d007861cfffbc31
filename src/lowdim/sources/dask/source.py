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
from functools import cached_property, partial
from typing import Any, TypeVar, cast, final

import dask
import dask.base
import dask.core
import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from lowdim.errors import BadInput, ClusterFailed, Interrupted
from lowdim.runtime.progress import new_pass
from lowdim.runtime.threads import allowed_threads, in_order
from lowdim.sources.arrays import refuse_dtype, refuse_shape
from lowdim.sources.dask.tasks import (
    MOST_BLOCKS,
    Part,
    Span,
    block_of,
    grouped,
    joined,
    mapped,
    mapped_frame,
    merged,
    part_of,
    slices,
    source_of_frame,
    spans_of,
    uncounted_spans,
)
from lowdim.sources.source import Block, Source

Statistic = TypeVar("Statistic")

SUBMISSIONS = 5
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
        self._weight: NDArray[np.float64] | None = None
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
            rows = dask.delayed(joined, pure=False)(self._parts[span.chunks], self.dtype).compute()
            block = block_of(done, rows, self._weights(span))
            done += len(rows)
            if block is not None:
                yield block
        refuse_shape((done, self.n_columns))

    def reduce(
        self,
        per_block: Callable[[Block], Statistic],
        merge: Callable[[Statistic, Statistic], Statistic],
        least_rows: int = 1,
    ) -> Statistic:
        """Fold on the cluster of the active client, or in threads here if there is none."""
        tell, total = new_pass(self.n_rows), Part(0, None)
        with closing(self._statistics(per_block, merge, least_rows)) as statistics:
            for part in statistics:
                total = total.absorb(part, merge)
                if tell(total.rows):
                    raise Interrupted(total.rows, total.statistic)
        refuse_shape((total.rows, self.n_columns))
        return cast(Statistic, total.statistic)

    def map_rows(self, function: Callable[[Block], NDArray[Any]], width: int, dtype: Any) -> Any:
        """A lazy dask array (n, width): nothing is computed before the user asks for it."""
        work = dask.delayed(function, pure=False)
        if self._is_frame:
            meta = type(self.header)(np.empty((0, width), dtype=dtype))
            lazy = self._data.map_partitions(mapped_frame, work, width, self.dtype, dtype, meta=meta)
            return lazy.to_dask_array()
        chunks, meta = (self._data.chunks[0], (width,)), np.empty((0, 0), dtype=dtype)
        whole_rows = self._data.rechunk({1: -1})
        return whole_rows.map_blocks(mapped, work=work, width=width, dtype_out=dtype, chunks=chunks, meta=meta)

    def with_weights(self, weight: NDArray[np.float64]) -> Source:
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
            jobs = [partial(_lengths, parts, span) for span in slices(len(parts), MOST_BLOCKS)]
            self._sizes = [count for counts in _results(jobs, MOST_BLOCKS) for count in counts]
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
        return spans_of(self._sizes, min(max(least_rows, usual // 4), 4 * usual))

    def _weights(self, span: Span) -> NDArray[np.float64] | None:
        return None if self._weight is None else self._weight[span.start : span.start + (span.rows or 0)]

    def _statistics(
        self, per_block: Callable[[Block], Any], merge: Callable[[Any, Any], Any], least_rows: int
    ) -> Generator[Part, None, None]:
        spans = self._spans(least_rows)
        if _active_client() is None:
            yield from in_order(partial(self._computed_here, per_block), spans)
            return
        work = dask.delayed(per_block, pure=False)  # one node for all: it may carry (b, p) vectors
        groups = grouped(spans, least_rows)
        yield from _results([partial(self._job, work, merge, group) for group in groups], max(map(len, groups)))

    def _computed_here(self, per_block: Callable[[Block], Any], span: Span) -> Part:
        (chunks,) = dask.compute(self._parts[span.chunks], scheduler="synchronous")
        return part_of(per_block, span.start, chunks, self.dtype, self._weights(span))

    def _job(self, work: Delayed, merge: Callable[[Any, Any], Any], group: Sequence[Span]) -> Delayed:
        """The statistic of neighbouring blocks, merged by a tree of tasks."""
        make, join = dask.delayed(part_of, pure=False), dask.delayed(merged, pure=False)
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


def _results(jobs: Sequence[Callable[[], Delayed]], blocks: int) -> Generator[Any, None, None]:
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
        if self._deaths[number] >= SUBMISSIONS:
            raise ClusterFailed.workers_died(number, len(self._jobs), SUBMISSIONS) from error
        numbers = sorted(number for number, _ in self._futures.values())
        self.close()
        for again in numbers:
            self.submit(again)


def _lengths(parts: _Parts, span: slice) -> Delayed:
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
