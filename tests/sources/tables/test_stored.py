"""Columns as they stand in a file are those that are read as numbers, but for digits and types that floats have not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.errors import TableNote
from lowdim.sources.formats import text_tables
from lowdim.sources.tables.table import to_floats
from lowdim.views.files.columns import as_numpy, is_missing

RNG = np.random.default_rng(0)
ROWS = 9000
FRAME = pl.DataFrame(
    {
        "name": [f"row {i}" for i in range(ROWS)],
        "n": [None if i % 11 == 3 else i - 50 for i in range(ROWS)],
        "x": [None if i % 7 == 3 else float(x) for i, x in enumerate(RNG.standard_normal(ROWS))],
        "flag": [None if i % 5 == 3 else i % 2 == 0 for i in range(ROWS)],
    }
)


def to_json(path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in FRAME.to_dicts()))


def to_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        FRAME.to_pandas().to_sql("t", connection, index=False)


def to_duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", FRAME.to_arrow())
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")


FORMATS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "large text": ("t.csv", lambda path: FRAME.write_csv(path)),
    "small text": ("s.csv", lambda path: FRAME.head(300).write_csv(path)),
    "text with commas": ("d.csv", lambda path: FRAME.write_csv(path, separator=";", decimal_comma=True)),
    "Parquet": ("t.parquet", lambda path: FRAME.write_parquet(path, row_group_size=2000)),
    "Feather": ("t.feather", lambda path: FRAME.write_ipc(path)),
    "JSON lines": ("t.jsonl", to_json),
    "SQLite": ("t.sqlite", to_sqlite),
    "DuckDB": ("t.duckdb", to_duckdb),
    "workbook": ("t.xlsx", lambda path: FRAME.to_pandas().to_excel(path, index=False)),
}
WITH_TYPES = ["large text", "small text", "text with commas", "Parquet", "Feather", "DuckDB", "workbook"]


def opened(name: str, folder: Path, **wishes: Any) -> Any:
    file, write = FORMATS[name]
    write(folder / file)
    return lowdim.open(folder / file, **wishes)


def agree(source: Any) -> int:
    """Hold the columns as they stand against those that are read as numbers; gives the number of rows."""
    count = 0
    for stored, read in zip(source.limited(2**14).stored(), source.limited(2**14).batches(), strict=True):
        assert list(stored) == list(read) == source.every_column
        for name in source.every_column:
            if name in source.columns:
                np.testing.assert_array_equal(to_floats(stored[name]), np.asarray(read[name], dtype=float))
            else:
                found = as_numpy(stored[name])
                assert [None if gone else one for one, gone in zip(found, is_missing(found), strict=True)] == list(
                    read[name]
                )
        count += len(read["name"])
    return count


@pytest.mark.parametrize("name", FORMATS)
def test_they_are_what_is_read(name: str, tmp_path: Path) -> None:
    assert agree(opened(name, tmp_path)) == (300 if name == "small text" else ROWS)


@pytest.mark.parametrize("name", ["large text", "Parquet", "SQLite"])
@pytest.mark.parametrize("wishes", [{"where": "x > 0"}, {"sample": 500}])
@pytest.mark.filterwarnings("ignore:500 of 9,000 rows are read")
def test_they_are_what_is_read_of_chosen_rows(name: str, wishes: dict[str, Any], tmp_path: Path) -> None:
    assert 0 < agree(opened(name, tmp_path, **wishes)) < ROWS


def test_they_are_what_is_read_of_several_files(tmp_path: Path) -> None:
    FRAME.head(40).write_csv(tmp_path / "a.csv")
    FRAME.tail(60).write_parquet(tmp_path / "b.parquet")
    assert agree(lowdim.open([tmp_path / "a.csv", tmp_path / "b.parquet"], missing="-3")) == 100


@pytest.mark.parametrize("name", WITH_TYPES)
def test_whole_numbers_and_flags_are_such(name: str, tmp_path: Path) -> None:
    for batch in opened(name, tmp_path).stored():
        assert as_numpy(batch["n"]).dtype == np.int64
        assert as_numpy(batch["flag"]).dtype == bool
        assert as_numpy(batch["x"]).dtype == np.float64


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "duckdb"])
def test_every_digit_of_whole_numbers_is_kept(ending: str, tmp_path: Path) -> None:
    numbers = [2**63 - 1, -(2**63), None, 2**53 + 1] * 2000
    frame = pl.DataFrame({"id": numbers, "x": np.arange(8000.0)})
    path = tmp_path / f"t.{ending}"
    if ending == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame.to_arrow())
            connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    else:
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "feather": frame.write_ipc}[ending](path)
    found = [one for batch in lowdim.open(path).stored() for one in as_numpy(batch["id"]).tolist()]
    assert found == numbers


@pytest.mark.parametrize("ending", ["jsonl", "sqlite"])
def test_digits_that_are_lost_are_told(ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [2**53 + 1, 5], "n": [1, 2]})
    if ending == "jsonl":
        frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    else:
        with sqlite3.connect(tmp_path / "t.sqlite") as connection:
            frame.to_sql("t", connection, index=False)
    source = lowdim.open(tmp_path / f"t.{ending}")
    with pytest.warns(TableNote, match="id: numbers beyond 2⁵³ are rounded to 16 digits") as told:
        list(source.stored())
    assert len(told) == 1


def test_a_column_that_is_whole_at_first_alone_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [*map(str, range(20_000)), "0.5", "1e3"]
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{cell},{i},{i}\n" for i, cell in enumerate(cells)))
    monkeypatch.setattr(text_tables, "SAMPLE_BYTES", 2**10)
    for batch in lowdim.open(tmp_path / "t.csv").stored():
        assert as_numpy(batch["a"]).dtype == np.float64
        assert as_numpy(batch["b"]).dtype == np.int64


def test_a_text_far_down_is_read_as_it_is_read_elsewhere(tmp_path: Path) -> None:
    lines = [f"{i},{i}" for i in range(60_000)]
    lines[50_000] = "n.d.,50000"
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    found = np.concatenate([to_floats(batch["a"]) for batch in lowdim.open(tmp_path / "t.csv").stored()])
    assert np.flatnonzero(np.isnan(found)).tolist() == [50_000]
    assert found[-1] == 59_999
