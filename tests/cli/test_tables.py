"""Tables as people have them, at the prompt: every verb says what becomes of them, and every advice works."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.cli.main import VERBS

RNG = np.random.default_rng(0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def iris(folder):
    """150 flowers with a column of names, and two codes of their kinds: one in words, one a number."""
    found = lowdim.datasets.iris()
    frame = found.to_pandas().assign(kind=found.labels)
    frame.insert(0, "flower", [f"f{i}" for i in range(len(frame))])
    frame["code"] = frame.kind.astype("category").cat.codes
    frame.to_csv("iris.csv", index=False)
    return frame


def shares(ended):
    return [one["share"] for one in ended.json["components"]]


# -- roles --------------------------------------------------


def test_columns_that_name_class_weigh_or_colour_take_no_part(run, iris):
    numbers = iris.iloc[:, 1:5].to_numpy()
    alone = lowdim.PCA(2).fit(numbers).explained_variance_ratio_
    given = ("iris.csv", "--keep", 2, "--json")
    # to rounding of sums over the same rows in another order of columns
    assert shares(run(*given, "--label", "code")) == pytest.approx(alone, rel=1e-12)
    assert shares(run(*given, "--names", "code")) == pytest.approx(alone, rel=1e-12)
    weighted = lowdim.PCA(2).fit(numbers, sample_weight=iris.code).explained_variance_ratio_
    assert shares(run(*given, "--weight", "code")) == pytest.approx(weighted, rel=1e-12)
    assert shares(run(*given)) != pytest.approx(alone, rel=1e-3)  # the code is a variable if nothing is said …
    assert "code has 3 whole values, 0 to 2: --label code keeps it out of the fit." in " ".join(
        run("iris.csv").out.split()
    )  # … but that is told
    page = run("report", "iris.csv", "--color", "code,kind", "--keep", 2, "-o", "page.html")
    assert page.code == 0
    said = re.search(
        r'<script type="application/json"[^>]*>(.*?)</script>', Path("page.html").read_text(encoding="utf-8"), re.DOTALL
    )
    payload = json.loads(said[1])
    assert len(payload["columns"]["names"] if "names" in payload["columns"] else payload["columns"]) == 4
    assert run("plot", "iris.csv", "scores", "--color", "code", "-o", "s.png").code == 0


def test_a_colour_may_be_a_column_of_the_model(run, iris):
    assert run("fit", "iris.csv", "--label", "code", "--save", "m.lowdim").code == 0
    name = iris.columns[1]
    assert run("report", "m.lowdim", "--data", "iris.csv", "--color", f"{name},kind", "-o", "p.html").code == 0
    assert run("plot", "m.lowdim", "scores", "iris.csv", "--color", name, "-o", "p.png").code == 0


@pytest.mark.parametrize("verb", ["fit", "choose", "uncertainty", "compare", "redundant", "transform"])
def test_verbs_that_do_not_draw_say_what_stands_for_a_colour(run, iris, verb):
    ended = run(verb, "iris.csv", "--color", "code")
    assert ended.code == 2
    assert "--label names a column of classes" in ended.err


def test_unique_texts_name_the_rows_in_every_output(run, iris):
    assert "left out  flower (names of the rows), kind (text)" in run("iris.csv").out
    run("fit", "iris.csv", "--keep", 2, "--label", "kind", "--save", "m.lowdim", "-o", "fit.csv")
    run("transform", "m.lowdim", "iris.csv", "--label", "kind", "-o", "new.csv")
    for file in ("fit.csv", "new.csv"):
        found = pd.read_csv(file)
        assert list(found) == ["flower", "kind", "PC1", "PC2"]
        assert found.flower.tolist() == iris.flower.tolist()
        assert found.kind.tolist() == iris.kind.tolist()
    run("inverse", "m.lowdim", "new.csv", "-o", "back.csv")
    assert pd.read_csv("back.csv").flower.tolist() == iris.flower.tolist()
    table = run("table", "m.lowdim", "scores", "iris.csv").out.splitlines()
    assert table[0].startswith("flower,PC1")
    assert table[1].startswith("f0,")
    outliers = run("table", "m.lowdim", "outliers", "iris.csv").out.splitlines()
    assert outliers[1].startswith("f")


def test_names_that_are_columns_of_the_output_are_refused(run, folder):
    frame = pd.DataFrame(RNG.standard_normal((8, 3)), columns=list("abc")).assign(PC1=[f"r{i}" for i in range(8)])
    frame.to_csv("t.csv", index=False)
    ended = run("fit", "t.csv", "-o", "s.csv")
    assert ended.code == 2
    assert "PC1: names the rows or their classes" in ended.err


def test_columns_beside_a_fit_are_told_with_what_they_have_to_do_with_it(run, iris):
    ended = run("iris.csv", "--label", "code", "--keep", 2)
    assert re.search(r"^related   code with PC1 \(η² 0\.9\d\), kind with PC1 \(η² 0\.9\d\)$", ended.out, re.MULTILINE)
    facts = run("iris.csv", "--label", "code", "--keep", 2, "--json").json
    assert {one["column"] for one in facts["related"]} == {"code", "kind"}
    model = lowdim.PCA(2).fit(iris.iloc[:, 1:5].to_numpy())
    table = model.table("supplementary", iris.iloc[:, 1:5].to_numpy(), extra={"kind": iris.kind.to_numpy()})
    eta2 = table["PC1"][list(table["statistic"]).index("eta2")]
    told = next(one["eta2"] for one in facts["related"] if (one["column"], one["component"]) == ("kind", "PC1"))
    assert told == pytest.approx(eta2, rel=1e-9)  # sums of squares about zero and about the mean


# -- groups --------------------------------------------------


def test_groups_are_fitted_by_themselves_in_one_call(run, iris):
    options = ("--scale", "--keep", "2", "--drop", "code")
    ended = run("fit", "iris.csv", "--by", "kind", *options, "--save", "m.lowdim", "-o", "s.csv", "--json")
    assert ended.code == 0, ended.err
    scores = pd.read_csv("s.csv")
    assert list(scores) == ["kind", "flower", "PC1", "PC2"]
    for one, (kind, rows) in zip(ended.json["groups"], iris.groupby("kind", sort=False), strict=True):
        alone = lowdim.PCA(2, scale=True).fit(rows.iloc[:, 1:5].to_numpy())
        assert one["group"] == kind
        assert one["kept"]["share"] == pytest.approx(alone.explained_variance_ratio_.sum(), rel=1e-12)
        kept = lowdim.load(f"m.{kind}.lowdim")
        np.testing.assert_allclose(kept.components_, alone.components_, atol=1e-10)  # two ways to the same blocks
        mine = scores[scores.kind == kind]
        assert mine.flower.tolist() == rows.flower.tolist()
        np.testing.assert_allclose(mine[["PC1", "PC2"]], alone.transform(rows.iloc[:, 1:5].to_numpy()), atol=1e-9)
    said = run("iris.csv", "--by", "kind", *options).out
    assert "iris.csv: 150 rows, 3 groups by kind" in said
    assert said.count("50 rows  2 components that keep") == 3
    assert "accuracy  certified in every group" in said


def test_groups_that_cannot_be_fitted_are_told(run, folder):
    (folder / "g.csv").write_text("g,a,b\nx,1,2\nx,2,3\nx,4,4\ny,1,1\n,5,5\n")
    ended = run("g.csv", "--by", "g")
    assert ended.code == 3
    assert "note      1 row without a value of g: left out" in ended.out
    assert re.search(r"^y +1 row +not fitted$", ended.out, re.MULTILINE)
    assert "error: g y: There is only one row" in ended.err
    assert "--by h" in run("g.csv", "--by", "h").err or "no column 'h'" in run("g.csv", "--by", "h").err
    pd.DataFrame({"g": [f"v{i}" for i in range(300)], "a": range(300), "b": range(300)}).to_csv("many.csv", index=False)
    refused = run("many.csv", "--by", "g")
    assert refused.code == 2
    assert "has 300 values" in refused.err
    assert run("fit", "g.csv", "--by", "g", "--dry-run").code == 2


# -- what is read, and how it is said --------------------------------------------------

MESSY = {
    "limits.csv": ("a,lead\n1,<0.1\n2,0.4\n3,n.d.\n4,0.9\n5,0.7\n6,0.2\n", "2 of 6 cells are read as missing"),
    "thousands.csv": ('a,n\n1,"266,920"\n2,"301,002"\n3,"150,100"\n4,"99,000"\n', "separator of thousands"),
    "units.csv": ("a,dose\n1,0.5 mg\n2,0.7 mg\n3,0.1 mg\n4,0.9 mg\n", "the unit 'mg' is taken off"),
    "units_row.csv": ("a,b\nmg,mm\n1,2\n2,3\n3,5\n4,4\n", "line 2 holds units"),
    "comments.csv": ("# made by X\n# 2024\na,b\n1,2\n2,3\n3,5\n4,4\n", "begin with '#'"),
    "title.csv": ("Lab of Dr. X\n\na,b\n1,2\n2,3\n3,5\n4,4\n", "line"),
}
"""Text of a file, and what must be said of it."""

WRITES = {
    "fit": ("--model", "ppca", "--keep", "1"),
    "describe": (),
    "info": (),
    "explain": (),
    "impute": (),
    "convert": ("-o", "out.tsv"),
    "choose": ("--model", "ppca"),
    "redundant": (),
    "report": ("--model", "ppca", "--keep", "1", "-o", "out.html"),
    "plot": ("scree", "--model", "ppca", "--keep", "1", "-o", "out.png"),
    "uncertainty": ("--model", "ppca", "--keep", "1", "--resamples", "10"),
    "compare": ("--models", "pca", "--keep", "1"),
    "regress": ("--target", "a", "--folds", "2", "--alone"),
}
"""Verbs that read a table, with what they need."""


def told(ended):
    return " ".join(f"{ended.out} {ended.err}".split())


@pytest.mark.parametrize("name", MESSY)
@pytest.mark.parametrize("verb", WRITES)
def test_no_verb_is_silent_about_what_was_guessed(verb, name, run, folder):
    text, words = MESSY[name]
    (folder / name).write_text(text)
    ended = run(verb, name, *WRITES[verb])
    assert words in told(ended), told(ended)
    assert ended.out.count(words) + ended.err.count(words) <= 1  # and none says it twice


def test_every_verb_that_reads_a_table_is_held_to_that():
    reading = {verb for verb in VERBS if "wish" in str(getattr(VERBS[verb], verb).__wrapped__.__annotations__)}
    models = {"transform", "inverse", "predict", "table", "recognise", "map"}  # which read what a model or place needs
    assert reading == WRITES.keys() | models


@pytest.mark.parametrize("name", MESSY)
def test_models_say_it_of_new_rows_too(name, run, folder):
    text, words = MESSY[name]
    (folder / name).write_text(text)
    assert run("fit", name, "--model", "ppca", "--keep", "1", "--save", "m.lowdim", "-q").code == 0
    assert words in run("transform", "m.lowdim", name, "-o", "s.csv").err
    assert run("transform", "m.lowdim", name, "-o", "s.csv", "-q").err == ""


def test_info_lists_every_column_with_what_a_fit_does(run, folder):
    text = "id,lead,when,ok,kind,w,gone\n"
    text += "".join(
        f"{i},{'<0.1' if i == 3 else i * 0.3:.4},2024-01-{i:02},{i % 2 == 0},{'ab'[i % 2]},{i},\n" for i in range(1, 13)
    )
    (folder / "t.csv").write_text(text.replace("True", "true").replace("False", "false"))
    ended = run("info", "t.csv", "--weight", "w", "--encode")
    lines = {line.split()[0]: line for line in ended.out.splitlines() if line.strip()}
    assert re.search(r"^t\.csv: 12 rows × 7 columns, 4 of them taken by a fit$", ended.out, re.MULTILINE)
    assert re.search(r"id +whole +1 to 12 +taken", lines["id"])
    assert re.search(r"lead +number +1 \(8\.3 %\) +0\.3 to 3\.6 +taken", lines["lead"])
    assert re.search(r"when +time +12 values +left out: time", lines["when"])
    assert re.search(r"ok +yes/no +0 to 1 +taken", lines["ok"])
    assert re.search(r"kind +text +2 values +taken, as kind=b", lines["kind"])
    assert re.search(r"w +whole +1 to 12 +weights", lines["w"])
    assert re.search(r"gone +empty +12 \(100\.0 %\) +left out: empty", lines["gone"])
    assert "id counts the rows: --names id" in ended.out
    facts = run("info", "t.csv", "--json").json
    assert [one["name"] for one in facts["columns"]] == ["id", "lead", "when", "ok", "kind", "w", "gone"]


def test_info_lists_the_tables_of_a_file(run, folder):
    np.savez("several.npz", a=np.ones((5, 3)), b=np.ones((7, 2)))
    ended = run("info", "several.npz")
    assert ended.code == 0
    assert "a  5 × 3 float64" in ended.out
    assert "lowdim info several.npz --table a" in ended.out
    assert run("info", "several.npz", "--table", "b").code == 0
    facts = run("info", "several.npz", "--json").json
    assert facts["tables"] == [{"name": "a", "holds": "5 × 3 float64"}, {"name": "b", "holds": "7 × 2 float64"}]


def test_every_option_of_reading_reaches_the_reader(run, folder):
    rows = "".join(f"{i},{i * i % 7},x{i}\n" for i in range(1, 31))
    (folder / "t.txt").write_text(f"junk\nmore junk\na,b,name\n{rows}% end\n")
    given = ("t.txt", "--skip", "2", "--header", "1", "--comment", "%", "--json", "--keep", "1")
    assert run(*given).json["rows"] == 30
    assert run(*given, "--where", "a > 10").json["rows"] == 20
    assert run(*given, "--sample", "5").json["rows"] == 5
    assert run(*given, "--sample", "50%").json["rows"] == 15
    assert run(*given, "--missing", "6", "--model", "ppca").json["missing"] > 0
    assert run(*given, "--names", "b").json["columns"] == ["a"]
    turned = run(*given, "--transpose")
    assert (turned.json["rows"], len(turned.json["columns"])) == (2, 30)
    assert run("t.txt", "--range", "A3:B12", "--json", "--keep", "1").json["rows"] == 9
    for words in (("--sample", "many"), ("--size", "64"), ("--isolated", "maybe"), ("--skip", "-1"), ("--header", "x")):
        ended = run("t.txt", *words)
        assert ended.code == 2, words
        assert words[0] in ended.err


def test_several_files_are_one_table(run, folder, iris):
    iris[:50].to_csv("a.csv", index=False)
    iris[50:].drop(columns="code").to_json("b.jsonl", orient="records", lines=True)
    ended = run("a.csv", "b.jsonl", "--drop", "code", "--keep", "2", "--json")
    assert ended.json["rows"] == 150
    alone = lowdim.PCA(2).fit(iris.iloc[:, 1:5].to_numpy()).explained_variance_ratio_
    assert shares(ended) == pytest.approx(alone, rel=1e-12)  # JSON and CSV give the same doubles
    assert ended.json["left_out"]["file"] == "names of the files"
    assert "a.csv and 1 more file: 150 rows" in run("a.csv", "b.jsonl", "--drop", "code").out
    run("fit", "a.csv", "b.jsonl", "--drop", "code", "--keep", "2", "--save", "m.lowdim", "-q")
    run("transform", "m.lowdim", "a.csv", "b.jsonl", "-o", "s.csv", "-q")
    assert len(pd.read_csv("s.csv")) == 150
    run("convert", "a.csv", "b.jsonl", "-o", "all.parquet", "-q")
    assert pd.read_parquet("all.parquet").file.nunique() == 2


def test_the_next_steps_keep_every_option_and_can_be_run(run, folder):
    (folder / "t.txt").write_text("junk\na;b;k\n" + "".join(f"{i};{i * i % 7};{'uv'[i % 2]}\n" for i in range(30)))
    said = run("t.txt", "--skip", "1", "--label", "k", "--where", "a > 3", "--scale").out
    steps = said[said.index("\nnext\n") :].replace("\\\n", " ").splitlines()[2:]
    assert len(steps) == 3
    for step in steps:
        words = shlex.split(step, comments=True)
        assert words[words.index("--skip") : words.index("--skip") + 2] == ["--skip", "1"]
        ended = run(*words[1:])
        assert ended.code == 0, ended.err
    assert pd.read_csv("scores.csv", sep=";").shape == (26, 2 + 1)  # in the marks that came in


# -- terminals --------------------------------------------------


def test_a_terminal_without_letters_keeps_signs_and_bars(child, wine):
    ended = child("wine.csv", "--scale", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")
    assert ended.code == 0, ended.err
    assert "?" not in ended.out.replace("how many dimensions?", "")
    assert "+ ash  + alcalinity_of_ash  - alcohol" in ended.out
    assert "#####" in ended.out
    facts = child("wine.csv", "--scale", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(facts.out)["components"]  # letters that are not there are escaped


@pytest.mark.parametrize("columns", [40, 50, 60, 100])
def test_screens_fit_the_width_that_there_is(run, wine, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for given in (("wine.csv",), ("wine.csv", "--scale"), ("wine.csv", "--by", "kind")):
        lines = run(*given).out.splitlines()
        end = lines.index("next") if "next" in lines else len(lines)
        assert max(map(len, lines[:end])) <= columns
        whole = " ".join(" ".join(lines[:end]).split())
        assert "178 rows" in whole
    assert "of the variance of the scaled columns" in " ".join(run("wine.csv", "--scale").out.split())


def test_python_runs_the_package(wine):
    ended = subprocess.run([sys.executable, "-m", "lowdim", "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout == f"lowdim {lowdim.__version__}\n"


def test_help_in_words(run):
    assert run("help").out == run("--help").out
    assert run("help", "fit").out == run("fit", "--help").out
    text = run("--help").out
    assert "…" not in text
    assert "..." not in text.replace("DATA ...", "").replace("of it ...", "").replace("# ... for", "")
    named = re.findall(r"^  (\w+)  ", text[text.index("Look at data:") :], re.MULTILINE)
    assert sorted(named) == sorted(VERBS.keys() - {"describe"})
