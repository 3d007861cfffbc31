"""Workbooks hold every number to its last digit, texts as texts, and are read by other programs."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from openpyxl.utils.escape import unescape

from lowdim.errors import BadInput
from lowdim.views.files import workbooks
from lowdim.views.files.tables import USUAL, Form, open_table
from views.files.test_tables import DANGEROUS, HARMLESS

RNG = np.random.default_rng(0)


def written(path: Path, *batches: dict[str, Any], form: Form = USUAL) -> Path:
    with open_table(path, list(batches[0]), form) as table:
        for one in batches:
            table.write(one)
    return path


def cells(path: Path) -> list[tuple[Any, ...]]:
    book = openpyxl.load_workbook(path)
    assert len(book.sheetnames) == 1
    return [tuple(row) for row in book.active.iter_rows()]


def test_another_program_reads_every_digit(tmp_path: Path) -> None:
    finite = RNG.integers(0, 2**64, 5000, dtype=np.uint64).view(np.float64)
    finite = finite[np.isfinite(finite)]
    rows = cells(written(tmp_path / "t.xlsx", {"a": finite[:2000]}, {"a": finite[2000:]}))
    assert [row[0].value for row in rows] == ["a", *finite.tolist()]


def test_texts_are_texts_whatever_they_begin_with(tmp_path: Path) -> None:
    texts = [
        *DANGEROUS,
        *HARMLESS,
        "http://example.org",
        "007",
        "1e5",
        "TRUE",
        "_x0041_",
        "a\x01b",
        " a ",
        "<&>\"'",
        "]]>",
    ]
    path = written(tmp_path / "t.xlsx", {"=name": texts, "b": np.arange(len(texts))})
    header, *rows = cells(path)
    assert header[0].value == "=name"
    assert {row[0].data_type for row in rows if row[0].value is not None} <= {"s", "inlineStr"}
    # letters that XML has not are written by their numbers, which openpyxl leaves so
    assert [unescape(row[0].value or "") for row in rows] == texts


def test_numbers_flags_and_days_are_what_they_are(tmp_path: Path) -> None:
    columns = {
        "whole": np.ma.MaskedArray(np.array([59, 0, 2**53 + 1]), [False, True, False]),
        "real": np.array([1.5, np.nan, np.inf]),
        "flag": pa.array([True, None, False]),
        "day": pa.array([datetime.date(2026, 1, 2), None, datetime.date(1850, 1, 1)]),
        "moment": np.array(["2026-01-02T03:04:05", "NaT", "1900-03-01"], dtype="M8[s]"),
    }
    path = written(tmp_path / "t.xlsx", columns)
    found = [[cell.value for cell in row] for row in cells(path)[1:]]
    assert found[0] == [59, 1.5, True, datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5)]
    assert found[1] == [None] * 5
    # a sheet would round the first, has no word for the second, and counts days from 1900 alone
    assert found[2] == [str(2**53 + 1), "inf", False, "1850-01-01", datetime.datetime(1900, 3, 1)]
    assert isinstance(found[0][0], int)


def test_every_cell_says_where_it_is(tmp_path: Path) -> None:
    names = [f"c{j}" for j in range(800)]  # beyond ZZ
    path = written(tmp_path / "t.xlsx", {name: np.array([float(j), np.nan]) for j, name in enumerate(names)})
    _, first, *rest = cells(path)
    assert [cell.coordinate for cell in first] == [f"{openpyxl.utils.get_column_letter(j + 1)}2" for j in range(800)]
    assert [cell.value for cell in first] == list(map(float, range(800)))
    assert not rest or all(cell.value is None for cell in rest[0])


def test_every_part_is_xml_that_the_package_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path / "t.xlsx", {"a": [1.0], "b": ["x"]})) as archive:
        parts = {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}
        times = {entry.date_time for entry in archive.infolist()}
    named = {one.get("PartName", "").lstrip("/") for one in parts["[Content_Types].xml"]}
    assert named - {""} == {name for name in parts if not name.endswith((".rels", "].xml"))}
    assert times == {(1980, 1, 1, 0, 0, 0)}  # so that the same table gives the same bytes


def test_more_than_a_sheet_holds_is_refused_before_any_work(tmp_path: Path) -> None:
    for names, rows in ((["a"], 2**20), ([f"c{j}" for j in range(2**14 + 1)], None)):
        with (
            pytest.raises(BadInput, match="has room for 1,048,575 rows below their header and 16,384 columns, but"),
            open_table(tmp_path / "t.xlsx", names, Form(n_rows=rows)),
        ):
            raise AssertionError("work was begun")
    assert not list(tmp_path.iterdir())


def test_rows_that_nobody_counted_are_refused_when_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_ROWS", 100)
    written(tmp_path / "t.xlsx", {"a": np.zeros(99)})
    with pytest.raises(BadInput, match="but there are 100 × 1"):
        written(tmp_path / "u.xlsx", {"a": np.zeros(99)}, {"a": np.zeros(1)})
    assert [one.name for one in tmp_path.iterdir()] == ["t.xlsx"]


def test_a_text_longer_than_a_cell_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "t.xlsx", {"a": ["x" * 32_767]})
    with pytest.raises(
        BadInput, match="a text in column 'a' has 32,768 letters, but a cell of a sheet has room for 32,767"
    ):
        written(tmp_path / "u.xlsx", {"a": ["x" * 32_768]})
