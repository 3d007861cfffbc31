"""What a newcomer must be told of a table, wherever it is met; and advice that works when it is pasted."""

from __future__ import annotations

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
