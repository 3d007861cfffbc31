"""Every bad file ends in the documented exit code, with at most three lines that name it, and without a traceback."""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowdim
from badfiles import BAD, UNFIT
from lowdim.cli.main import VERBS
from sources.test_arrays_on_disk import BAD as ARRAYS

ENDS = {**dict.fromkeys([*BAD, *UNFIT, *ARRAYS], 3)}
"""Name of a bad table → exit code of `lowdim fit`."""

TABLES = {**BAD, **UNFIT, **ARRAYS}


def written(table: tuple[str, Callable[[Path], Any]], folder: Path) -> Path:
    filename, write = table
    write(folder / filename)
    return folder / filename


def assert_said(ended: Any, code: int, name: str) -> None:
    assert ended.code == code, ended.err
    assert ended.out == ""
    lines = ended.err.splitlines()
    assert 1 <= len(lines) <= 3
    assert lines[0].startswith("error: ")
    assert name in ended.err
    assert "Traceback" not in ended.err
    assert "unexpected" not in ended.err


def test_there_are_at_least_sixty():
    assert len(TABLES) >= 60


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", TABLES)
def test_bad_tables(name, run, tmp_path, tally):
    path = written(TABLES[name], tmp_path)
    tally(4, 1, "bad files")
    assert_said(run("fit", path, "--keep", "1"), ENDS[name], path.name)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("verb", [(), ("info",), ("choose",), ("explain",)])
@pytest.mark.parametrize("name", ["empty csv", "half a parquet", "not there", "npz bomb", "all text"])
def test_other_verbs_say_the_same(verb, name, run, tmp_path):
    path = written(TABLES[name], tmp_path)
    assert_said(run(*verb, path), 3, path.name)


LINES: dict[str, list[str]] = {
    "describe": ["{file}"],
    "fit": ["fit", "{file}", "--keep", "1", "--save", "out.lowdim"],
    "transform": ["transform", "m.lowdim", "{file}", "-o", "out.csv"],
    "inverse": ["inverse", "m.lowdim", "{file}", "-o", "out.csv"],
    "impute": ["impute", "{file}", "-o", "out.csv"],
    "denoise": ["denoise", "{file}", "-o", "out.png"],
    "inpaint": ["inpaint", "{file}", "-o", "out.png"],
    "topics": ["topics", "{file}", "-o", "out.csv"],
    "regress": ["regress", "{file}", "--target", "a"],
    "predict": ["predict", "r.lowdim", "{file}", "-o", "out.csv"],
    "map": ["map", "{file}", "{file}"],
    "choose": ["choose", "{file}"],
    "compare": ["compare", "{file}"],
    "table": ["table", "m.lowdim", "rows", "{file}"],
    "plot": ["plot", "m.lowdim", "scores", "{file}", "-o", "out.png"],
    "redundant": ["redundant", "{file}"],
    "uncertainty": ["uncertainty", "m.lowdim", "{file}", "--resamples", "5"],
    "recognise": ["recognise", "{file}"],
    "report": ["report", "m.lowdim", "{file}", "-o", "out.html"],
    "info": ["info", "{file}"],
    "explain": ["explain", "{file}"],
    "convert": ["convert", "{file}", "-o", "out.parquet"],
    "export": ["export", "{file}", "-o", "out.onnx"],
    "datasets": ["datasets", "{file}", "-o", "out.csv"],
}
"""Every verb, given a bad file where it takes data."""

ENDED = {0, 2, 3, 4, 6}
"""Exit codes that docs/command-line.md states for what files hold: 0, as some verbs take what a fit does not."""


def test_every_verb_is_tried():
    assert set(LINES) == set(VERBS)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", LINES)
