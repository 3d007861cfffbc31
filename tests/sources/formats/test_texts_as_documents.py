"""Documents are read as they stand: folders with their classes, fields of tables, and errors that name the fields."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lowdim.errors import BadFile, BadParameter
from lowdim.sources.formats.texts import class_of, read_documents

ROWS = [{"text": "cat mouse", "desk": "pets", "year": 2001}, {"text": None, "desk": "trade", "year": 2002}]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    data = "\n".join(map(json.dumps, rows)).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_a_folder(tmp_path: Path) -> None:
    for name, data in {
        "pets/b": b"dog",
        "pets/a": "Größe".encode("cp1252"),
        "trade/c": "naïve".encode("utf-16"),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.txt").write_bytes(data)
    found = read_documents(tmp_path)
    assert found.texts == ("Größe", "dog", "naïve")
    assert found.names == ("pets/a", "pets/b", "trade/c")
    assert found.labels == ("pets", "pets", "trade")
    assert read_documents(tmp_path / "pets").labels is None  # one folder tells nothing apart
    with pytest.raises(BadParameter, match="a folder of texts has no fields"):
        read_documents(tmp_path, "text")
    with pytest.raises(BadParameter, match="no column 'desk' is kept aside"):
        read_documents(tmp_path, label="desk")


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_json_lines(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, ROWS)
    found = read_documents(path, label="desk")
    assert found.texts == ("cat mouse", "")
    assert found.labels == ("pets", "trade")
    assert found.names == ("1", "2")
    assert read_documents(path, label="year").labels == ("2001", "2002")
    assert read_documents(path, "desk", "desk").texts == ("pets", "trade")
    assert read_documents(path).labels is None


def test_missing_classes_are_none(tmp_path: Path) -> None:
    rows = [{"text": "a", "desk": "pets", "year": 2001}, {"text": "b", "desk": None, "year": None}, {"text": "c"}]
    path = write(tmp_path / "t.jsonl", rows)
    assert read_documents(path, label="desk").labels == ("pets", None, None)
    assert read_documents(path, label="year").labels == ("2001", None, None)
    (tmp_path / "t.csv").write_text("text,desk\na,pets\nb,\n")
    assert read_documents(tmp_path / "t.csv", label="desk").labels == ("pets", None)
    given = ["a", 1.0, 2, None, float("nan"), np.nan, pd.NA, pd.NaT, ""]
    assert [class_of(value) for value in given] == ["a", "1", "2", None, None, None, None, None, ""]


def test_a_class_is_the_path_below_the_root(tmp_path: Path) -> None:
    for name in ("pets/old/a", "trade/old/b", "trade/c", "d"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.txt").write_text("text")
    found = read_documents(tmp_path)
    assert dict(zip(found.names, found.labels or (), strict=True)) == {
        "pets/old/a": "pets/old",
        "trade/old/b": "trade/old",
        "trade/c": "trade",
        "d": tmp_path.name,
    }


def test_other_tables(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('id,body\n1,"cat, mouse"\n2,dog\n')
    assert read_documents(tmp_path / "t.csv").texts == ("cat, mouse", "dog")  # its only field of text


def test_errors_name_the_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ROWS)
    with pytest.raises(
        BadParameter, match=r"no field 'txt'; did you mean 'text'\? The fields are 'text', 'desk', 'year'"
    ):
        read_documents(path, "txt")
    with pytest.raises(BadParameter, match="no field 'zzz'; there are 'text', 'desk', 'year'"):
        read_documents(path, label="zzz")
    with pytest.raises(BadParameter, match="the field 'year' holds no texts; those that do: 'text', 'desk'"):
        read_documents(path, "year")
    two = write(tmp_path / "two.jsonl", [{"a": "x", "b": "y"}])
    with pytest.raises(BadParameter, match="say which field holds the texts with text; those of text: 'a', 'b'"):
        read_documents(two)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
@pytest.mark.parametrize("before", [1, 5000])  # in the first block that Arrow parses, and in a later one
def test_a_broken_line_is_found(name: str, before: int, tmp_path: Path) -> None:
    data = (json.dumps({"text": "cat " * 100}) + "\n").encode() * before + b'\n{"text": broken}\n{"text": "mouse"}\n'
    (tmp_path / name).write_bytes(gzip.compress(data, 1) if name.endswith("gz") else data)
    with pytest.raises(
        BadFile, match=rf"line {before + 2:,} is not JSON \(expecting value at character 10\)"
    ):  # an empty line is one
        read_documents(tmp_path / name)


def test_files_that_hold_no_texts(tmp_path: Path) -> None:
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"text": "Größe"}\n'.encode("cp1252"))
    with pytest.raises(BadFile, match=r"latin\.jsonl: .*not UTF-8"):
        read_documents(latin)
    (tmp_path / "one.txt").write_text("Once upon a time\nthere was a cat.\n")
    with pytest.raises(BadFile, match="taken for one text, but many are needed: name a folder"):
        read_documents(tmp_path / "one.txt")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(BadFile, match="holds no texts"):
        read_documents(tmp_path / "x.npy")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match="a folder without"):
        read_documents(tmp_path / "empty")
