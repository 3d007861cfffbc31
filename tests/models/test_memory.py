"""A memory budget holds for the whole process, blocks follow from it, and what does not fit is refused beforehand."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from lowdim import PCA, ProbabilisticPCA
from lowdim.errors import BadParameter, NotConverged, TooLarge
from lowdim.runtime.memory import budget_of, resident_bytes
from lowdim.sources.open import open_source
from models.peaks import run_measured

CHILD = """
import json, sys
import lowdim
path, memory, k, verb = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
make, settings = getattr(lowdim, sys.argv[5]), json.loads(sys.argv[6])
model = getattr(make(k, memory=memory, **settings), verb)(path)
with open("/proc/self/status") as lines:
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
print(json.dumps([peak, model.explained_variance_.tolist(), model.fit_.provenance.solver]))
"""


def fitted_by_child(
    path: Path, memory: str, k: int = 3, verb: str = "fit", make: str = "PCA", **settings: Any
) -> tuple[int, list[float], str]:
    given = [str(path), memory, str(k), verb, make, json.dumps(settings)]
    answer = run_measured(CHILD, given, timeout=200)
    assert answer.code == 0, answer.errors
    own, variances, solver = json.loads(answer.said)
    return max(own, answer.peak), variances, solver


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((400_000, 100)) * np.linspace(3, 1, 100) + 5).astype(np.float32)


@pytest.fixture(scope="module")
def folder(rows: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """160 MB as .npy, and as Parquet in row groups of 40 MB."""
    here = tmp_path_factory.mktemp("large")
    np.save(here / "rows.npy", rows)
    table = pa.table({f"x{j}": rows[:, j] for j in range(100)})
    pa.parquet.write_table(table, here / "rows.parquet", row_group_size=100_000, use_dictionary=False)
    return here


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize(
    ("name", "memory", "verb"),
    [
        ("rows.npy", "250MB", "fit"),
        pytest.param("rows.npy", "250MB", "partial_fit", marks=pytest.mark.slow),
        pytest.param("rows.parquet", "400MB", "fit", marks=pytest.mark.slow),
        ("rows.parquet", "400MB", "partial_fit"),
    ],
)
def test_the_peak_of_the_process_stays_within_the_budget(folder, rows, name, memory, verb):
    peak, variances, _ = fitted_by_child(folder / name, memory, verb=verb)
    assert peak <= budget_of("PCA", memory).limit
    # the same rows in other blocks, multiplied in float32: 1e-6 is some roundings of float32
    np.testing.assert_allclose(variances, PCA(3).fit(rows).explained_variance_, rtol=1e-6)


def test_many_columns_within_a_budget_are_read_several_times(tmp_path):
    # 3,000 columns: the covariance matrix, five times over, would take 360 MB
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4_000, 20)) @ (rng.standard_normal((20, 3_000)) * np.arange(20, 0, -1)[:, None])
    X += 0.01 * rng.standard_normal(X.shape)
    np.save(tmp_path / "wide.npy", X)
    peak, variances, solver = fitted_by_child(tmp_path / "wide.npy", "260MB", k=5)
    assert solver == "block Lanczos"
    assert peak <= 260_000_000
    # certified to 1e-10, as is the other
    np.testing.assert_allclose(variances, PCA(5).fit(X).explained_variance_, rtol=1e-9)


def test_what_does_not_fit_is_refused_with_numbers(folder):
    with pytest.raises(TooLarge, match=r"memory is limited to 1 MB: allow [\d,]+ MB"):
        PCA(3, memory="1MB").fit(folder / "rows.npy")
    with pytest.raises(TooLarge, match=r"memory is limited to 1 MB: allow [\d,]+ MB"):
        PCA(3, memory="1MB").partial_fit(folder / "rows.npy")


def test_the_refusal_names_a_limit_that_is_enough(folder):
    with pytest.raises(TooLarge) as refusal:
        PCA(3, memory=resident_bytes() + 1).fit(folder / "rows.npy")
    enough = str(refusal.value).split("allow ")[1].split(" MB")[0].replace(",", "")
    PCA(3, memory=f"{enough}MB").explain(folder / "rows.npy")


def test_a_share_that_would_need_the_covariance_matrix_is_refused(tmp_path):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((5_000, 4_500)))
    with pytest.raises(TooLarge, match="ask for a number of components"):
        PCA(0.9, memory=resident_bytes() + 300_000_000).fit(tmp_path / "wide.npy")


def test_blocks_shrink_with_the_budget(folder):
    source = open_source(folder / "rows.npy")
    usual = next(iter(source.blocks())).rows.nbytes
    small = next(iter(source.limited(1_000_000).blocks(least_rows=10**6))).rows.nbytes
    assert usual > 30_000_000
    assert small <= 1_000_000


@pytest.mark.parametrize(
    ("memory", "limit"), [("512MB", 512_000_000), ("1.5 GiB", 3 * 2**29), (7, 7), ("2kb", 2000), ("9", 9)]
)
def test_sizes_are_understood(memory, limit):
    assert budget_of("PCA", memory).limit == limit


@pytest.mark.parametrize("memory", ["lots", "5 parsecs", -1, 0, True, "-3MB", 1.5, "0GB", ""])
def test_other_sizes_are_refused(memory):
    with pytest.raises(BadParameter, match="512MB"):
        PCA(memory=memory).fit(np.eye(3))


def test_the_plan_says_passes_bytes_and_memory_and_reads_no_rows(folder, monkeypatch):
    source = open_source(folder / "rows.npy")
    monkeypatch.setattr(type(source), "blocks", lambda *_: pytest.fail("rows were read"))
    monkeypatch.setattr(type(source), "to_array", lambda *_: pytest.fail("rows were read"))
    monkeypatch.setattr("lowdim.runtime.memory.resident_bytes", lambda: 10**8)  # whatever tests before have left
    plan = PCA(3, memory="2GB").explain(source)
    assert "1 pass" in plan
    assert "160 MB each time" in plan
    assert "kept within 2 GB" in plan


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "memory"),
    [("t.csv", "300MB"), ("t.csv", "400MB"), ("t.jsonl", "350MB"), ("t.feather", "400MB"), ("t.sqlite", "300MB")],
)
def test_the_budget_holds_for_other_files_too(tmp_path, name, memory):
    X = np.random.default_rng(2).standard_normal((500_000, 40)) * np.linspace(3, 1, 40) + 2
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(40)])
    path = tmp_path / name
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif path.suffix == ".feather":
        frame.to_feather(path)
    else:
        with closing(sqlite3.connect(path)) as connection:
            frame.to_sql("t", connection, index=False)
    peak, variances, _ = fitted_by_child(path, memory)
    assert peak <= budget_of("PCA", memory).limit
    # JSON lines hold fifteen digits
    np.testing.assert_allclose(variances, PCA(3).fit(X).explained_variance_, rtol=1e-12)


def with_holes(path: Path, n: int, p: int) -> None:
    """A file of float32 rows along four directions, a tenth of whose values is missing."""
    rng = np.random.default_rng(3)
    W = rng.standard_normal((4, p), dtype=np.float32) * np.float32([[3], [2], [1.5], [1]])
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n, p))
    for start in range(0, n, 20_000):
        rows = file[start : start + 20_000]
        rows[:] = rng.standard_normal((len(rows), 4), dtype=np.float32) @ W
        rows += 0.5 * rng.standard_normal(rows.shape, dtype=np.float32)
        rows[rng.random(rows.shape, dtype=np.float32) < 0.1] = np.nan
    file.flush()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize(("n", "p", "memory"), [(1_000_000, 100, "370MB"), (140_000, 1000, "550MB")])
def test_em_of_a_file_with_holes_stays_within_the_budget(tmp_path, n, p, memory):
    path = tmp_path / "holes.npy"
    with_holes(path, n, p)  # 400 and 560 MB
    with pytest.warns(NotConverged):  # this also compiles what the child then loads: a compiler would take more
        whole = ProbabilisticPCA(3, max_iter=3).fit(np.load(path))
    peak, variances, solver = fitted_by_child(path, memory, make="ProbabilisticPCA", max_iter=3)
    assert solver == "EM over the observed entries"
    assert peak <= budget_of("ProbabilisticPCA", memory).limit
    # three steps over the same rows in other blocks, summed in float64
    np.testing.assert_allclose(variances, whole.explained_variance_, rtol=1e-9)


def test_em_that_does_not_fit_is_refused_with_numbers(tmp_path):
    with_holes(tmp_path / "holes.npy", 2000, 500)
    with pytest.raises(TooLarge, match=r"for the solver .* allow [\d,]+ MB"):
        ProbabilisticPCA(3, memory=resident_bytes() + 45_000_000).fit(tmp_path / "holes.npy")


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_text_being_parsed_counts_towards_the_budget(name, tmp_path):
    """Arrow parses ahead of what is asked for: blocks of text that no array is made of yet."""
    path = tmp_path / name
    row = "1.5,2\n" if name == "rows.csv" else '{"a": 1.5, "b": 2}\n'
    path.write_text("a,b\n" * (name == "rows.csv") + row * 60_000)  # beyond what is read line by line
    assert open_source(path).reading_bytes > 0