def test_every_verb_ends_in_words_on_every_bad_file(verb, run, tmp_path, monkeypatch, tally):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).standard_normal((20, 4))
    lowdim.PCA(2).fit(rows).save("m.lowdim")
    lowdim.PCRegression(1, cv=None).fit(rows, rows[:, 0]).save("r.lowdim")
    wrong = []
    for number, (name, table) in enumerate({**TABLES, **MODELS}.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = written(table, folder)
        before = path.read_bytes() if path.is_file() else None
        ended = run(*(word.format(file=path) for word in LINES[verb]))
        said = ended.err.splitlines()
        fine = ended.code in ENDED and "Traceback" not in ended.err and "unexpected" not in ended.err
        if not fine or (ended.code and not any(line.startswith("error: ") for line in said)):
            wrong.append(f"{name}: {ended.code} {ended.err[:200]!r}")
        if before is not None and path.read_bytes() != before:
            wrong.append(f"{name}: was changed")
        for left in tmp_path.glob("out.*"):
            left.unlink()
    tally(4, len(TABLES) + len(MODELS), "bad files × verbs")
    assert not wrong, "\n".join(wrong)


def model_file(path: Path) -> None:
    lowdim.PCA(2).fit(np.random.default_rng(0).standard_normal((20, 4))).save(path)


def cut(path: Path, share: float) -> None:
    model_file(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def changed(path: Path) -> None:
    model_file(path)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)


MODELS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "empty": ("m.lowdim", lambda path: path.write_bytes(b"")),
    "text": ("m.lowdim", lambda path: path.write_text("a,b\n1,2\n")),
    "half": ("m.lowdim", lambda path: cut(path, 0.5)),
    "one byte changed": ("m.lowdim", changed),
    "not there": ("m.lowdim", lambda path: None),
    "a folder": ("m.lowdim", lambda path: path.mkdir()),
    "zeros": ("m.lowdim", lambda path: path.write_bytes(bytes(100))),
    "a pickle": ("m.pkl", lambda path: path.write_bytes(b"\x80\x04K*.")),
    "joblib": ("m.joblib", lambda path: path.write_bytes(b"\x80\x04K*.")),
    "safetensors by others": ("m.lowdim", lambda path: path.write_bytes((2).to_bytes(8, "little") + b"{}")),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", MODELS)
def test_bad_models(name, run, tmp_path):
    path = written(MODELS[name], tmp_path)
    (tmp_path / "t.csv").write_text("x0,x1,x2,x3\n1,2,3,4\n")
    for argv in (["transform", path, tmp_path / "t.csv"], ["inverse", path, tmp_path / "t.csv"]):
        assert_said(run(*argv), 4, path.name)


@pytest.mark.parametrize("verb", ["convert", "fit", "info"])
def test_pickles_are_never_opened(verb, run, tmp_path, monkeypatch):
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04K*.")
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("a pickle was opened"))
    monkeypatch.setattr(pickle, "load", lambda *_: pytest.fail("a pickle was opened"))
    ended = run(verb, path)
    assert_said(ended, 3, "model.pkl")
    assert "lowdim.convert(model).save('model.lowdim')" in ended.err


def test_bad_rows_are_named_with_their_column(run, wine):
    assert run("fit", "wine.csv", "--save", "wine.lowdim", "-q").code == 0
    text = (wine / "wine.csv").read_text().splitlines()
    cells = text[7].split(",")
    text[7] = ",".join([*cells[:2], "", *cells[3:]])
    (wine / "hole.csv").write_text("\n".join(text) + "\n")
    ended = run("transform", "wine.lowdim", "hole.csv", "-o", "scores.csv")
    assert_said(ended, 3, "hole.csv")
    assert "row 7" in ended.err
    assert "'ash'" in ended.err
    assert not (wine / "scores.csv").exists()


def test_columns_with_holes_are_counted_by_name(run, wine):
    (wine / "t.csv").write_text("a,b\n1,2\n,3\n,5\n1,\n")
    ended = run("fit", "t.csv")
    assert_said(ended, 3, "t.csv")
    assert "a: 2, b: 1" in ended.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    path.chmod(0)
    assert_said(run("fit", path), 3, "t.csv")


def test_a_full_disk_is_a_limit(run, wine, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "wine.lowdim")

    monkeypatch.setattr(os, "fsync", full)
    assert_said(run("fit", "wine.csv", "--save", "wine.lowdim", "-q"), 6, "wine.lowdim")
    assert not (wine / "wine.lowdim").exists()
