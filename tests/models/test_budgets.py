"""`memory=` holds for every model on every kind of file: peaks of whole processes, as the system counted them, and of
the children that read for them, added up.

A limit that is refused is refused before it is exceeded, and the one that the refusal names is enough.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import lowdim
from harness import FULL, Tally, many
from lowdim.models.registry import FOLDERS, model_class
from models.peaks import run_measured

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")

CHILD = """
import json, sys, warnings
import numpy as np
import lowdim
from lowdim.errors import TooLarge

warnings.simplefilter("ignore")
make, settings, path, memory = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], sys.argv[4]

def held(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

data = path
if path.endswith(".dask"):  # blocks of the .npy file beside it, read by tasks
    import dask, dask.array
    shape = json.load(open(path))
    step = 10_000
    def read(first):
        start = 128 + first * shape[1] * 8
        return np.fromfile(path[:-4] + "npy", "f8", step * shape[1], offset=start).reshape(-1, shape[1])
    parts = [(first, min(step, shape[0] - first)) for first in range(0, shape[0], step)]
    delayed = [dask.array.from_delayed(dask.delayed(read)(first), (n, shape[1]), "f8") for first, n in parts]
    data = dask.array.concatenate(delayed)
before = held("VmHWM")  # what a caller brings, such as Dask, is there before any limit is known
try:
    model = getattr(lowdim, make)(memory=memory, **settings).fit(data)
    variances = getattr(model, "explained_variance_", None)
    said, found = "", None if variances is None else variances.tolist()
except TooLarge as error:
    said, found = str(error), None
print(json.dumps([held("VmHWM"), before, said, found]))
"""

COLUMNS = 100
ROWS = many(100_000, 3_750_000)
"""80 MB of float64, or 3 GB: more than blocks and solvers take, and than what a small file may be loaded into."""

SHARES = {"csv": 3, "jsonl": 5}
"""Texts hold so many times fewer rows: they take longer, and more bytes for a number."""

BUDGETS = (256, 512, 1024)

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA": ("PCA", {"n_components": 5}),
    "PCA, Lanczos": ("PCA", {"n_components": 5, "svd_solver": "lanczos"}),
    "TruncatedSVD": ("TruncatedSVD", {"n_components": 5}),
    "ProbabilisticPCA": ("ProbabilisticPCA", {"n_components": 3}),
    "NMF": ("NMF", {"n_components": 3, "max_iter": 3}),
    "NMF, KL": ("NMF", {"n_components": 3, "max_iter": 2, "beta_loss": "kullback-leibler"}),
    "LogisticPCA": ("LogisticPCA", {"n_components": 2, "max_iter": 2, "family": "gaussian"}),
    "KernelPCA, landmarks": ("KernelPCA", {"n_components": 3, "n_landmarks": 200, "kernel": "rbf"}),
    "Autoencoder, linear": ("Autoencoder", {"n_components": 3, "hidden": [], "loss": "mse"}),
    "Autoencoder": ("Autoencoder", {"n_components": 3, "hidden": [20], "loss": "mse", "max_iter": 1}),
}
"""All that take memory= and rows of numbers."""

EXACT = ("PCA", "PCA, Lanczos")
FORMATS = ("npy", "parquet", "csv", "jsonl", "feather", "h5", "zarr", "npz", "dask")
GROWING = ("Autoencoder",)
"""A network is planned when its rows have been looked at, which a first refusal cannot know of."""

OPENED = 260e6
"""What Python, NumPy, SciPy and the library of a format hold, at most, when a file has been opened: a limit below it
is refused then, with what would do."""


class Ended(NamedTuple):
    """How a fit in a process of its own ended."""

    peak: int
    """Of the process, and of the children that read for it, added up."""
    before: int
    refused: str
    variances: list[float] | None


def fit_in_child(name: str, path: Path, megabytes: int) -> Ended:
    make, settings = MODELS[name]
    given = [make, json.dumps(settings), str(path), f"{megabytes}MB"]
    ended = run_measured(CHILD, given, timeout=3000)
    assert ended.code == 0, ended.errors
    own, *rest = json.loads(ended.said)
    return Ended(max(own, ended.peak), *rest)


def make_rows(first: int, count: int) -> np.ndarray:
    """Rows of low rank and noise, none negative: the same whoever asks for them."""
    rng = np.random.default_rng(first)
    basis = np.random.default_rng(1).standard_normal((5, COLUMNS))
    return np.abs(np.round(rng.standard_normal((count, 5)) @ basis + 0.3 * rng.standard_normal((count, COLUMNS)), 3))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in every format, written block by block."""
    import h5py
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet
    import zarr

    here, step = tmp_path_factory.mktemp("budgets"), 50_000
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    rows = np.lib.format.open_memmap(here / "rows.npy", "w+", np.float64, (ROWS, COLUMNS))
    chunked = zarr.create_array(here / "rows.zarr", shape=(ROWS, COLUMNS), chunks=(10_000, COLUMNS), dtype="f8")
    with (
        pa.parquet.ParquetWriter(here / "rows.parquet", schema, use_dictionary=False) as parquet,
        pa.ipc.new_file(here / "rows.feather", schema) as feather,
        pa.csv.CSVWriter(here / "rows.csv", schema) as table,
        h5py.File(here / "rows.h5", "w") as h5,
        open(here / "rows.jsonl", "w") as lines,
    ):
        stored = h5.create_dataset("rows", (ROWS, COLUMNS), dtype="f8", chunks=(10_000, COLUMNS))
        for first in range(0, ROWS, step):
            some = make_rows(first, min(step, ROWS - first))
            here_and_now = slice(first, first + len(some))
            rows[here_and_now] = stored[here_and_now] = chunked[here_and_now] = some
            columns = pa.table({name: np.ascontiguousarray(some[:, j]) for j, name in enumerate(names)})
            parquet.write_table(columns)
            for batch in columns.to_batches(10_000):
                feather.write_batch(batch)
            if first < ROWS // SHARES["csv"]:
                table.write_table(columns)
            if first < ROWS // SHARES["jsonl"]:
                pd.DataFrame(some, columns=names).to_json(lines, orient="records", lines=True)
    del rows
    (here / "rows.dask").write_text(json.dumps([ROWS, COLUMNS]))
    sparse = scipy.sparse.random(ROWS, COLUMNS, 0.05, "csr", rng=np.random.default_rng(0))
    scipy.sparse.save_npz(here / "rows.npz", sparse, compressed=False)
    return here


def test_every_model_that_takes_a_limit_is_tried():
    limited = {name for name in FOLDERS if "memory" in vars(model_class(name)()) and name != "GenotypePCA"}
    assert {make for make, _ in MODELS.values()} == limited


CASES = [
    (name, form, budget)
    for i, name in enumerate(MODELS)
    for j, form in enumerate(FORMATS)
    for budget in (BUDGETS if FULL else (BUDGETS[(i + j) % 2],))
]
"""In the slow tests each model meets each format under one of the two smaller limits, in turn."""


@pytest.mark.slow
@pytest.mark.timeout(36_000 if FULL else 3600)
def test_peaks_stay_within_every_limit(files: Path, tally: Tally):
    peaks: dict[tuple[str, str], list[str]] = {}
    wrong, named = [], 0
    for name, form, megabytes in CASES:
        write_table(peaks)  # what is known so far
        ended = fit_in_child(name, files / f"rows.{form}", megabytes)
        refusals = 0
        allowed = max(megabytes * 1e6, ended.before) if not ended.refused else max(megabytes * 1e6, OPENED)
        if ended.peak > allowed:
            wrong.append(f"{name}, {form}: {ended.peak / 1e6:.0f} MB of {megabytes} {ended.refused}")
        while ended.refused and refusals < 3:
            refusals += 1
            found = re.search(r"allow ([\d,]+) MB", ended.refused)
            if found is None:
                break
            megabytes = int(found[1].replace(",", ""))
            ended = fit_in_child(name, files / f"rows.{form}", megabytes)
            if ended.peak > megabytes * 1e6:
                wrong.append(f"{name}, {form}: {ended.peak / 1e6:.0f} MB of the {megabytes} that were named")
        named += refusals > 0
        if ended.refused or refusals > 1 + (name in GROWING or form == "npz"):
            wrong.append(f"{name}, {form}: {refusals} refusals: {ended.refused}")
        how = f"{megabytes}: {ended.peak / 1e6:.0f}" + " (named)" * (refusals > 0)
        peaks.setdefault((name, form), []).append(how)
    tally(9, len(CASES), "fits under a limit")
    tally(9, named, "limits named by a refusal and then allowed")
    write_table(peaks)
    assert not wrong, "\n".join(wrong)


def write_table(peaks: dict[tuple[str, str], list[str]]) -> None:
    """The table of peaks, for docs/memory.md."""
    lines = [f"| model | {' | '.join(FORMATS)} |", "|---" * (len(FORMATS) + 1) + "|"]
    for name in MODELS:
        cells = ["; ".join(peaks.get((name, form), [])) for form in FORMATS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    os.makedirs("out", exist_ok=True)
    Path("out", "budgets.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["npy", "parquet", "feather", "h5", "zarr", "dask"])
def test_what_a_limit_leaves_does_not_change_the_answer(files: Path, form: str, tally: Tally):
    if FULL:
        pytest.skip("the rows of the full test do not lie in memory")
    whole = lowdim.PCA(5).fit(np.load(files / "rows.npy")).explained_variance_
    for name in EXACT:
        found = fit_in_child(name, files / f"rows.{form}", 512).variances
        # both are certified to ten digits and more
        np.testing.assert_allclose(found, whole, rtol=1e-10)
    tally(9, len(EXACT), "fits under a limit equal to those in memory, to 1e-10")
