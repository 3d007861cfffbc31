"""Every kind of file, written by its own library, gives the numbers that NumPy has; bad ones end in one sentence."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse

import lowdim
from badfiles import BAD, FRAME, NAMES, X, write_sqlite, write_xlsx
from lowdim import PCA
from lowdim.errors import BadFile, BadParameter, LowdimError, NotNumeric
from lowdim.sources.source import Source


def rows_of(source: Source) -> np.ndarray:
    return np.concatenate([np.asarray(block.rows) for block in source.blocks()])


def write_folder(path: Path) -> None:
    path.mkdir()
    for i in range(5):
        FRAME[100 * i : 100 * i + 100].to_parquet(path / f"part-{i}.parquet")


def write_zst(path: Path) -> None:
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(FRAME.to_csv(index=False).encode())


WRITERS: dict[str, Callable[[Path], Any]] = {
    "table.csv": lambda path: FRAME.to_csv(path, index=False),
    "polars.csv": lambda path: pl.DataFrame(FRAME).write_csv(path),
    "table.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "table.csv.bz2": lambda path: FRAME.to_csv(path, index=False),
    "table.csv.zst": write_zst,
    "table.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "semicolon.csv": lambda path: FRAME.to_csv(path, index=False, sep=";"),
    "pipe.txt": lambda path: FRAME.to_csv(path, index=False, sep="|"),
    "decimal-comma.csv": lambda path: FRAME.to_csv(path, index=False, sep=";", decimal=","),
    "bom.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-8-sig"),
    "utf16.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-16"),
    "windows-lines.csv": lambda path: FRAME.to_csv(path, index=False, lineterminator="\r\n"),
    "table.parquet": lambda path: FRAME.to_parquet(path),
    "polars.parquet": lambda path: pl.DataFrame(FRAME).write_parquet(path),
    "small-groups.parquet": lambda path: FRAME.to_parquet(path, row_group_size=7),
    "folder": write_folder,
    "table.feather": lambda path: FRAME.to_feather(path),
    "polars.arrow": lambda path: pl.DataFrame(FRAME).write_ipc(path),
    "table.jsonl": lambda path: FRAME.drop(columns="day").to_json(
        path, orient="records", lines=True, double_precision=15
    ),
    "polars.ndjson": lambda path: pl.DataFrame(FRAME).write_ndjson(path),
    "table.xlsx": write_xlsx,
    "table.sqlite": write_sqlite,
    "table.npy": lambda path: np.save(path, X),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "table.npz": lambda path: np.savez(path, values=X, other=np.arange(3)),
    "packed.npz": lambda path: np.savez_compressed(path, values=X),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    source = lowdim.open(path)
    # text and JSON hold 15 to 17 digits
    np.testing.assert_allclose(rows_of(source), X, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rows_of(source), X, rtol=1e-13, atol=1e-13)  # and once more
    if source.columns is not None:
        assert list(source.columns) == NAMES
        assert set(source.left_out) >= {"kind"}
    model = PCA(2).fit(path)
    np.testing.assert_allclose(model.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(str(path)), PCA(2).fit(X).transform(X), atol=1e-9)


def test_a_pattern_reads_the_parquet_files_it_matches(tmp_path: Path) -> None:
    write_folder(tmp_path / "parts")
    assert lowdim.open(str(tmp_path / "parts" / "part-[0-2].parquet")).n_rows == 300


def test_sparse_archives_stay_sparse(tmp_path: Path) -> None:
    S = scipy.sparse.random(50, 20, 0.1, format="csr", random_state=0)
    scipy.sparse.save_npz(tmp_path / "s.npz", S)
    assert lowdim.open(tmp_path / "s.npz").sparse


def test_sparse_archives_of_others_are_read_too(tmp_path: Path) -> None:
    S = scipy.sparse.random(50, 20, 0.1, format="csr", random_state=0)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    np.savez(tmp_path / "rows.npz", **parts, names=np.arange(50))
    T = S.tocsc()
    np.savez(tmp_path / "columns.npz", data=T.data, indices=T.indices, indptr=T.indptr, shape=T.shape)
    for name in ("rows.npz", "columns.npz"):
        source = lowdim.open(tmp_path / name)
        np.testing.assert_array_equal(np.concatenate([block.rows.toarray() for block in source.blocks()]), S.toarray())


def test_stacks_of_pictures_become_rows(tmp_path: Path) -> None:
    stack = np.random.default_rng(0).integers(0, 256, (30, 4, 5), dtype=np.uint8)
    np.save(tmp_path / "stack.npy", stack)
    np.savez(tmp_path / "stack.npz", images=stack, subject=np.arange(30))
    for name in ("stack.npy", "stack.npz"):
        np.testing.assert_array_equal(rows_of(lowdim.open(tmp_path / name)), stack.reshape(30, 20))


def test_float32_columns_stay_float32(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": X[:, 0].astype("f4"), "b": X[:, 1].astype("f4")}), tmp_path / "t.parquet")
    assert lowdim.open(tmp_path / "t.parquet").dtype == np.float32


def test_flags_decimals_and_nulls_are_numbers(tmp_path: Path) -> None:
    table = pa.table(
        {
            "flag": pa.array([True, None, False]),
            "whole": pa.array([1, None, 3]),
            "money": pa.array([1, 2, None], pa.decimal128(10, 2)),
            "nothing": pa.nulls(3),
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    source = lowdim.open(tmp_path / "t.parquet")
    np.testing.assert_array_equal(rows_of(source), [[1, 1, 1], [np.nan, np.nan, 2], [0, 3, np.nan]])
    assert source.left_out == {"nothing": "empty"}
    asked = lowdim.open(tmp_path / "t.parquet", columns=["whole", "nothing"])  # as those of a model are
    np.testing.assert_array_equal(rows_of(asked), [[1, np.nan], [np.nan, np.nan], [3, np.nan]])


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "null", "?", "N/A"])
def test_missing_cells_of_text_are_nan(missing: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"a,b\n1,2\n{missing},4\n5,6\n")
    np.testing.assert_array_equal(rows_of(lowdim.open(tmp_path / "t.csv")), [[1, 2], [np.nan, 4], [5, 6]])


def test_quoted_cells_may_hold_delimiters_quotes_and_line_breaks(tmp_path: Path) -> None:
    frame = pd.DataFrame({"note": ['a "b"', "c,\nd", "e\r\nf"] * 100_000, "value": np.arange(300_000.0)})
    frame.to_csv(tmp_path / "t.csv", index=False)  # more than one block of text
    np.testing.assert_array_equal(rows_of(lowdim.open(tmp_path / "t.csv"))[:, 0], frame["value"])


def test_a_table_without_header_gets_names(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2.5\n3,4\n5,6e-1\n")
    source = lowdim.open(tmp_path / "t.csv")
    assert source.columns == ("x0", "x1")
    np.testing.assert_array_equal(rows_of(source), [[1, 2.5], [3, 4], [5, 0.6]])


def test_columns_are_chosen_dropped_and_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    assert lowdim.open(path, columns=["beta", "alpha"]).columns == ("beta", "alpha")
    assert lowdim.open(path, drop=["beta"]).columns == ("alpha", "gamma, δ")
    source = lowdim.open(path, label="beta")
    assert source.columns == ("alpha", "gamma, δ")
    assert list(source.aside("kind")[:2]) == ["a", "b"]
    np.testing.assert_allclose(source.aside("beta"), X[:, 1])
    with pytest.raises(BadParameter, match="did you mean 'alpha'"):
        lowdim.open(path, columns=["alhpa"])
    with pytest.raises(NotNumeric, match="kind"):
        lowdim.open(path, columns=["alpha", "kind"])
    with pytest.raises(BadParameter, match="choose from a table"):
        lowdim.open(X, columns=["a"])


def test_tables_sheets_and_arrays_are_chosen_by_name(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.execute("CREATE TABLE one (a REAL)")
        connection.execute('CREATE TABLE "two; DROP" ("x""y" REAL, t TEXT)')
        connection.execute("INSERT INTO \"two; DROP\" VALUES (1.5, 'p'), (NULL, 'q')")
    connection.close()
    with pytest.raises(BadFile, match="2 tables, one and two; DROP; say which"):
        lowdim.open(tmp_path / "d.db")
    source = lowdim.open(tmp_path / "d.db", table="two; DROP")
    np.testing.assert_array_equal(rows_of(source), [[1.5], [np.nan]])
    np.savez(tmp_path / "a.npz", one=X, two=X[:5])
    assert lowdim.open(tmp_path / "a.npz", table="two").n_rows == 5


@pytest.mark.parametrize(("package", "name"), [("pyarrow", "t.parquet"), ("python_calamine", "t.xlsx")])
def test_a_package_that_is_not_there_is_named_with_its_remedy(package: str, name: str, tmp_path: Path) -> None:
    WRITERS[name.replace("t.", "table.")](tmp_path / name)
    opened = f"lowdim.open({str(tmp_path / name)!r}, isolated='never')"
    code = f"import sys; sys.modules[{package!r}] = None\nimport lowdim\n{opened}"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'is not installed: pip install "lowdim[files]"' in answer.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", BAD)
def test_bad_files_end_in_one_sentence_that_names_them(name: str, tmp_path: Path) -> None:
    filename, write = BAD[name]
    path = tmp_path / filename
    write(path)
    with pytest.raises(LowdimError) as caught:
        PCA(1).fit(path)
    message = str(caught.value)
    assert len(message.splitlines()) <= 3
    assert filename in message or "npy" in name  # arrays are refused for their shape and type


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    with pytest.raises(BadFile, match="permission"):
        lowdim.open(path)


@pytest.mark.parametrize("address", ["https://example.org/t.csv", "s3://bucket/t.parquet"])
def test_addresses_are_not_read(address: str) -> None:
    with pytest.raises(BadFile, match="not read"):
        lowdim.open(address)


def test_files_of_other_columns_are_not_mixed(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"b": [1.0]}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(BadFile, match="same columns"):
        lowdim.open(tmp_path)


def test_rows_of_text_files_are_guessed_from_their_first_lines(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "".join(f"{i % 100:02},1\n" for i in range(200_000)))
    source = lowdim.open(path)
    assert source.n_rows is None
    assert source.likely_rows == pytest.approx(200_000, rel=0.01)
    half = lowdim.open(path, columns=["a"]).limited(2**20)
    assert half.likely_rows == source.likely_rows
    assert lowdim.open(np.zeros((3, 2))).likely_rows == 3
