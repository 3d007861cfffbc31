"""A file larger than the memory that is allowed: 2,000,000 × 500 float32, as .npy and as Parquet, k = 20.

python benchmarks/run.py "out of core"        makes the files (10 GB), writes the table, removes them

Each contender runs in a process of its own, after its file was dropped from the page cache. The clock starts when the
process has loaded its libraries, and stops when the components are there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from measure import Truth, status
from workloads import SEED

NAME = "out of core"

ROWS, COLUMNS, K = 2_000_000, 500, 20
PIECE = 100_000
"""Rows written at a time, and of one Parquet row group."""

PATIENCE = 400
"""Seconds after which a contender is stopped."""

Seen = dict[str, Any]


def by_lowdim(path: Path) -> Seen:
    import lowdim

    lowdim.PCA(2).fit(np.eye(4))
    return timed(lambda: fitted(lowdim.PCA(K, memory="1GB").fit(path)))


def by_incremental(path: Path) -> Seen:
    from sklearn.decomposition import IncrementalPCA

    X = np.load(path, mmap_mode="r")
    return timed(lambda: fitted(IncrementalPCA(K, batch_size=20_000).fit(X)))


def by_sklearn(path: Path) -> Seen:
    from sklearn.decomposition import PCA

    X = np.load(path, mmap_mode="r")
    return timed(lambda: fitted(PCA(K, svd_solver="covariance_eigh").fit(X)))


def by_dask_ml(path: Path) -> Seen:
    import dask_ml.decomposition

    with cluster():
        X = dask_rows(path)
        return timed(lambda: fitted(dask_ml.decomposition.PCA(K, svd_solver="tsqr").fit(X)))


def by_compressed(path: Path) -> Seen:
    import dask
    import dask.array as da

    def fit() -> Seen:
        X = dask_rows(path)
        _, sizes, V = da.linalg.svd_compressed(X - X.mean(axis=0), K, n_power_iter=4, seed=0)
        sizes, V = dask.compute(sizes, V)
        return {"variances": (sizes**2 / (ROWS - 1)).tolist(), "components": V.tolist()}

    with cluster():
        return timed(fit)


def by_reading(path: Path) -> Seen:
    """No fit: the bytes of the file, read once, past the page cache if that can be had."""
    import mmap

    buffer = mmap.mmap(-1, 2**24)  # begins at a page, as direct reads need it

    def read() -> Seen:
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        while os.readv(file, [buffer]) == len(buffer):
            pass
        os.close(file)
        return {}

    return timed(read)


def by_decoding(path: Path) -> Seen:
    """No fit: the Parquet file decoded by pyarrow, row group by row group, by as many threads as there are cores."""
    import pyarrow.parquet

    def decode() -> Seen:
        file = pyarrow.parquet.ParquetFile(path)
        for group in range(file.num_row_groups):
            file.read_row_group(group)
        return {}

    return timed(decode)


def by_multiplying(path: Path) -> Seen:
    """No fit: the product XᵀX alone, of as many rows that lie in memory, by as many threads as there are cores."""
    X = np.random.default_rng(0).standard_normal((20_000, COLUMNS), dtype=np.float32)

    def multiply() -> Seen:
        for _ in range(ROWS // len(X)):
            np.matmul(X.T, X)
        return {}

    multiply()
    return timed(multiply)


CONTENDERS: dict[str, tuple[Callable[[Path], Seen], str, int]] = {
    "lowdim, .npy, memory 1 GB": (by_lowdim, "rows.npy", 3),
    "lowdim, Parquet, memory 1 GB": (by_lowdim, "rows.parquet", 3),
    "reading the .npy file alone": (by_reading, "rows.npy", 3),
    "reading the Parquet file alone": (by_reading, "rows.parquet", 3),
    "decoding the Parquet file alone": (by_decoding, "rows.parquet", 3),
    "XᵀX alone": (by_multiplying, "rows.npy", 3),
    "sklearn PCA covariance_eigh, memory map": (by_sklearn, "rows.npy", 3),
    "sklearn IncrementalPCA, memory map, batches of 20,000": (by_incremental, "rows.npy", 1),
    "dask-ml PCA tsqr, 2 workers": (by_dask_ml, "rows.npy", 1),
    "dask svd_compressed, 4 power iterations, 2 workers": (by_compressed, "rows.npy", 1),
}
"""Name → what it runs, on which file, how often."""


def table(folder: Path) -> list[str]:
    """Make the files, let the contenders take turns, and give the lines of the table."""
    truth = make_files(folder)
    seen: dict[str, list[Seen | None]] = {name: [] for name in CONTENDERS}
    for number in range(3):
        for name, (_, file, repeats) in CONTENDERS.items():
            if number < repeats:
                seen[name].append(child(name, folder / file))
    seconds = {name: median(found) for name, found in seen.items()}
    versions = ", ".join(f"{name} {version(name)}" for name in ("lowdim", "scikit-learn", "pyarrow", "dask", "dask-ml"))
    stored = ", ".join(f"{size / 1e9:.1f} GB as {kind}" for kind, size in sizes(folder).items())
    lines = [
        "",
        f"## {NAME}: {ROWS:,} × {COLUMNS} float32 in a file, k = {K}",
        "",
        f"{stored}. The Parquet file is as pyarrow writes it by default, in row groups of 100,000 rows. Each fit is",
        "a process of its own, on a file that was dropped from the page cache; medians of three runs (lowdim, sklearn",
        "PCA, the limits) or one run. Memory is the peak of the whole process; of Dask, that of the client alone. The",
        "ratios are to lowdim on the .npy file; the rows called alone do no fit, and show what limits one.",
        "",
        f"{versions}.",
        "",
        "| contender | seconds | variance error | sine | peak | ratio |",
        "|---|---|---|---|---|---|",
    ]
    ours = seconds["lowdim, .npy, memory 1 GB"]
    return lines + [row(name, found, seconds[name], ours, truth) for name, found in seen.items()]


def row(name: str, found: list[Seen | None], seconds: float | None, ours: float | None, truth: Truth) -> str:
    last = found[-1]
    if last is None or seconds is None or ours is None:
        return f"| {name} | no result within {PATIENCE} s | | | | |"
    errors = "| "
    if "components" in last:
        variance, sine = truth.errors((np.array(last["variances"]), np.array(last["components"])))
        errors = f"{variance:.0e} | {sine:.0e}"
    peak = max(one["peak"] for one in found if one is not None)
    return f"| {name} | {seconds:.2f} | {errors} | {peak / 1e6:,.0f} MB | {seconds / ours:.2f} |"


def make_files(folder: Path) -> Truth:
    """Write the rows of a slow spectrum to both files, and give their exact eigenpairs."""
    import pyarrow as pa
    import pyarrow.parquet

    rng = np.random.default_rng([SEED, ROWS, COLUMNS])
    deviations = 1 / np.sqrt(1 + 0.1 * np.arange(COLUMNS))
    turn = (deviations[:, None] * np.linalg.qr(rng.standard_normal((COLUMNS, COLUMNS)))[0]).astype(np.float32)
    mean = 0.5 * rng.standard_normal(COLUMNS).astype(np.float32)
    names = [f"x{j}" for j in range(COLUMNS)]
    stored = np.lib.format.open_memmap(folder / "rows.npy", mode="w+", dtype=np.float32, shape=(ROWS, COLUMNS))
    total, scatter = np.zeros(COLUMNS), np.zeros((COLUMNS, COLUMNS))
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pa.parquet.ParquetWriter(folder / "rows.parquet", schema) as writer:
        for start in range(0, ROWS, PIECE):
            rows = rng.standard_normal((PIECE, COLUMNS), dtype=np.float32) @ turn + mean
            stored[start : start + PIECE] = rows
            columns = np.ascontiguousarray(rows.T)
            writer.write_table(pa.table(list(columns), schema=schema))
            apart = rows.astype(np.float64) - mean
            total += apart.sum(axis=0)
            scatter += apart.T @ apart
    stored.flush()
    values, vectors = np.linalg.eigh((scatter - np.outer(total, total) / ROWS) / (ROWS - 1))
    return Truth.of(values[::-1], vectors[:, ::-1].T)


def child(name: str, path: Path) -> Seen | None:
    """One run in a process of its own, on a cold file; None if it took too long."""
    os.sync()
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    command = [sys.executable, __file__, name, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except subprocess.TimeoutExpired:
        return None
    found: Seen = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {found['seconds']:.2f} s, {found['peak'] / 1e6:,.0f} MB", file=sys.stderr, flush=True)
    return found


def timed(fit: Callable[[], Seen]) -> Seen:
    start = time.perf_counter()
    answer = fit()
    return {"seconds": time.perf_counter() - start, "peak": status("VmHWM"), **answer}


def fitted(model: Any) -> Seen:
    return {
        "variances": np.asarray(model.explained_variance_, dtype=float).tolist(),
        "components": np.asarray(model.components_, dtype=float).tolist(),
    }


def cluster() -> Any:
    from distributed import Client

    return Client(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0)


def dask_rows(path: Path) -> Any:
    """The rows as a dask array whose chunks are read by the workers."""
    import dask.array as da
    from dask import delayed

    def read(start: int) -> np.ndarray:
        return np.array(np.load(path, mmap_mode="r")[start : start + 20_000])

    parts = [
        da.from_delayed(delayed(read)(start), (20_000, COLUMNS), dtype=np.float32) for start in range(0, ROWS, 20_000)
    ]
    return da.concatenate(parts)


def median(found: list[Seen | None]) -> float | None:
    times = [one["seconds"] for one in found if one is not None]
    return float(np.median(times)) if times else None


def sizes(folder: Path) -> dict[str, int]:
    return {".npy": (folder / "rows.npy").stat().st_size, "Parquet": (folder / "rows.parquet").stat().st_size}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]][0](Path(sys.argv[2]))))
