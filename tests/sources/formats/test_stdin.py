"""What is piped in is read like a file of its kind, as often as a solver needs it, and leaves nothing behind."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

import lowdim
from lowdim.errors import BadFile, LowdimError

X = np.random.default_rng(0).standard_normal((200, 3)) * [1, 10, 100]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=["x", "y"] * 100)
CSV = FRAME.to_csv(index=False).encode()


def written(write: Callable[[Any], Any]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def arrow_stream(buffer: Any) -> None:
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)


def hdf5(buffer: Any) -> None:
    with h5py.File(buffer, "w") as file:
        file["values"] = X


def workbook(buffer: Any) -> None:
    book = openpyxl.Workbook()
    for row in [list(FRAME.columns), *FRAME.to_numpy().tolist()]:
        book.active.append(row)
    book.save(buffer)


PIPED: dict[str, Callable[[], bytes]] = {
    "csv": lambda: CSV,
    "tsv": lambda: FRAME.to_csv(index=False, sep="\t").encode(),
    "utf16 csv": lambda: FRAME.to_csv(index=False).encode("utf-16"),
    "csv.gz": lambda: gzip.compress(CSV),
    "csv.bz2": lambda: bz2.compress(CSV),
    "csv.zst": lambda: pa.compress(CSV, "zstd", asbytes=True),
    "jsonl": lambda: FRAME.to_json(orient="records", lines=True, double_precision=15).encode(),
    "jsonl.gz": lambda: gzip.compress(FRAME.to_json(orient="records", lines=True, double_precision=15).encode()),
    "parquet": lambda: written(FRAME.to_parquet),
    "feather": lambda: written(FRAME.to_feather),
    "arrow stream": lambda: written(arrow_stream),
    "npy": lambda: written(lambda buffer: np.save(buffer, X)),
    "npz": lambda: written(lambda buffer: np.savez(buffer, X)),
    "xlsx": lambda: written(workbook),
    "hdf5": lambda: written(hdf5),
}

CODE = """
import json, sys, numpy as np, lowdim
source = lowdim.open("-", **json.loads(sys.argv[1]))
model = lowdim.PCA(2, svd_solver="tsqr").fit(source)  # reads the rows twice
np.save(sys.stdout.buffer, model.transform(source))
"""


def piped(data: bytes, temporary: Path, wish: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    temporary.mkdir()
    return subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(wish)],
        input=data,
        capture_output=True,
        check=False,
        env=os.environ | {"TMPDIR": str(temporary)},
    )


@pytest.mark.parametrize("name", PIPED)
def test_every_kind_can_be_piped(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PIPED[name]())))
    source = lowdim.open("-")
    assert "standard input" in source.describe()
    # text and JSON hold 15 to 17 digits
    for _ in range(2):
        np.testing.assert_allclose(np.concatenate([block.rows for block in source.blocks()]), X, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("name", "wish"), [("csv", {"drop": ["b"]}), ("parquet", {"sql": "select a, c from data"})])
def test_a_child_fits_what_is_piped_into_it_and_cleans_up(name: str, wish: dict[str, Any], tmp_path: Path) -> None:
    answer = piped(PIPED[name](), tmp_path / "temporary", wish)
    assert answer.returncode == 0, answer.stderr.decode()
    scores = np.load(io.BytesIO(answer.stdout))
    expected = lowdim.PCA(2).fit(X[:, [0, 2]])
    np.testing.assert_allclose(scores, expected.transform(X[:, [0, 2]]), atol=1e-9)
    assert not list((tmp_path / "temporary").iterdir())


def test_a_named_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[CSV])
    writer.start()
    source = lowdim.open(tmp_path / "pipe", label="kind")
    writer.join()
    np.testing.assert_array_equal(np.concatenate([block.rows for block in source.blocks()]), X)


BAD: dict[str, bytes] = {
    "nothing": b"",
    "blank": b"\n\n",
    "header only": b"a,b\n",
    "NUL bytes": bytes(1000),
    "half a gzip": gzip.compress(os.urandom(10_000))[:5000],
    "half a npy": PIPED["npy"]()[:2000],
    "half a parquet": PIPED["parquet"]()[:2000],
    "half a zip": PIPED["npz"]()[:2000],
    "no JSON": b"{hello\n",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_ends_in_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD[name])))
    with pytest.raises(LowdimError, match=r"standard.input") as caught:
        list(lowdim.open("-").blocks())
    assert len(str(caught.value).splitlines()) == 1


def test_a_closed_standard_input_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BadFile, match="closed"):
        lowdim.open("-")


def test_a_model_of_standard_input_says_so(monkeypatch):
    given = io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n2,5\n4,4\n"))
    monkeypatch.setattr(sys, "stdin", given)
    model = lowdim.PCA(1).fit("-")
    assert model.fit_.provenance.data.startswith("standard input (3 × 2")
