"""What a pass on a cluster costs: constants measured here, a prediction from them, and folds on 1, 2 and 4 workers.

python benchmarks/scaling.py              writes the tables of docs/scaling.md (about two minutes, 600 MB of disk)
"""

from __future__ import annotations

import logging
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

import dask.array as da
import distributed
import numpy as np

from lowdim.matrices.moments import Moments, block_moments
from lowdim.runtime.threads import single_threaded
from lowdim.sources.dask import DaskSource, fold_chunks, group_spans
from workloads import SEED

DOCS = Path(__file__).parents[1] / "docs" / "scaling.md"
START, END = "<!-- written by benchmarks/scaling.py -->", "<!-- end -->"

ROWS, COLUMNS, CHUNK = 300_000, 500, 16_384
WORKERS = (1, 2, 4)
ITEM = np.dtype(np.float32).itemsize


@dataclass(frozen=True)
class Costs:
    """Seconds for each unit of work, of one worker or of the client."""

    read: float
    """A byte of rows, from the page cache."""
    product: float
    """A row's share of one entry of the p × p scatter: n p² of them make a pass."""
    task: float
    """A task through the scheduler."""
    home: float
    """A byte of a statistic, from a worker to the client."""
    fold: float
    """A byte of a statistic that the client merges."""

    def block(self, rows: int, p: int) -> float:
        """A worker's time for one block: the chunk's task and the statistic's."""
        return rows * p * ITEM * self.read + rows * p * p * self.product + 2 * self.task

    def statistic(self, p: int) -> float:
        """The client's time for one statistic."""
        return 8 * p * p * (self.home + self.fold)

    def a_pass(self, n: int, p: int, rows: int, workers: int, fan: int) -> tuple[float, float]:
        """Time of the workers and of the client for one pass; they work at the same time, so the larger one counts."""
        blocks = -(-n // rows)
        merges = (blocks / workers) * (1 - 1 / fan) * (8 * p * p * (self.home + self.fold) + self.task)
        return blocks / workers * self.block(rows, p) + merges, blocks / fan * self.statistic(p)


def best(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of some runs: the others were disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def chunk(path: str, start: int, stop: int) -> np.ndarray:
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def rows_of(block: np.ndarray, path: str, block_info: dict) -> np.ndarray:
    (start, stop), _ = block_info[0]["array-location"]
    return chunk(path, start, stop)


def table(path: str) -> da.Array:
    """Rows that every worker reads from the file, as it would from a store."""
    nothing = da.zeros((ROWS, COLUMNS), chunks=(CHUNK, COLUMNS), dtype=np.float32)
    return nothing.map_blocks(partial(rows_of, path=path), dtype=np.float32, meta=np.empty((0, 0), np.float32))


@contextmanager
def cluster(workers: int) -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR
        ) as processes,
        distributed.Client(processes) as client,
    ):
        client.run(lambda: __import__("lowdim.matrices.moments"))
        yield client


def square(p: int) -> np.ndarray:
    return np.ones((p, p))


def measured_costs(path: str, client: distributed.Client) -> Costs:
    X = chunk(path, 0, CHUNK)
    read = best(lambda: chunk(path, 0, CHUNK)) / X.nbytes
    per_block = partial(block_moments, full=True)
    work = best(lambda: fold_chunks(per_block, 0, [[X]], X.dtype, None))
    count = 200
    tasks = best(lambda: client.gather(client.map(abs, range(count), pure=False))) / count
    p = 1000
    home = best(lambda: client.submit(square, p, pure=False).result(), 7) - best(
        lambda: client.submit(square, 1, pure=False).result(), 7
    )
    parts = [Moments(2, 2.0, np.ones(p), square(p)) for _ in range(8)]  # more than a cache holds
    with single_threaded():
        fold = best(lambda: reduce(Moments.absorb, parts)) / (len(parts) - 1)
    return Costs(read, work / (CHUNK * COLUMNS**2), tasks, home / (8 * p * p), fold / (8 * p * p))


def folded(source: DaskSource) -> Moments:
    """The covariance in one pass, as the solver asks for it."""
    return source.reduce(partial(block_moments, full=True), Moments.absorb, 2 * COLUMNS)


