"""Rows drawn, chosen and split, columns for rows, frames as tables: what comes is what NumPy and pandas make of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lowdim
from lowdim.errors import BadFile, BadInput, BadParameter, LowdimError, NotNumeric
from lowdim.sources.source import Source
from lowdim.sources.wrapped import group_rows

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.standard_normal((300, 3)), columns=list("abc")).assign(
    kind=["x", "y", "z"] * 100, sample=[f"s{i}" for i in range(300)]
)
FORMATS = ("t.csv", "t.parquet", "t.jsonl", "t.xlsx", "t.sqlite", "t.feather")


@pytest.fixture(params=FORMATS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    here = tmp_path / request.param
    write = {
        ".csv": lambda: FRAME.to_csv(here, index=False),
        ".parquet": lambda: FRAME.to_parquet(here, row_group_size=70),
        ".jsonl": lambda: FRAME.to_json(here, orient="records", lines=True, double_precision=15),
        ".xlsx": lambda: FRAME.to_excel(here, index=False),
        ".sqlite": lambda: write_sqlite(here),
        ".feather": lambda: FRAME.to_feather(here),
    }
    write[here.suffix]()
    return here


def write_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        FRAME.to_sql("t", connection, index=False)


def rows_of(source: Source) -> np.ndarray:
    return np.concatenate([np.asarray(block.rows) for block in source.blocks()])


def close(source: Source, expected: object) -> None:
    np.testing.assert_allclose(rows_of(source), np.asarray(expected), rtol=1e-13, atol=1e-13)  # digits of a text


@pytest.mark.filterwarnings("ignore:60 of 300 rows")
@pytest.mark.parametrize("wish", [60, 0.2])
def test_rows_are_drawn_with_all_that_belongs_to_them(path: Path, wish: float) -> None:
    source = lowdim.open(path, sample=wish, label="kind", seed=3)
    places = [int(name[1:]) for name in source.row_names() or []]
    assert source.n_rows == len(places) == 60
    assert places == sorted(set(places))
    close(source, FRAME[["a", "b", "c"]].to_numpy()[places])
    assert source.aside("kind").tolist() == FRAME["kind"][places].tolist()
    assert "60 of 300 rows are read, drawn at random (seed 3)." in map(str, source.notes)
    again = lowdim.open(path, sample=wish, seed=4).row_names()
    assert again != source.row_names()


def test_a_sample_of_all_rows_is_the_table(path: Path) -> None:
    close(lowdim.open(path, sample=1000), FRAME[["a", "b", "c"]])
    with pytest.raises(BadParameter, match="none of 300 rows"):
        lowdim.open(path, sample=0.001)


def test_rows_are_chosen_by_a_condition(path: Path) -> None:
    source = lowdim.open(path, where="a > 0 AND kind <> 'x'", label="kind")
    chosen = FRAME[(FRAME["a"] > 0) & (FRAME["kind"] != "x")]
    close(source, chosen[["a", "b", "c"]])
    assert source.row_names() == chosen["sample"].tolist()
    with pytest.raises(BadParameter, match="part of sql"):
        lowdim.open(path, where="a > 0", sql="SELECT * FROM data")
    with pytest.raises(LowdimError, match="nope"):
        lowdim.open(path, where="nope > 0")
    with pytest.raises(LowdimError):
        lowdim.open(path, where="a > 0; DROP TABLE data")


@pytest.mark.filterwarnings("ignore:x. the point in")
def test_a_condition_sees_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('x;y\n"1.204,5";2\n980,5;3\n<0,1;4\n12,25;5\n')
    with pytest.warns(lowdim.errors.TableNote, match="below a limit"):
        source = lowdim.open(tmp_path / "t.csv", where="x > 100 OR x IS NULL")
    np.testing.assert_array_equal(rows_of(source), [[1204.5, 2], [980.5, 3], [np.nan, 4]])


@pytest.mark.filterwarnings("ignore:no rows are made of columns without numbers")
def test_columns_become_rows(path: Path) -> None:
    source = lowdim.open(path, transpose=True)
    assert source.columns == tuple(FRAME["sample"])
    assert source.row_names() == ["a", "b", "c"]
    close(source, FRAME[["a", "b", "c"]].to_numpy().T)
    assert any("kind (text)" in str(note) for note in source.notes)
    with pytest.raises(BadFile, match="'x' stands more than once"):
        lowdim.open(path, transpose=True, names="kind")
    chosen = lowdim.open(path, transpose=True, columns=["s3", "s5"])
    close(chosen, FRAME[["a", "b", "c"]].to_numpy().T[:, [3, 5]])


def test_the_first_example_of_the_lectures_is_turned_over(tmp_path: Path) -> None:
    foods = lowdim.datasets.uk_foods()
    frame = pd.DataFrame(foods.values.T, columns=foods.rows).assign(food=foods.columns)[["food", *foods.rows]]
    frame.to_csv(tmp_path / "foods.csv", index=False)
    source = lowdim.open(tmp_path / "foods.csv", transpose=True)
    assert (source.columns, source.row_names()) == (tuple(foods.columns), list(foods.rows))
    np.testing.assert_allclose(
        lowdim.PCA(2).fit(source).explained_variance_, lowdim.PCA(2).fit(foods.values).explained_variance_
    )


def test_a_table_without_names_is_turned_over_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1.5,2\n2.5,3\n4,5.5\n")
    with pytest.warns(lowdim.errors.TableNote, match="called x0, x1"):
        source = lowdim.open(tmp_path / "t.csv", transpose=True)
    assert source.columns == ("x0", "x1", "x2")
    np.testing.assert_array_equal(rows_of(source), [[1.5, 2.5, 4], [2, 3, 5.5]])


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME), pa.table(FRAME)])
def test_a_frame_is_chosen_from_as_a_file_is(frame: object) -> None:
    source = lowdim.open(frame, label="kind", drop=["b"])
    np.testing.assert_array_equal(rows_of(source), FRAME[["a", "c"]])
    assert source.row_names() == FRAME["sample"].tolist()
    assert source.aside("kind").tolist() == FRAME["kind"].tolist()
    coded = lowdim.open(frame, encode=True)
    assert coded.columns == ("a", "b", "c", "kind=y", "kind=z")
    chosen = lowdim.open(frame, where="a > 0")
    np.testing.assert_array_equal(rows_of(chosen), FRAME[FRAME["a"] > 0][["a", "b", "c"]])
    with pytest.raises(BadParameter, match="is for files"):
        lowdim.open(frame, skip=1)
    with pytest.raises(NotNumeric):  # without a wish it must be all numbers, as for others
        lowdim.open(frame)


def test_a_frame_with_the_values_of_a_model(tmp_path: Path) -> None:
    model = lowdim.PCA(2).fit(lowdim.open(FRAME, encode=True))
    again = model.transform(lowdim.open(FRAME[::-1], like=model))
    np.testing.assert_allclose(again[::-1], model.transform(lowdim.open(FRAME, like=model)), atol=1e-13)
    with pytest.raises(BadInput, match="kind has 'w'"):
        model.transform(lowdim.open(FRAME.assign(kind="w"), like=model))
    with pytest.raises(BadParameter, match="a fitted model"):
        lowdim.open(FRAME, like=lowdim.PCA(2))
    with pytest.raises(BadParameter, match="says which columns"):
        lowdim.open(FRAME, like=model, columns=["a"])


def test_rows_are_split_by_the_values_of_a_column(path: Path) -> None:
    parts = group_rows(lowdim.open(path), "kind")
    assert list(parts) == ["x", "y", "z"]
    for value, part in parts.items():
        close(part, FRAME.loc[FRAME["kind"] == value, ["a", "b", "c"]])
        assert part.row_names() == FRAME.loc[FRAME["kind"] == value, "sample"].tolist()


def test_rows_without_a_value_are_in_no_part(tmp_path: Path) -> None:
    FRAME.assign(group=[1.0, 2.0, None] * 100).to_parquet(tmp_path / "t.parquet")
    parts = group_rows(lowdim.open(tmp_path / "t.parquet", label="group"), "group")
    assert {value: part.n_rows for value, part in parts.items()} == {"1": 100, "2": 100}
