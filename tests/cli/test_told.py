"""What a newcomer must be told of a table, wherever it is met; and advice that works when it is pasted."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(0)


@pytest.fixture
def lands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Rows with names, holes, columns in units and with thousands, and a row of totals."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"The Land": [f"land {i}" for i in range(30)]})
    for j, unit in enumerate(["km", "kg", "m", "s"]):
        frame[f"c{j}"] = [f"{value:,.1f} {unit}" for value in 1000 + 900 * RNG.random(30)]
    frame["d"] = (RNG.random(30) * 100).round(2)
    frame.loc[3, "d"] = np.nan
    frame.loc[30] = ["Total", *["9,000.0 " + unit for unit in ("km", "kg", "m", "s")], 5000]
    frame.to_csv("t.csv", index=False)
    return frame


TOTAL = "the last row is called 'Total' and is read like the others: "
WHERE = '--where "\\"The Land\\" <> \'Total\'"'


@pytest.mark.parametrize("verb", [["impute"], ["info"], [], ["convert", "-o", "c.parquet"]], ids=str)
def test_a_row_of_totals_is_told_of_by_every_verb(run, lands, verb):
    ended = run(*verb[:1], "t.csv", *verb[1:])
    assert ended.code == 0
    assert f"{TOTAL}{WHERE} leaves it out." in " ".join((ended.out + ended.err).split())


def test_advice_is_quoted_for_a_shell(run, lands):
    typed = shlex.split(WHERE)
    assert typed == ["--where", "\"The Land\" <> 'Total'"]
    ended = run("impute", "t.csv", "-o", "filled.csv", *typed)
    assert "Total" not in ended.err
    assert len(pd.read_csv("filled.csv")) == 30


def test_notes_that_decide_what_is_worked_with_come_first_and_stay(run, lands):
    ended = run("t.csv")
    notes = [line for line in ended.out.splitlines() if line.startswith("note  ")]
    assert "the last row is called 'Total'" in notes[0]
    assert "more notes: lowdim info lists them" in ended.out
    told = run("info", "t.csv", "--json").json["notes"]
    units = [i for i, note in enumerate(told) if "is taken off" in note]
    assert "Total" in told[0]
    assert max(units) == len(told) - 1


def test_what_columns_have_to_do_with_components_is_told_of_chosen_rows_and_wide_tables_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, kinds = np.random.default_rng(1), np.repeat(["x", "y", "z"], 20)
    frame = pd.DataFrame(rng.standard_normal((60, 300)) + 3 * (kinds == "y")[:, None])
    frame.columns = [f"c{j}" for j in range(300)]
    frame.insert(0, "kind", kinds)
    frame.insert(1, "coin", rng.choice(["heads", "tails"], 60))
    frame.to_csv("t.csv", index=False)
    whole = run("t.csv", "--keep", "2", "--json").json["related"]
    assert whole[0]["column"] == "kind"
    assert whole[0]["component"] == "PC1"
    for options in (["--where", "c0 > -100"], ["--label", "kind"]):
        found = run("t.csv", "--keep", "2", *options, "--json").json["related"]
        assert found[0]["eta2"] == pytest.approx(whole[0]["eta2"], rel=1e-9)
    assert "related   coin with no component, beyond chance" in run("t.csv", "--label", "coin", "--drop", "kind").out


@pytest.mark.parametrize("verb", [[], ["fit", "--model", "ppca", "--keep", "2"]], ids=["describe", "fit"])
@pytest.mark.parametrize(
    "options",
    [
        ["--drop", "c0", "--label", "kind"],
        ["--where", "\"The Land\" <> 'Total' AND kind = 'x'", "--names", "The Land"],
        ["--columns", "c1,c2,d", "--label", "kind"],
        ["--weight", "w", "--drop", "c0"],
    ],
    ids=str,
)
def test_the_advised_command_keeps_what_was_asked_and_works(run, lands, verb, options):
    lands.assign(kind=["x", "y", "z"] * 10 + ["x"], w=1).to_csv("t.csv", index=False)
    ended = run(*verb[:1], "t.csv", *verb[1:], *options)
    assert ended.code == 0
    lines = ended.out.replace("\\\n", "").splitlines()
    step = shlex.split(next(line for line in lines if line.startswith("  lowdim impute")).partition(" # ")[0])
    wanted = ["--drop", "c0,w"] if "--weight" in options else options  # every row is filled, whatever its weight
    for option, value in zip(wanted[::2], wanted[1::2], strict=True):
        assert step[step.index(option) + 1] == value
    filled = run(*step[1:])
    assert filled.code == 0
    assert "filled" in filled.err


def test_columns_kept_aside_are_written_as_they_stand(run, lands):
    lands.assign(group=[7.5, np.nan] * 15 + [1]).to_csv("t.csv", index=False)
    assert run("impute", "t.csv", "--label", "group", "--names", "The Land", "-o", "filled.csv").code == 0
    assert pd.read_csv("filled.csv")["group"].isna().sum() == 15


def test_a_verdict_on_rows_with_holes_says_what_nobody_checked(run, lands):
    ended = run("choose", "t.csv", "--scale")
    assert "With missing values it is not checked whether noise is independent" in " ".join(ended.out.split())


def test_a_fitted_model_is_not_advised_to_be_another(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.standard_normal((30, 3)), columns=list("abc"))
    frame.to_csv("whole.csv", index=False)
    frame.loc[2, "b"] = np.nan
    frame.to_csv("holes.csv", index=False)
    assert run("fit", "whole.csv", "--keep", "2", "--save", "m.lowdim").code == 0
    verbs = [["plot", "m.lowdim", "biplot", "holes.csv", "-o", "b.png"], ["table", "m.lowdim", "row_cos2", "holes.csv"]]
    for verb in [*verbs, ["report", "m.lowdim", "--data", "holes.csv", "-o", "r.html"]]:
        ended = run(*verb)
        assert ended.code == 3
        assert "fill them first, as lowdim impute does" in ended.err
        assert "--model" not in ended.err


def test_running_numbers_are_told_of_and_left_out_of_the_next_command(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.standard_normal((30, 3)), columns=list("abc"))
    frame["Sample Number"] = [*range(1, 16), *range(1, 10), *range(1, 7)]
    frame["case_id"] = RNG.permutation(900)[:30]
    frame["rooms"] = RNG.integers(1, 90, 30)
    frame.to_csv("t.csv", index=False)
    ended = run("t.csv", "--keep", "2")
    assert "Sample Number counts rows, and begins anew 2 times: --drop 'Sample Number'" in " ".join(ended.out.split())
    assert "case_id seems to number something" in " ".join(ended.out.split())
    assert "rooms" not in ended.out.partition("share")[0]
    step = next(line for line in ended.out.splitlines() if "--drop 'Sample" in line and line.startswith("  lowdim"))
    again = run(*shlex.split(step.partition("#")[0])[1:], "--json")
    assert again.json["columns"] == ["a", "b", "c", "rooms"]
    assert again.json["notes"] == []


def test_the_next_command_takes_the_names_of_a_filled_table_for_names(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.standard_normal((8, 30)), columns=[str(1980 + j) for j in range(30)])
    frame.insert(0, "land", [f"land {i}" for i in range(8)])
    frame.iloc[2, 5] = np.nan
    frame.to_csv("t.csv", index=False)
    assert run("impute", "t.csv", "--transpose", "-o", "filled.csv").code == 0
    step = next(line for line in run("filled.csv").out.splitlines() if line.startswith("  lowdim"))
    assert step.split("#")[0].split() == ["lowdim", "filled.csv", "--names", "name"]


def test_groups_are_in_order_and_their_rows_are_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.standard_normal((30, 3)), columns=list("abc"))
    frame.insert(0, "land", [f"land {i}" for i in range(10)] * 3)
    frame["year"] = np.repeat([10, 8, 9], 10)
    frame = pd.concat([frame, pd.DataFrame({"land": ["x", "y", "z"], "a": [1, 2, 4], "b": [2, 1, 3], "year": 7})])
    frame["c"] = frame["c"].fillna(0.5)
    frame.to_csv("t.csv", index=False)
    ended = run("fit", "t.csv", "--by", "year", "-o", "s.csv")
    assert ended.code == 0
    lines = [line.split() for line in ended.out.splitlines() if " rows  " in line]
    assert [words[0] for words in lines] == ["7", "8", "9", "10"]
    assert "land (names of the rows)" in ended.out
    assert "groups with no more rows than the 3 columns, whose components may be chance: 7 (3)" in " ".join(
        ended.out.split()
    )
    scores = pd.read_csv("s.csv")
    assert list(scores.columns[:2]) == ["year", "land"]
    assert scores["land"][scores["year"] == 9].tolist() == [f"land {i}" for i in range(10)]


def test_no_group_that_was_fitted_is_called_accurate(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"a": [1.0, np.nan] * 4, "b": np.arange(8.0) ** 2, "kind": list("xxxxyyyy")})
    frame.to_csv("t.csv", index=False)
    ended = run("t.csv", "--by", "kind")
    assert "accuracy  no group was fitted" in ended.out


def test_columns_of_a_table_that_was_turned_over_are_left_out_if_empty(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.standard_normal((6, 9)), columns=[f"d{j}" for j in range(9)])
    frame.insert(0, "land", [f"land {i}" for i in range(6)])
    frame.loc[2, "d0":] = np.nan
    frame.to_csv("t.csv", index=False)
    told = run("info", "t.csv", "--transpose").out.splitlines()
    assert next(line for line in told if line.startswith("land 2")).endswith("left out: empty")


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("d = Total", "there is no column 'Total'; a text stands in single quotes, as 'Total'"),
        ("The Land = 'land 1'", 'names with blanks or signs in double quotes, "The Land"'),
        ("c9 = 'x'", "there is no column 'c9'; a text stands in single quotes, as 'c9'; there are 'The Land'"),
    ],
)
def test_a_test_of_rows_that_cannot_be_read_teaches_how_it_is_written(run, lands, test, said):
    ended = run("t.csv", "--where", test)
    assert ended.code == 2
    assert said in ended.err


def test_columns_beside_scores_come_back_with_the_rows(run, lands):
    frame = lands.iloc[:30].assign(kind=["x", "y"] * 15, code=range(30)).drop(columns="d")
    frame.to_csv("t.csv", index=False)
    fit = ["fit", "t.csv", "--drop", "kind", "--label", "code", "--keep", "2", "--save", "m.lowdim", "-o", "s.xlsx"]
    assert run(*fit).code == 0
    ended = run("inverse", "m.lowdim", "s.xlsx", "-o", "back.csv")
    assert "beside them The Land, code" in ended.err
    back = pd.read_csv("back.csv")
    assert list(back.columns) == ["The Land", "code", "c0", "c1", "c2", "c3"]
    assert back["code"].tolist() == list(range(30))


def test_a_column_of_a_model_that_is_called_otherwise_is_to_be_renamed(run, lands):
    assert run("fit", "t.csv", "--columns", "c0,c1,c2", "--save", "m.lowdim").code == 0
    lands.rename(columns={"c1": "c1_"}).to_csv("new.csv", index=False)
    ended = run("transform", "m.lowdim", "new.csv")
    assert ended.code == 4
    assert "there is no column 'c1'; if 'c1_' is that column, rename it in the data" in ended.err


def test_the_size_that_is_advised_for_pictures_is_taken(run, tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    os.mkdir("pictures")
    for i, shape in enumerate([(20, 30), (24, 24), (20, 30)]):
        Image.fromarray(np.full(shape, 40 * i, np.uint8)).save(f"pictures/{i}.png")
    refused = run("info", "pictures")
    assert refused.code == 3
    advised = re.search(r"--size \S+", refused.err).group().split()
    assert run("info", "pictures", *advised).code == 0
