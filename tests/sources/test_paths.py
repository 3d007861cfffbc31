"""Paths that are no files, lead nowhere, wait for ever or change: refused in one sentence."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.errors import BadFile, LowdimError
from lowdim.sources.formats import sqlite, stdin
from lowdim.sources.kinds import DEEPEST

FRAME = pd.DataFrame(np.random.default_rng(0).random((9_000, 3)), columns=list("abc"))


def fit(path: Any) -> lowdim.PCA:
    return lowdim.PCA(1).fit(lowdim.open(path))


NOWHERE = {
    "nothing": "",
    "a NUL": "a\0b.csv",
    "a NUL in a pattern": "*\0.csv",
    "a name too long": "x" * 300,
    "a path too long": "x/" * 3_000,
    "a pattern too long": "x*" * 300,
    "an address": "https://example.org/t.csv",
    "a lone surrogate": "\udcff.csv",
}


@pytest.mark.parametrize("name", NOWHERE)
def test_what_no_file_can_be_called_is_refused(name, run, tally):
    for ask in (fit, lowdim.load, lambda text: lowdim.PCA(1).fit(text), lambda text: fit([text, text])):
        with pytest.raises(LowdimError):
            ask(NOWHERE[name])
    if "\0" not in NOWHERE[name]:
        ended = run("fit", NOWHERE[name])
        assert ended.code in (2, 3, 4)
        assert "unexpected" not in ended.err
    tally(4, 4, "paths that lead nowhere")


def test_folders_in_folders_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    monkeypatch.chdir(tmp_path)
    try:
        with pytest.raises(BadFile, match=f"more than {DEEPEST} folders lie in each other"):
            fit("d")
    finally:  # pytest cannot remove what it cannot name
        for _ in range(1_400):
            os.rename("d/d", "e") if os.path.isdir("d/d") else None
            os.rmdir("d")
            os.rename("e", "d") if os.path.isdir("e") else None
            if not os.path.isdir("d"):
                break


def test_links_to_folders_are_not_followed_and_hidden_files_not_read(tmp_path):
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    FRAME.to_parquet(tmp_path / "parts" / "deep" / "one.parquet")
    FRAME.to_parquet(tmp_path / "parts" / ".hidden.parquet")
    (tmp_path / "parts" / "loop").symlink_to(tmp_path / "parts")
    assert lowdim.open(tmp_path / "parts").count_rows() == len(FRAME)


def test_a_pipe_that_nobody_writes_to_is_given_up(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.csv")
    monkeypatch.setattr(stdin, "WAITING", 0.2)
    threads = threading.active_count()
    with pytest.raises(BadFile, match=r"pipe\.csv: a pipe into which nothing was written in 0\.2 seconds"):
        fit(tmp_path / "pipe.csv")
    assert threading.active_count() == threads


def test_a_pipe_whose_writer_takes_its_time_is_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.csv")
    monkeypatch.setattr(stdin, "WAITING", 5)

    def write() -> None:
        with open(tmp_path / "pipe.csv", "w") as pipe:
            pipe.write("a,b\n1,2\n")
            pipe.flush()
            threading.Event().wait(0.2)
            pipe.write("3,5\n7,1\n")

    writer = threading.Thread(target=write)
    writer.start()
    assert fit(tmp_path / "pipe.csv").n_samples_ == 3
    writer.join()


def test_a_view_without_end_is_given_up(tmp_path, monkeypatch):
    path = tmp_path / "t.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE VIEW v AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x AS a FROM t"
    )
    connection.close()
    monkeypatch.setattr(sqlite, "COUNTING", 0.3)
    with pytest.raises(BadFile, match=r"table v: SQLite did not come to the end of its rows in 0\.3 seconds"):
        lowdim.open(path, isolated="never")  # a child has limits of its own


# -- files that change ----------------------------------------------------------------------------------------------

WRITE: dict[str, Callable[[Path, pd.DataFrame], Any]] = {
    "csv": lambda path, frame: frame.to_csv(path, index=False),
    "parquet": lambda path, frame: frame.to_parquet(path),
    "feather": lambda path, frame: frame.to_feather(path),
    "jsonl": lambda path, frame: frame.to_json(path, orient="records", lines=True),
    "npy": lambda path, frame: np.save(path, np.ascontiguousarray(frame)),
}

CHANGES: dict[str, Callable[[Path, Callable[[Path, pd.DataFrame], Any]], Any]] = {
    "cut": lambda path, write: os.truncate(path, path.stat().st_size // 2),
    "longer": lambda path, write: path.open("ab").write(b"1,2,3\n"),
    "other columns": lambda path, write: write(path, FRAME.rename(columns={"a": "z"})),
    "other rows": lambda path, write: write(path, FRAME[:2_000]),
    "texts": lambda path, write: write(path, FRAME.astype(str) + "q"),
    "the same numbers, elsewhere": lambda path, write: write(path.with_name("new." + path.name.split(".")[1]), FRAME),
    "gone": lambda path, write: path.unlink(),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", WRITE)
def test_a_file_that_was_changed_since_it_was_opened_is_refused(kind, tmp_path, tally):
    for what, change in CHANGES.items():
        if kind == "npy" and what == "texts":
            continue
        path = tmp_path / f"t.{kind}"
        WRITE[kind](path, FRAME)
        source = lowdim.open(path)
        change(path, WRITE[kind])
        if what.startswith("the same"):
            os.replace(path.with_name(f"new.{kind}"), path)
        with pytest.raises(BadFile, match=r"open it anew|cannot be read|check the file"):
            pytest.fail(f"{what}: {lowdim.PCA(1).fit(source)}")
    tally(4, len(CHANGES), "files changed after they were opened")


@pytest.mark.parametrize("kind", [kind for kind in WRITE if kind != "npy"])  # of which the old file stays open
def test_a_file_that_is_changed_while_it_is_read_is_refused(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    WRITE[kind](path, FRAME)
    source = lowdim.open(path)
    blocks = source.limited(2**14).blocks()
    next(blocks)
    other = path.with_name(f"other.{kind}")
    WRITE[kind](other, FRAME * 2)
    os.replace(other, path)
    with pytest.raises(BadFile, match="open it anew"):
        list(blocks)


def test_rows_that_are_held_stay_what_they_were(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,5\n7,1\n")
    source = lowdim.open(path)
    path.unlink()
    assert lowdim.PCA(1).fit(source).n_samples_ == 3


# -- headers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [5, 60_000])
def test_a_header_may_break_lines_inside_of_quotes(rows, tmp_path):
    body = "".join(f"r{i},{i}.5,{i % 7}\n" for i in range(rows))
    (tmp_path / "t.csv").write_text('name,"first\n\nline","b, c"\n' + body)
    source = lowdim.open(tmp_path / "t.csv")
    assert source.columns == ("first  line", "b, c") or source.columns == ("first line", "b, c")
    assert fit(tmp_path / "t.csv").n_samples_ == rows


def test_a_text_longer_than_what_is_parsed_at_a_time_is_read(tmp_path):
    lines = "1,2,x\n" * 60_000
    (tmp_path / "t.csv").write_text("a,b,c\n" + lines + '3,4,"' + "y\n" * 1_500_000 + '"\n' + lines)
    assert fit(tmp_path / "t.csv").n_samples_ == 120_001
    record = '{"a": 1, "b": "x"}\n'
    (tmp_path / "t.jsonl").write_text(record * 100_000 + '{"a": 2, "b": "' + "y" * 3_000_000 + '"}\n' + record * 100)
    assert fit(tmp_path / "t.jsonl").n_samples_ == 100_101
