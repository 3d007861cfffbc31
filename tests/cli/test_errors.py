"""Sentences of the library at the prompt: settings become options, what only Python understands is said otherwise."""

from __future__ import annotations

import io
import pickle
import re
import shlex
import sys

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import errors
from lowdim.cli.errors import in_words
from lowdim.errors import BadInput, BadParameter, MissingValues, RankWarning, Setting, TableNote, Words


def test_an_error_carries_its_parts():
    error = BadParameter.of("PCA", "tol", -1, "a number from 0", "Leave it out.")
    assert str(error) == "PCA(tol=-1): tol must be a number from 0. Leave it out."
    assert (error.owner, error.name, error.value, error.needed) == ("PCA", "tol", -1, "a number from 0")
    assert error.remedy == "Leave it out."
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.name, again.pieces) == (str(error), "tol", error.pieces)


@pytest.mark.parametrize(
    ("setting", "known", "said"),
    [
        (Setting("scale", True), {"scale"}, "--scale"),
        (Setting("scale", True), set(), "scale=True"),
        (Setting("kind", "bootstrap"), {"kind"}, "--kind bootstrap"),
        (Setting("n_components", 3, "PCA"), {"keep"}, "--keep 3"),
        (Setting("k", 3, "topics"), {"keep"}, "--keep 3"),
        (Setting("n_components", 3, "PCA"), {"label"}, "PCA(n_components=3)"),
        (Setting("text"), {"text"}, "--text"),
        (Setting("autosomes", None), {"autosomes"}, "--autosomes all"),
        (Setting("picture_shape", (2, 3)), {"picture"}, "--picture 2x3"),
        (Setting("picture_shape", (2, 3)), {"set"}, "--set picture_shape=2,3"),
        (Setting("training", False), {"set"}, "--set training=false"),
        (Setting("top"), {"set"}, "--set top"),
    ],
)
def test_a_setting_is_typed_as_the_verb_takes_it(setting, known, said):
    assert in_words(BadInput("x ", setting, "."), known) == f"x {said}."


def test_what_was_needed_is_said_without_quotation_marks():
    error = BadParameter.of("PCA", "kind", "x", "'a' or 'b', or None").said_of("wine.csv")
    assert in_words(error, {"kind"}) == "wine.csv: --kind x: it must be a or b."
    assert str(error) == "wine.csv: PCA(kind='x'): kind must be 'a' or 'b', or None."


def test_words_are_of_their_audience():
    error = MissingValues.found({"a": 1}, {}, 3)
    assert "ProbabilisticPCA" in str(error)
    assert "use --model ppca" in in_words(error)
    other = error.advising(Words("ask Python", ("ask ", Setting("kind", "x"))))
    assert str(other).endswith("finite: ask Python.")
    assert in_words(other, {"kind"}).endswith("finite: ask --kind x.")
    assert in_words(RankWarning("few", Words(" (in Python)"), ".")) == "few."


def test_every_error_and_warning_takes_pieces():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.Told)]
    own = {errors.FarFromData, errors.UnseenRows, errors.TableNote, errors.TableHint, errors.TotalRow}
    # these are told numbers, or a column first
    assert len(kinds) > 20
    for kind in set(kinds) - own:
        assert str(kind("a ", Setting("b", 1), ".")) == "a b=1."


def test_a_pipe_is_called_as_its_user_does(run, monkeypatch):
    piped = io.BytesIO()
    np.savez(piped, a=np.eye(3), b=np.eye(3))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped.getvalue())))
    ended = run("fit", "-")
    assert ended.err == "error: standard input: holds 2 arrays, a and b; say which to read, as in --table a.\n"


def test_the_rest_of_what_the_prompt_says_otherwise(run, wine):
    """Sentences that the tests of verbs do not meet."""
    rng = np.random.default_rng(0)
    rows = "".join(f"{','.join(f'{x:.3f}' for x in row)},one\n" for row in rng.normal(size=(12, 9)))
    (wine / "nine.csv").write_text("a,b,c,d,e,f,g,h,i,who\n" + rows)
    (wine / "letters").mkdir()
    (wine / "letters" / "one.txt").write_text("cats and dogs")
    assert run("fit", "nine.csv", "--keep", 2, "--save", "nine.lowdim", "-q").code == 0
    for words, said in [
        ("plot nine.csv traversal -o x.png", "add --set picture_shape=3,3, or with ,3 for colours."),
        (
            "recognise nine.csv nine.csv --label who --reject 5%",
            "error: nine.csv: the gallery has one identity, and none is left to be a stranger to it: give two or "
            "more, or --max-distance in place of --reject.",
        ),
        ("topics letters --keep 2 --text body", "has no fields; leave --text body out."),
        (
            "table nine.lowdim supplementary nine.csv",
            "needs data, and columns of them that took no part in the fit: --ex",
        ),
    ]:
        ended = run(*words.split())
        assert said in ended.err, ended.err


