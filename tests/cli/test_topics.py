"""`lowdim topics` from folders and files: what it prints, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

PETS = ["The cat chased the mouse.", "A mouse fears every cat.", "My cat caught a mouse!", "Mouse, cat, mouse."]
TRADE = ["Banks lend money.", "The banks want money back.", "Money rests in banks.", "=Money, banks, banks and money."]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of eight texts of two kinds, and the same as JSON lines beside it."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for kind, texts in (("pets", PETS), ("trade", TRADE)):
        (tmp_path / "letters" / kind).mkdir(parents=True)
        for i, text in enumerate(texts):
            (tmp_path / "letters" / kind / f"{i}.txt").write_text(text)
            rows.append({"body": text, "title": f"={i}", "desk": kind})
    Path("news.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_a_folder_is_read_to_a_screen(run: Callable[..., Any], folder: Path) -> None:
    said = run("topics", "letters", "--keep", 2, "--starts", 2)
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0] == "letters: 8 texts, 2 topics"
    assert max(map(len, lines)) <= 80
    assert any(
        line.startswith("    1") and line.split()[-2:] in (["banks", "money"], ["money", "banks"]) for line in lines
    )
    assert any(line.split() == ["pets", ".", "4"] for line in lines)  # the second topic has all of them
    assert "lowdim topics letters --keep 2 --starts 2 --compare" in said.out
    assert said.err == ""


def test_json_and_tables_say_the_same(run: Callable[..., Any], folder: Path) -> None:
    given = ("topics", "news.jsonl", "-k", 2, "--text", "body", "--label", "desk", "--starts", 2)
    said = run(*given, "--json", "-o", "shares.csv", "--words", "words.jsonl")
    assert said.code == 0, said.err
    facts = said.json
    assert facts["command"] == "topics"
    assert facts["written"] == ["shares.csv", "words.jsonl"]
    assert [one["documents"] for one in facts["topics"]] == [4, 4]
    assert facts["scores"][0]["agreement"] == pytest.approx(1.0)
    assert facts["classes"] == [
        {"class": "pets", "topic1": 0, "topic2": 4},
        {"class": "trade", "topic1": 4, "topic2": 0},
    ]
    shares = pd.read_csv("shares.csv")
    np.testing.assert_allclose(shares[["topic1", "topic2"]].sum(axis=1), 1)
    assert shares["class"].tolist() == ["pets"] * 4 + ["trade"] * 4
    assert shares["main"].tolist() == [2] * 4 + [1] * 4
    words = pd.read_json("words.jsonl", lines=True)
    first = words[(words.topic == 1) & (words.rank_by_weight == 1)].iloc[0]
    assert {"word": first.word, "share": first.share} == pytest.approx(facts["topics"][0]["by_weight"][0])


def test_lda_beside_and_own_stop_words(run: Callable[..., Any], folder: Path) -> None:
    Path("stop.txt").write_text("cat\nmoney\n")
    said = run("topics", "letters", "--keep", 2, "--starts", 1, "--compare", "--stop-words", "stop.txt", "--max-df", 1)
    assert said.code == 0, said.err
    assert "scikit-learn LDA" in said.out
    assert "scikit-learn LDA: one start, 50 passes" in said.out  # which is not how lowdim's own was run
    assert "lowdim KL-NMF: one start, up to 500 steps" in said.out
    assert "coherence here is that of 2 words a topic: some have no more" in said.out
    assert "stop words left out: 2 given" in said.out
    assert not {"cat", "money"} & set(said.out.split())


def test_what_comes_next_keeps_what_was_asked(run: Callable[..., Any], folder: Path) -> None:
    asked = ["--loss", "frobenius", "--max-df", "1.0", "--starts", "1", "--held-out", "20%", "--seed", "3"]
    said = run("topics", "letters", "--keep", 2, *asked)
    assert said.code == 0, said.err
    joined = " ".join(said.out.replace("\\\n", " ").split())
    assert f"lowdim topics letters --keep 2 {' '.join(asked)} --compare" in joined


def test_shares_to_standard_output(run: Callable[..., Any], folder: Path) -> None:
    said = run("topics", "letters", "--keep", 2, "--starts", 1, "-o", "-")
    assert said.out.startswith("name,class,words,main,topic1,topic2\npets/0,pets,2,")
    assert "letters: 8 texts, 2 topics" in said.err
    assert run("topics", "letters", "--keep", 2, "-q").out == ""


def test_empty_texts_are_named(run: Callable[..., Any], folder: Path) -> None:
    (folder / "letters" / "pets" / "none.txt").write_text("")
    said = run("topics", "letters", "--keep", 2, "--starts", 1)
    assert said.code == 0
    assert "warning: 1 of 9 texts have no words that are counted (pets/none)" in said.err
    assert "texts     1 without counted words" in said.out


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["letters"], 2, "say how many topics there should be, as in lowdim topics letters --keep 10"),
        (["letters", "--keep", 9], 2, "letters: 8 texts cannot tell 9 topics apart"),
        (["letters", "--keep", 0], 2, "--keep 0: it must be a whole number from 1"),
        (["letters", "--keep", 2, "--loss", "l1"], 2, "--loss l1: it must be kl or frobenius"),
        (["letters", "--keep", 2, "--held-out", 1], 2, "--held-out 1.0: it must be a share"),
        (["letters", "--keep", 2, "--held-out", "some"], 2, "--held-out some: a share of the texts such as 10%"),
        (["letters", "--keep", 2, "--seed", -1], 2, "--seed -1: it must be a whole number from 0 to 4,294,967,295"),
        (["letters", "--keep", 2, "--seed", 2**40], 2, "--seed 1099511627776: it must be a whole number"),
        (
            ["letters", "--keep", 2, "-o", "a.csv", "--words", "./a.csv"],
            2,
            "-o and --words would write over each other",
        ),
        (["letters", "--keep", 2, "-o", "-", "--words", "-"], 2, "cannot both go to standard output"),
        (["letters", "--keep", 2, "-o", "stop.csv", "--stop-words", "stop.csv"], 2, "written over what is read"),
        (["letters", "--keep", 2, "--words", "stop.csv", "--stop-words", "stop.csv"], 2, "written over what is read"),
        (["letters", "--keep", 2, "--min-df", 8], 3, "lower --min-df, raise --max-df"),
        (["letters", "--keep", 2, "--text", "a"], 2, "leave --text a out"),
        (["lettres", "--keep", 2], 3, "did you mean letters?"),
        (
            ["news.jsonl", "--keep", 2],
            2,
            "say which field holds the texts with --text; those of text: 'body', 'title'",
        ),
        (
            ["news.jsonl", "--keep", 2, "--text", "boddy"],
            2,
            "did you mean 'body'? The fields are 'body', 'title', 'desk'",
        ),
        (["letters", "--keep", 2, "--stop-words", "nowhere.txt"], 3, "nowhere.txt: no such file"),
        (["letters", "--keep", 2, "--json", "-o", "-"], 2, "cannot both go to standard output"),
        (["letters", "--keep", 2, "-o", "x.odt"], 2, "tables ending in .odt are not written"),
    ],
)
def test_mistakes_are_explained(
    run: Callable[..., Any], folder: Path, given: list[object], code: int, words: str
) -> None:
    Path("stop.csv").write_text("cat\n")
    said = run("topics", *given)
    assert said.code == code, said.err
    assert Path("stop.csv").read_text() == "cat\n"
    assert words in said.err
    assert said.err.count("\n") == 1
