"""What commands write: piece by piece, in the marks that came in, cells as they stood; what is replaced is said."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.cli.options import OutputOptions
from lowdim.cli.writing import MOST_NUMBERS, write_rows
from lowdim.sources.formats import text_tables

RNG = np.random.default_rng(0)

GERMAN = """name;alter;größe;raucher;tag;plz
Anna;59;1,75;true;2026-01-02;01067
Bert;;1,8;false;2026-01-03;10115
Cora;61;1,625;true;2026-01-04;20095
Dirk;62;1,9;false;2026-01-05;03046
"""


@pytest.fixture
def german(tmp_path, monkeypatch) -> Path:
    """A folder with a table as spreadsheets in Germany write them, in which commands run."""
    monkeypatch.chdir(tmp_path)
    Path("de.csv").write_text(GERMAN)
    return tmp_path


def test_few_scores_that_become_many_columns_are_written_in_pieces(tmp_path):
    seen = []

    def widened(rows):
        seen.append(len(rows) * 5000)
        return np.broadcast_to(rows[:, :1], (len(rows), 5000))

    scores = np.arange(2000.0)[:, None]
    names = [f"c{j}" for j in range(5000)]
    assert write_rows(lowdim.open(scores), widened, names, OutputOptions(str(tmp_path / "t.npy")), None) == 2000
    assert max(seen) <= MOST_NUMBERS
    assert len(seen) > 1
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy")[:, 4999], scores[:, 0])


# -- the marks that came in ---------------------------------------------------------------------------------------


def test_a_table_comes_back_as_it_stood(run, german):
    ended = run("convert", "de.csv", "-o", "same.csv")
    assert Path("same.csv").read_text() == GERMAN
    assert "same.csv: 4 rows × 6 columns; cells separated by ; and decimal commas, as in de.csv" in ended.err


def test_filled_values_stand_among_cells_as_they_stood(run, german):
    ended = run("impute", "de.csv", "-o", "filled.csv")
    assert ended.code == 0
    assert "cells separated by ; and decimal commas, as in de.csv" in ended.err
    lines, before = Path("filled.csv").read_text().splitlines(), GERMAN.splitlines()
    assert [lines[0], lines[1], *lines[3:]] == [before[0], before[1], *before[3:]]
    name, filled, *others = lines[2].split(";")
    assert [name, *others] == [cell for i, cell in enumerate(before[2].split(";")) if i != 1]
    assert float(filled.replace(",", ".")) > 0


@pytest.mark.parametrize("verb", ["transform", "inverse"])
def test_scores_have_the_marks_of_their_rows(run, german, verb):
    run(
        "fit", "de.csv", "--columns", "größe,plz", "--keep", "1", "--save", "m.lowdim", "-o", "s.csv", "--label", "name"
    )
    written = Path("s.csv").read_text()
    assert written.splitlines()[0] == "name;PC1"
    scores = np.array([float(line.split(";")[1].replace(",", ".")) for line in written.splitlines()[1:]])
    source = lowdim.open("de.csv", columns=["größe", "plz"])
    model = lowdim.load("m.lowdim")
    np.testing.assert_array_equal(scores, model.transform(source)[:, 0])  # to the bit
    if verb == "transform":
        assert run("transform", "m.lowdim", "de.csv", "--label", "name").out == written
    else:
        again = run("inverse", "m.lowdim", "s.csv").out.splitlines()
        assert again[0] == "name;größe;plz"
        rows = [[float(cell.replace(",", ".")) for cell in line.split(";")[1:]] for line in again[1:]]
        np.testing.assert_array_equal(rows, model.inverse_transform(scores[:, None]))


def test_what_is_typed_goes_before_what_came_in(run, german):
    head = "name,alter,größe,raucher,tag,plz"
    plain = run("convert", "de.csv", "--separator", ",", "--decimal", ".").out
    assert run("convert", "de.csv", "--separator", "comma").out == plain
    assert plain.splitlines()[:2] == [head, "Anna,59,1.75,true,2026-01-02,01067"]
    assert run("convert", "de.csv", "--decimal", ".").out.splitlines()[1] == "Anna;59;1.75;true;2026-01-02;01067"
    tabs = run("convert", "de.csv", "--separator", "tab").out.splitlines()[1]
    assert tabs == "Anna\t59\t1,75\ttrue\t2026-01-02\t01067"
    Path("en.csv").write_text(plain)
    assert run("convert", "en.csv").out == plain
    assert run("convert", "en.csv", "--decimal", ",").out == GERMAN


def test_a_table_that_is_no_text_has_the_usual_marks(run, german):
    run("convert", "de.csv", "-o", "t.parquet")
    ended = run("convert", "t.parquet", "-o", "t.csv")
    assert "separated" not in ended.err
    assert Path("t.csv").read_text() == GERMAN.replace(",", ".").replace(";", ",")


def test_marks_go_through_choosing_rows(run, german):
    assert (
        run("convert", "de.csv", "--sql", "select name, größe from data where größe > 1.76").out
        == "name;größe\nBert;1,8\nDirk;1,9\n"
    )


# -- cells as they stood ------------------------------------------------------------------------------------------

LARGE = "id,n,x,flag,code,day,mixed\n" + "".join(
    f"{2**62 + i},{i % 7 if i % 5 else ''},{i / 8:.12g},{'true' if i % 3 else 'false'},{i % 100:05d},"
    f"2026-01-{i % 28 + 1:02d},{i if i < 19_000 else i + 0.5}\n"
    for i in range(20_000)
)


@pytest.fixture(params=["by Arrow", "line by line"])
def large(request, tmp_path, monkeypatch) -> str:
    """A text that is larger than what is looked at first, read by either reader."""
    monkeypatch.chdir(tmp_path)
    if request.param == "line by line":
        monkeypatch.setattr(text_tables, "SAMPLE_BYTES", 2**22)
    Path("large.csv").write_text(LARGE)
    return LARGE


def test_whole_numbers_flags_codes_and_days_come_back_to_the_byte(run, large):
    assert run("convert", "large.csv", "-o", "same.csv").code == 0
    assert Path("same.csv").read_text() == large


def test_a_typed_file_has_types(run, large):
    assert run("convert", "large.csv", "-o", "t.parquet").code == 0
    found = pl.read_parquet("t.parquet")
    assert [str(kind) for kind in found.dtypes[:4]] == ["Int64", "Int64", "Float64", "Boolean"]
    assert found["id"].to_list() == [2**62 + i for i in range(20_000)]  # which float64 has not
    assert found["n"].null_count() == 4000
    assert found["code"].to_list()[:2] == ["00000", "00001"]
    assert str(found["mixed"].dtype) == "Float64"  # whole at first, but not in the end
    assert run("convert", "t.parquet", "-o", "same.csv").code == 0
    assert Path("same.csv").read_text() == large


def test_numbers_that_no_type_holds_are_told(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"a,b\n{10**30},1\n2,3\n")
    ended = run("convert", "t.csv", "-o", "t.parquet")
    assert "a: numbers beyond 2⁵³ are rounded to 16 digits, also where they are whole" in ended.err
    assert "b:" not in ended.err


def test_arrow_types_go_through_untouched(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {
            "id": pl.Series([2**63 + 1, None], dtype=pl.UInt64),
            "small": pl.Series([1, None], dtype=pl.Int8),
            "single": pl.Series([0.1, None], dtype=pl.Float32),
            "flag": [True, None],
            "day": [datetime.date(2026, 1, 2), None],
            "at": [datetime.datetime(2026, 1, 2, 3, 4, 5), None],
            "kind": pl.Series(["a", None], dtype=pl.Categorical),
            "text": ["=1", None],
        }
    )
    frame.write_parquet("t.parquet")
    for ending in ("parquet", "feather"):
        assert run("convert", "t.parquet", "-o", f"u.{ending}").code == 0
        found = (pl.read_parquet if ending == "parquet" else pl.read_ipc)(f"u.{ending}")
        assert found.equals(frame)
        assert found.dtypes == frame.dtypes
    assert run("convert", "t.parquet", "--raw").out.splitlines() == [
        "id,small,single,flag,day,at,kind,text",
        f"{2**63 + 1},1,0.1,true,2026-01-02,2026-01-02T03:04:05,a,=1",
        ",,,,,,,",
    ]
    lines = [json.loads(line) for line in run("convert", "t.parquet", "--format", "jsonl").out.splitlines()]
    assert lines[0]["id"] == 2**63 + 1
    assert lines[0]["flag"] is True
    assert set(lines[1].values()) == {None}
    run("convert", "t.parquet", "-o", "t.xlsx")
    row = [cell.value for cell in openpyxl.load_workbook("t.xlsx").active[2]]
    days = [datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5)]
    assert row == [str(2**63 + 1), 1, 0.1, True, *days, "a", "=1"]


def test_lists_and_records_are_taken_apart_where_they_are_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"emb": [[0.5, 1.0], [2.0, 3.0]], "at": [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]}).write_parquet(
        "t.parquet"
    )
    assert run("convert", "t.parquet").out == "emb.0,emb.1,at.x,at.y\n0.5,1,1,a\n2,3,2,b\n"


def test_numbers_that_stand_for_missing_are_empty(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,c\n1,<0.1,x\n-999,2.5,y\n3,0.5,z\n4,1,w\n")
    assert run("impute", "t.csv", "--keep", "1", "-q").out.count("<0.1") == 0
    assert run("convert", "t.csv", "-q").out.splitlines()[1:3] == ["1,,x", "-999,2.5,y"]


# -- formats ------------------------------------------------------------------------------------------------------


def test_a_workbook_comes_back_as_a_workbook(run, german):
    run("convert", "de.csv", "-o", "t.xlsx")
    ended = run("impute", "t.xlsx", "-o", "filled.xlsx")
    assert ended.code == 0
    found = pd.read_excel("filled.xlsx", dtype={"plz": str}, engine="openpyxl")
    assert found["alter"].notna().all()
    assert found["plz"].tolist() == ["01067", "10115", "20095", "03046"]
    assert found["größe"].tolist() == [1.75, 1.8, 1.625, 1.9]


def test_days_in_a_workbook_stay_days(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = [datetime.date(2026, 1, 2), None, datetime.date(1999, 12, 31)]
    moments = [datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.datetime(2026, 1, 3), None]
    frame = pd.DataFrame({"day": days, "at": moments, "n": [1, 2, 3]})
    frame.to_excel("t.xlsx", index=False)
    assert run("convert", "t.xlsx", "-o", "u.xlsx").code == 0
    rows = list(openpyxl.load_workbook("u.xlsx").active.iter_rows(min_row=2, values_only=True))
    assert [row[0] for row in rows] == [day and datetime.datetime.combine(day, datetime.time()) for day in days]
    assert [row[1] for row in rows] == moments
    assert run("convert", "t.xlsx").out.splitlines()[1:] == [
        "2026-01-02,2026-01-02T03:04:05,1",
        ",2026-01-03T00:00:00,2",
        "1999-12-31,,3",
    ]
    run("convert", "t.xlsx", "-o", "t.parquet")
    assert pl.read_parquet("t.parquet")["day"].to_list() == days


def test_scores_go_into_a_workbook(run, wine):
    assert run("fit", "wine.csv", "--scale", "--keep", "2", "-o", "scores.xlsx").code == 0
    book = openpyxl.load_workbook("scores.xlsx").active
    assert [cell.value for cell in book[1]] == ["PC1", "PC2"]
    assert book.max_row == 179


def test_standard_output_can_be_anything_that_is_named(run, german):
    assert run("convert", "de.csv", "--format", "markdown").out.splitlines()[:3] == [
        "| name | alter | größe | raucher | tag | plz |",
        "| --- | ---: | ---: | --- | --- | --- |",
        "| Anna | 59 | 1.75 | true | 2026-01-02 | 01067 |",
    ]
    assert json.loads(run("convert", "de.csv", "-o", "-", "--format", "jsonl").out.splitlines()[0])["größe"] == 1.75
    assert run("datasets", "iris", "--format", "md").out.startswith("| label | ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("fit", "de.csv", "--format", "md"), "--format: no table is written; add -o FILE, or -o - to print it"),
        (("fit", "de.csv", "--decimal", ","), "--decimal: no table is written"),
        (("convert", "de.csv", "-o", "t.csv", "--format", "md"), "t.csv: ends in .csv, but --format md is asked for"),
        (("convert", "de.csv", "--format", "odt"), "--format odt: there is no such format; there are csv, tsv, xlsx,"),
        (("convert", "de.csv", "--format", "npy"), "--format npy: must be written to a file"),
        (("convert", "de.csv", "-o", "t.parquet", "--decimal", ","), "t.parquet is not; leave it out"),
        (("convert", "de.csv", "-o", "t.tsv", "--separator", ";"), "--separator ';': is for CSV"),
        (("convert", "de.csv", "--separator", "ab"), "--separator ab: one sign is needed"),
        (("convert", "de.csv", "--separator", ",", "--decimal", ","), "they must differ"),
    ],
)
def test_what_cannot_be_meant_is_said_before_any_work(run, german, given, said):
    ended = run(*given)
    assert ended.code == 2
    assert said in ended.err
    assert sorted(path.name for path in german.iterdir()) == ["de.csv"]


# -- what is replaced ---------------------------------------------------------------------------------------------


def test_what_is_replaced_is_said_with_what_it_was(run, wine):
    first = run("fit", "wine.csv", "--drop", "kind", "--save", "m.lowdim", "-o", "s.csv")
    assert "replaced" not in first.err
    run("datasets", "iris", "-o", "iris.csv")
    again = run("fit", "iris.csv", "--save", "m.lowdim", "-o", "s.csv")
    assert again.err.splitlines()[-2:] == ["replaced s.csv", "replaced m.lowdim (a PCA of wine.csv, 178 rows)"]
    assert "replaced" not in again.out
    assert (
        "(a PCA of iris.csv, 150 rows)"
        in run("fit", "iris.csv", "--model", "nmf", "--keep", "2", "--save", "m.lowdim").err
    )
    assert "(an NMF of iris.csv, 150 rows)" in run("fit", "iris.csv", "--save", "m.lowdim").err


def test_every_kind_of_file_that_is_replaced_is_said(run, wine):
    run("fit", "wine.csv", "--save", "m.lowdim")
    for given in (("plot", "m.lowdim", "scree", "-o", "p.svg"), ("report", "m.lowdim", "-o", "r.html")):
        assert "replaced" not in run(*given).err
        assert f"replaced {given[-1]}" in run(*given).err.splitlines()
        assert "replaced" not in run(*given, "-q").err


def test_a_damaged_model_is_replaced_like_any_file(run, wine):
    Path("m.lowdim").write_bytes(b"\0" * 100)
    assert "replaced m.lowdim" in run("fit", "wine.csv", "--save", "m.lowdim").err.splitlines()


def test_what_was_not_replaced_is_not_said(run, wine):
    Path("s.csv").write_text("keep me")
    ended = run("fit", "wine.csv", "--columns", "alcohol,nonsense", "-o", "s.csv")
    assert ended.code != 0
    assert "replaced" not in ended.err
    assert Path("s.csv").read_text() == "keep me"