def test_limits_that_need_more_than_was_found_say_what_to_add(run, wine):
    """Lanczos finds the first variances alone, where neither side of the table is small."""
    np.save(wine / "wide.npy", np.random.default_rng(0).normal(size=(2000, 1200)))
    assert run("fit", "wide.npy", "--keep", 2, "--save", "wide.lowdim", "-q").code == 0
    for setting, said in [
        (
            "q_law=box",
            "--set q_law=box needs all variances, but this fit has found the first 2 alone: name the rows of ",
        ),
        ("training=false", "or its rows: name the rows of the fit as the data, without --set training=false."),
    ]:
        ended = run("table", "wide.lowdim", "limits", "wide.npy", "--set", setting)
        assert (ended.code, said in ended.err) == (3, True), ended.err


def test_errors_of_data_speak_the_prompt_s_words(run, wine):
    np.save("one.npy", np.arange(5.0))
    np.save("none.npy", np.zeros((0, 3)))
    np.save("row.npy", np.arange(1.0, 6).reshape(1, 5))
    python = re.compile(r"\bX\b|reshape|iter\(|n_samples|n_features|ddof|=['\"]|None|axis=|sample\(s\)")
    for words, said in [
        ("fit one.npy", "one.npy: an array of 5 numbers, but rows × columns are needed"),
        ("fit none.npy", "none.npy: has shape (0, 3), but at least one row and one column are needed"),
        ("fit row.npy", "There is only one row, and one point has no directions of variance"),
        ("fit row.npy --model kernel", "There is only one row, and one point has no directions"),
        ("fit row.npy --model ppca", "is too small (1 row, 5 columns)"),
        ("fit row.npy --model logistic --family poisson", "There is only one row, which its own bias tells"),
        ("fit wine.csv --model logistic --drop kind", "use --family poisson for counts, or --family gaussian"),
        ("fit wine.csv --memory lots", "--memory lots: it must be a number of bytes, or a text such as 512MB"),
    ]:
        ended = run(*words.split())
        assert said in ended.err, ended.err
        assert ended.code in (2, 3)
        assert not python.search(ended.err), ended.err


def test_a_query_of_an_unknown_table_names_those_there_are(run, wine):
    pytest.importorskip("duckdb")
    ended = run("fit", "wine.csv", "--sql", "select * from wine")
    assert ended.code == 2
    assert ended.err == "error: sql over wine.csv: there is no table wine; the table is called data.\n"
    columns = run("fit", "wine.csv", "--columns", "")
    assert (columns.code, "--columns '' names no column" in columns.err) == (3, True)


def test_infinite_values_are_counted_apart_and_the_advice_works(run, wine):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    table.loc[3, "a"], table.loc[5, "c"], table.loc[7, "d"] = np.inf, -np.inf, np.nan
    table.to_csv("small.csv", index=False)
    table.to_parquet("small.parquet")
    pd.concat([table] * 300).to_csv("large.csv", index=False)  # beyond the sample of the first lines
    for name in ("small.csv", "small.parquet", "large.csv"):
        times = 300 if name == "large.csv" else 1
        refused = run("impute", name, "-o", "filled.csv")
        assert refused.code == 3
        assert f"{2 * times} values are infinite (inf) (a: {times}, c: {times})" in refused.err
        assert "--missing inf,-inf reads infinite values as missing, which lowdim impute" in refused.err
        found = run("info", name)
        assert f"missing   {times} of" in found.out
        assert f"infinite  {2 * times} of" in found.out
        columns = {
            one["name"]: (one["missing"], one["infinite"]) for one in run("info", name, "--json").json["columns"]
        }
        assert columns == {"a": (0, times), "b": (0, 0), "c": (0, times), "d": (times, 0)}
        step = next(line for line in found.out.splitlines() if "lowdim impute" in line).partition("#")[0]
        filled = run(*shlex.split(step)[1:])
        assert filled.code == 0, filled.err
        assert np.isfinite(pd.read_csv("filled.csv").to_numpy()).all()
        (wine / "filled.csv").unlink()
        with pytest.warns(TableNote, match="read as missing: 'inf'"):
            rows = np.vstack([block.rows for block in lowdim.open(name, missing=["inf"]).blocks()])
        assert np.isneginf(rows).sum() == times  # those were not named


def test_infinite_values_of_an_array_are_no_matter_of_reading(run, wine):
    np.save("x.npy", np.where(np.eye(5) > 0, np.inf, 1.0))
    ended = run("fit", "x.npy")
    assert ended.code == 3
    assert "--missing" not in ended.err
    assert ended.err.rstrip().endswith("write infinite values as missing ones (NaN).")