def fan_of(rows: int, p: int, n: int) -> int:
    source = DaskSource(da.zeros((n, p), chunks=(rows, p), dtype=np.float32))
    return len(group_spans(source._spans(2 * p), 2 * p)[0])


def constants(costs: Costs) -> list[str]:
    return [
        "| what | measured |",
        "|---|---|",
        f"| rows read by a worker, from the page cache | {1e-9 / costs.read:.1f} GB/s |",
        f"| products of a worker, float32, p = {COLUMNS} | {1e-9 / costs.product:.0f} · 10⁹ a second |",
        f"| a task through the scheduler | {1e3 * costs.task:.1f} ms |",
        f"| a statistic from a worker to the client | {1e-9 / costs.home:.2f} GB/s |",
        f"| statistics merged by the client | {1e-9 / costs.fold:.2f} GB/s |",
    ]


def comparison(costs: Costs, seconds: dict[int, float]) -> list[str]:
    cores = len(os.sched_getaffinity(0))
    fan = fan_of(CHUNK, COLUMNS, ROWS)
    lines = ["| workers | predicted | measured |", "|---|---|---|"]
    for workers, measured in seconds.items():
        predicted = max(costs.a_pass(ROWS, COLUMNS, CHUNK, min(workers, cores), fan))
        lines.append(f"| {workers} | {predicted:.1f} s | {measured:.1f} s |")
    return lines


def forecast(costs: Costs) -> list[str]:
    n, p, rows, workers = 10**9, 1000, 32_768, 100
    lines = ["| statistics come home | workers | client | bytes to the client |", "|---|---|---|---|"]
    for name, fan in (("one for each block", 1), (f"one for {fan_of(rows, p, n)} blocks", fan_of(rows, p, n))):
        busy, client = costs.a_pass(n, p, rows, workers, fan)
        sent = -(-n // rows) / fan * 8 * p * p
        lines.append(f"| {name} | {busy:,.0f} s | {client:,.0f} s | {sent / 1e9:,.0f} GB |")
    alone_until = costs.block(rows, p) / costs.statistic(p)
    fan = fan_of(rows, p, n)
    tasks = n / rows * (3 - 1 / fan)
    lines += [
        "",
        f"One block takes a worker {costs.block(rows, p):.2f} s; its statistic takes the client "
        f"{1e3 * costs.statistic(p):.0f} ms, moved and merged. So one client keeps up with {alone_until:.0f} workers "
        f"if every block's statistic comes home, and with {alone_until * fan:.0f} if one for {fan} blocks does. The "
        f"one scheduler sees {tasks:,.0f} tasks: {tasks * costs.task:,.0f} s if all of a task's "
        f"{1e3 * costs.task:.1f} ms were its own, but they are the worker's and the client's too; four times larger "
        "chunks make it a quarter.",
    ]
    return lines


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npy")
        rng = np.random.default_rng(SEED)
        np.save(path, rng.standard_normal((ROWS, COLUMNS), dtype=np.float32) + 1)
        seconds = {}
        for workers in WORKERS:
            with cluster(workers) as client:
                if workers == 1:
                    costs = measured_costs(path, client)
                fold = partial(folded, DaskSource(table(path)))
                fold()  # loads what a worker needs
                seconds[workers] = best(fold)
    cores = len(os.sched_getaffinity(0))
    lines = [
        f"{cores} cores ({platform.machine()}), shared with others; the fastest of three runs.",
        "",
        *constants(costs),
        "",
        f"One pass for the covariance of {ROWS:,} × {COLUMNS} float32, in {-(-ROWS // CHUNK)} chunks:",
        "",
        *comparison(costs, seconds),
        "",
        "10⁹ × 1,000 float32 (4 TB) on 100 workers of one thread, in chunks of 128 MB:",
        "",
        *forecast(costs),
    ]
    print("\n".join(lines))
    before, rest = DOCS.read_text().split(START)
    DOCS.write_text("\n".join([before + START, "", *lines, "", END + rest.split(END)[1]]))


if __name__ == "__main__":
    main()
