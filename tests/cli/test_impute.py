"""`lowdim impute` writes the whole table, with its holes filled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.errors import UnseenRows

RNG = np.random.default_rng(0)


@pytest.fixture
def table(tmp_path, monkeypatch) -> pd.DataFrame:
    """A table with names of rows, four columns of numbers along one direction, and holes in two of them."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.standard_normal((60, 1)) @ np.ones((1, 4)) * 2, columns=list("abcd"))
    frame += 0.1 * RNG.standard_normal(frame.shape)
    frame.insert(0, "name", [f"row {i}" for i in range(60)])
    frame.loc[::7, "b"] = np.nan
    frame.loc[3::11, "d"] = np.nan
    frame.to_csv("t.csv", index=False)
    return frame


def test_the_whole_table_is_written_without_holes(run, table):
    ended = run("impute", "t.csv", "-o", "filled.csv")
    assert ended.code == 0
    assert "15 of 240 values of t.csv filled; 1 of 3 components" in ended.err
    filled = pd.read_csv("filled.csv")
    assert list(filled.columns) == list(table.columns)
    pd.testing.assert_frame_equal(filled.where(table.notna()), table, rtol=1e-15)
    # along one direction with noise 0.1, the mean of the others is about as good a guess
    np.testing.assert_allclose(filled["b"][table["b"].isna()], filled["a"][table["b"].isna()], atol=0.5)


def test_how_sure_each_value_is_stands_beside_it(run, table):
    assert run("impute", "t.csv", "--std", "--keep", "1", "-o", "filled.parquet").code == 0
    filled = pd.read_parquet("filled.parquet")
    assert list(filled.columns) == ["name", "a", "b", "b sd", "c", "d", "d sd"]
    assert ((filled["b sd"] > 0) == table["b"].isna()).all()


def test_csv_goes_to_standard_output(run, table):
    ended = run("impute", "t.csv", "-q")
    assert ended.err == ""
    assert len(ended.out.splitlines()) == 61


def test_arrays_are_filled_too(run, table):
    np.save("t.npy", table[list("abcd")].to_numpy())
    assert run("impute", "t.npy", "-o", "filled.npy").code == 0
    assert np.isfinite(np.load("filled.npy")).all()
    assert lowdim.PCA(1).fit("filled.npy").explained_variance_ratio_[0] > 0.9


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--keep", "many"), 2, "a whole number from 1, auto, bic, or ard"),
        (("--keep", "9"), 2, "a whole number from 1 to 3"),
        (("--drop", "e"), 2, "no column 'e'"),
        (("-o", "t.csv"), 2, "would be written over what is read"),
    ],
)
def test_what_cannot_be_done_is_said(run, table, given, code, said):
    ended = run("impute", "t.csv", *given)
    assert ended.code == code
    assert said in ended.err


def test_a_table_without_holes_is_written_as_it_is(run, table):
    table[["name", "a", "c"]].to_csv("whole.csv", index=False)
    ended = run("impute", "whole.csv", "-o", "same.csv")
    assert "no number of whole.csv was missing" in ended.err
    pd.testing.assert_frame_equal(pd.read_csv("same.csv"), table[["name", "a", "c"]], rtol=1e-15)


def test_a_name_that_stands_there_already_is_named_with_the_output(run, table):
    table.rename(columns={"a": "b sd"}).to_csv("t.csv", index=False)
    ended = run("impute", "t.csv", "--std")
    assert ended.code != 0
    assert "standard output: the column name 'b sd' would stand 2 times" in ended.err
    assert "None" not in ended.err


def test_columns_without_any_value_are_not_counted_as_filled(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 3.0, 4.0]) + RNG.standard_normal((8, 4)))
    frame.columns = [f"day {j}" for j in range(4)]
    frame.insert(0, "place", [f"place {i}" for i in range(8)])
    frame.iloc[2, 1:] = np.nan  # which will be a column
    frame.iloc[5, 3] = np.nan
    frame.to_csv("t.csv", index=False)
    ended = run("impute", "t.csv", "--transpose", "-o", "filled.csv")
    assert "1 of 5 missing values of t.csv filled, 4 left empty, in 1 column without any value: place 2" in ended.err
    filled = pd.read_csv("filled.csv")
    assert filled.isna().sum().sum() == 4
    assert filled["place 2"].isna().all()


@pytest.fixture
def with_an_empty_row(table) -> pd.DataFrame:
    """The same with nothing in the numbers of row 4."""
    table.loc[4, list("abcd")] = np.nan
    table.to_csv("t.csv", index=False)
    return table


EMPTY = "Nothing was observed of 1 of 60 rows (row 4)"


@pytest.mark.parametrize(
    "verb",
    [
        ("impute", "t.csv", "-o", "filled.csv"),
        ("transform", "m.lowdim", "t.csv", "--names", "name", "-o", "s.csv"),
        ("plot", "m.lowdim", "scores", "t.csv", "--names", "name", "-o", "s.png"),
    ],
    ids=lambda verb: verb[0],
)
def test_rows_without_any_value_are_named(run, with_an_empty_row, verb):
    assert run("fit", "t.csv", "--model", "ppca", "--keep", "2", "--save", "m.lowdim").code == 0
    ended = run(*verb)
    assert ended.code == 0
    assert ended.err.count("Nothing was observed of 1 of 60 rows") == 1
    assert EMPTY in ended.err


def test_a_screen_names_rows_without_any_value_once(run, with_an_empty_row):
    ended = run("t.csv", "--model", "ppca")
    assert EMPTY in " ".join(ended.out.split())
    assert "Nothing was observed" not in ended.err
    assert any(EMPTY in note for note in run("t.csv", "--model", "ppca", "--json").json["notes"])


def test_python_names_rows_without_any_value(with_an_empty_row):
    frame = with_an_empty_row[list("abcd")]
    with pytest.warns(UnseenRows, match=r"1 of 60 rows \(counted from 0: 4\)") as told:
        model = lowdim.ProbabilisticPCA(1).fit(frame)
    assert told[0].filename == __file__
    with pytest.warns(UnseenRows) as told:
        model.impute(frame)
    assert told[0].filename == __file__
    assert told[0].message.rows == (4,)
    with pytest.warns(UnseenRows, match=r"1 of 60 rows \(row 4\)"):
        model.transform("t.csv")
    with pytest.warns(UnseenRows):
        other = lowdim.PCA(1, missing="ppca").fit(frame)
    with pytest.warns(UnseenRows):
        assert other.transform(frame).shape == (60, 1)
    with pytest.warns(UnseenRows):
        ax = model.plot.scores(frame, names=False)
    assert "1 row left out, of which nothing was observed" in ax.get_title(loc="left")
    assert len(ax.collections[0].get_offsets()) == 59
