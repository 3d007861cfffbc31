"""Regression at the prompt: the library's numbers, one screen, files, and sentences for what cannot be."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import PCRegression

REGRESS = ("regress", "fuel.csv", "--target", "octane")


@pytest.fixture
def fuel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(40, 2))
    X = hidden @ rng.normal(size=(2, 12)) + 0.1 * rng.normal(size=(40, 12))
    frame = pd.DataFrame(X, columns=[f"nm{j}" for j in range(12)])
    frame.insert(0, "sample", [f"s{i}" for i in range(40)])
    frame["octane"] = 87 + hidden @ [1.0, 0.5] + 0.1 * rng.normal(size=40)
    frame.to_csv("fuel.csv", index=False)
    return frame


def test_regress_keeps_a_model_that_predicts(run, fuel):
    ended = run(*REGRESS, "--folds", "4", "--save", "m.lowdim", "--plot", "f.png")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("fuel.csv: 40 rows × 12 columns")
    assert any(line.startswith("2 components predict octane (--keep cv)") for line in lines)
    assert [line.split()[0] for line in lines if line.startswith(("PCR", "least", "ridge", "PLS"))] == [
        "PCR",
        "least",
        "ridge",
        "PLS",
    ]
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    X, y = fuel.filter(like="nm"), fuel["octane"]
    kept, same = lowdim.load("m.lowdim"), PCRegression(cv=4).fit(X, y)
    np.testing.assert_allclose(kept.coef_, same.coef_, atol=1e-10)
    assert run("predict", "m.lowdim", "fuel.csv", "--interval", "--label", "sample", "-o", "p.csv").code == 0
    found = pd.read_csv("p.csv")
    assert list(found) == ["sample", "octane", "octane lower", "octane upper"]
    np.testing.assert_allclose(found["octane"], same.predict(X), atol=1e-9)
    np.testing.assert_allclose(found["octane lower"], same.intervals(X)[0], atol=1e-9)
    info = run("info", "m.lowdim").out
    assert "regression of octane on 2 components" in info
    assert json.loads(run("info", "m.lowdim", "--json").out)["model"] == "regression"
    assert "the same folds chose" in run("explain", "m.lowdim").out
    assert run("transform", "m.lowdim", "fuel.csv").out.startswith("sample,PC1,PC2\n")


@pytest.mark.parametrize(("given", "level"), [("90%", 0.9), ("0.5", 0.5)])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_intervals_of_another_level(run, fuel, given, level):
    run(*REGRESS, "--alone", "--save", "m.lowdim")
    assert run("predict", "m.lowdim", "fuel.csv", "--level", given, "-o", "p.csv").code == 0
    known = lowdim.load("m.lowdim").intervals(fuel.filter(like="nm").to_numpy(), level)
    np.testing.assert_allclose(pd.read_csv("p.csv")["octane upper"], known[1], atol=1e-9)


def test_json_says_the_same(run, fuel):
    facts = json.loads(run(*REGRESS, "--keep", "2", "--alone", "--json").out)
    assert facts["kept"] == {"components": 2, "picked": ["PC1", "PC2"], "rule": "count"}
    assert facts["rivals"] == []
    assert 0.9 < facts["validation"]["q2"][0] < facts["r2"][0] < 1
    assert set(facts["coefficients"][0]) == {f"nm{j}" for j in range(12)}


def test_several_targets_and_chosen_columns(run, fuel):
    ended = run("regress", "fuel.csv", "--target", "octane,nm0", "--columns", "nm1,nm2,nm3", "--json", "--alone")
    facts = json.loads(ended.out)
    assert facts["targets"] == ["octane", "nm0"]
    assert facts["columns"] == ["nm1", "nm2", "nm3"]


def test_holes_are_filled_and_rows_without_target_left_out(run, fuel):
    fuel.loc[3, "octane"] = np.nan
    fuel.loc[[5, 7], "nm4"] = np.nan
    fuel.to_csv("fuel.csv", index=False)
    ended = run(*REGRESS, "--alone", "--folds", "3", "--repeats", "1", "--save", "m.lowdim")
    assert ended.code == 0
    assert "1 rows have no octane" in ended.err
    assert "39 rows" in ended.out
    assert run("predict", "m.lowdim", "fuel.csv").out.count("\n") == 41


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("regress", "fuel.csv", "--target", "oktane"), "did you mean 'octane'?"),
        (("regress", "fuel.csv", "--target", "octane", "--keep", "some"), "cv, t-test"),
        (("regress", "fuel.csv", "--target", "octane", "--columns", "octane"), "no other column"),
        (("regress", "fuel.csv", "--target", "octane", "--keep", "50"), "between 1 and 12"),
        (("regress", "fuel.csv", "--target", "octane,octane"), "are called 'octane'"),
        (("regress", "few.csv", "--target", "octane"), "3 rows have a target: 3 folds leave 2 rows"),
        (("regress", "few.csv", "--target", "kind"), "the column holds text, but a regression predicts numbers"),
        (("regress", "few.parquet", "--target", "empty"), "none of the 3 rows has a finite value of it"),
        (("predict", "m.lowdim", "late.csv"), "row 39 has no finite value in column 'nm4'"),
        (("predict", "m.lowdim", "fuel.csv", "--level", "95"), "such as 90%"),
        (("predict", "m.lowdim", "fuel.csv", "--level", "most"), "such as 90%"),
        (("predict", "fuel.csv", "m.lowdim"), "the model comes first"),
        (("predict", "pca.lowdim", "fuel.csv"), "predicts nothing"),
        (("predict", "m.lowdim", "other.csv"), "needs that column"),
    ],
)
def test_what_cannot_be_is_said(run, fuel, arguments, said):
    run(*REGRESS, "--alone", "--save", "m.lowdim")
    run("fit", "fuel.csv", "--save", "pca.lowdim")
    fuel.rename(columns={"nm3": "nm_3"}).to_csv("other.csv", index=False)
    few = fuel[:3].assign(kind=["a", "b", "a"], empty=np.nan)
    few.drop(columns="empty").to_csv("few.csv", index=False)
    few.to_parquet("few.parquet")
    fuel.loc[38, "nm4"] = np.nan
    fuel.to_csv("late.csv", index=False)
    ended = run(*arguments)
    assert ended.code != 0
    assert ended.out == ""  # no header before an error
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_standard_input(run, fuel):
    ended = run("regress", "-", "--target", "octane", "--alone", given=fuel.to_csv(index=False))
    assert ended.code == 0
    assert "predict octane" in ended.out
