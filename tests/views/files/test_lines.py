"""Lines made by Arrow are those of plain Python to the byte, and every number in them reads back as it was."""

from __future__ import annotations

import datetime
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lowdim
from lowdim.errors import BadParameter
from lowdim.views.files import line_writers
from lowdim.views.files.columns import as_numpy
from lowdim.views.files.spelling import plain_digits
from lowdim.views.files.tables import Form, open_table

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2**64, 20_000, dtype=np.uint64)
DOUBLES = np.concatenate(
    [
        BITS.view(np.float64),  # every size of number, NaN with every payload
        10.0 ** RNG.uniform(-9, 18, 20_000) * RNG.choice([-1, 1], 20_000),  # where exponents begin and end
        np.rint(10.0 ** RNG.uniform(0, 17, 20_000)),
        [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 1e15, 1e16, 1e-6],
        np.nextafter(10.0 ** np.arange(-8, 19), 0),
        10.0 ** np.arange(-8, 19),
    ]
)
with np.errstate(all="ignore"):
    SINGLES = np.concatenate([BITS.astype(np.uint32).view(np.float32), DOUBLES.astype(np.float32)])
TEXTS = [
    "a",
    "b, c",
    "d;e",
    "f|g",
    'say "h"',
    "i\r\nj",
    "",
    "=1",
    " @x",
    "'=",
    "tab\t",
    "<b>",
    "*k*",
    "\\",
    "日本",
    "\x00",
    "\x1f",
]


def written(columns: dict[str, Any], form: Form) -> bytes:
    out = io.BytesIO()
    with open_table("-", list(columns), form, stream=out) as table:
        table.write(columns)
    return out.getvalue()


@contextmanager
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(line_writers, "_load_arrow", lambda batch, rows: None)
        yield


def columns_of_everything() -> dict[str, Any]:
    texts = TEXTS * 200
    n = len(texts)
    days = [datetime.date(1850, 1, 1) + datetime.timedelta(int(one)) for one in RNG.integers(0, 90_000, n)]
    moments = [datetime.datetime(2026, 1, 2, 3, 4, 5, int(one)) for one in RNG.choice([0, 500_000, 123_456], n)]
    gone = RNG.random(n) < 0.1
    return {
        "double": pa.array(np.where(np.isinf(DOUBLES), 0, DOUBLES)[:n]),
        "single": pa.array(np.where(np.isinf(SINGLES), 0, SINGLES)[:n], mask=gone),
        "long": pa.array(RNG.integers(-(2**63), 2**63, n), mask=gone),
        "byte": pa.array(RNG.integers(0, 256, n).astype(np.uint8)),
        "flag": pa.array(RNG.random(n) < 0.5, mask=gone),
        "day": pa.array(days, mask=gone),
        "moment": pa.array(moments, pa.timestamp("us")),
        "late": pa.array(moments, pa.timestamp("ms")),
        "abroad": pa.array(moments, pa.timestamp("us", "Europe/Berlin")),
        "time": pa.array([one.time() for one in moments]),
        "price": pa.array([Decimal(int(one)) / 100 for one in RNG.integers(-999, 999, n)], pa.decimal128(10, 2)),
        "text": pa.array(texts, mask=gone),
        "large": pa.array(texts, pa.large_string()),
        "code": pa.array(texts).dictionary_encode(),
        "none": pa.nulls(n),
    }


@pytest.mark.parametrize(
    "form",
    [
        Form("csv"),
        Form("csv", raw=True),
        Form("csv", separator=";", decimal=","),
        Form("csv", separator="^"),
        Form("tsv", decimal=","),
        Form("md"),
        Form("jsonl"),
    ],
)
def test_arrow_and_python_write_the_same_bytes(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = columns_of_everything()
    fast = written(columns, form)
    with plain(monkeypatch):
        slow = written({name: as_numpy(column) for name, column in columns.items()}, form)
    assert fast.splitlines() == slow.splitlines()
    assert fast == slow


@pytest.mark.parametrize("form", [Form("csv"), Form("csv", decimal=",")])
def test_every_number_reads_back_to_the_bit(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = written({"double": DOUBLES}, form)
    with plain(monkeypatch):
        assert written({"double": DOUBLES}, form) == fast
    cells = fast.decode().splitlines()[1:]
    found = np.array([np.nan if cell == '""' else float(cell.replace(",", ".")) for cell in cells])
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(found)], np.signbit(DOUBLES)[~np.isnan(DOUBLES)])
    np.testing.assert_array_equal(found, DOUBLES)


def test_every_number_of_single_precision_reads_back_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = written({"single": SINGLES}, Form())
    with plain(monkeypatch):
        assert written({"single": SINGLES}, Form()) == fast
    cells = fast.decode().splitlines()[1:]
    found = np.array([np.nan if cell == '""' else np.float32(cell) for cell in cells], dtype=np.float32)
    np.testing.assert_array_equal(found, SINGLES)


def test_digits_are_the_fewest() -> None:
    for value in DOUBLES[np.isfinite(DOUBLES)].tolist():
        text = plain_digits(repr(value))
        digits = re.sub(r"e.*|[-.]", "", text).strip("0")
        assert digits == re.sub(r"e.*|[-.]", "", repr(value)).strip("0")  # Python's own are known to be the fewest
        assert not text.endswith((".0", "."))


def test_lowdim_reads_what_it_wrote_in_the_marks_of_another_country(tmp_path: Any) -> None:
    finite = DOUBLES[np.isfinite(DOUBLES)][:5000]
    for separator, decimal in ((";", ","), ("|", "."), ("tab", ","), (",", ".")):
        form = Form(separator=separator, decimal=decimal)
        with open_table(tmp_path / "t.csv", ["kind", "a", "b"], form) as table:
            table.write({"kind": ["x", "y;, z"] * (len(finite) // 2), "a": finite, "b": finite[::-1]})
        source = lowdim.open(tmp_path / "t.csv")
        assert source.marks == (form.cut, decimal)
        np.testing.assert_array_equal(np.concatenate([block.rows for block in source.blocks()])[:, 0], finite)


def test_a_lone_column_has_a_line_for_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = np.array(["a", "", None, "b"] * 10_000, dtype=object)
    fast = written({"only": pa.array(texts)}, Form())
    with plain(monkeypatch):
        assert written({"only": texts}, Form()) == fast
    assert fast.splitlines()[1:5] == [b"a", b'""', b'""', b"b"]  # readers skip empty lines


def test_json_is_json_and_has_types() -> None:
    columns = columns_of_everything()
    lines = [json.loads(line) for line in written(columns, Form("jsonl")).decode().split("\n")[:-1]]
    for name in ("long", "byte", "flag", "text", "large"):
        assert [line[name] for line in lines] == columns[name].to_pylist()
    doubles = np.array([np.nan if line["double"] is None else line["double"] for line in lines])
    np.testing.assert_array_equal(doubles, columns["double"].to_numpy())


# Markdown, read as GitHub's specification says (GFM 0.29, 4.10): bars that are not behind a backslash cut cells.


def markdown_cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]
    return [cell.strip() for cell in cells]


def test_a_table_in_markdown_has_its_cells() -> None:
    columns = {"kind|of": ["a|b", "c\nd", None, "<e> *f*"], "value": np.array([0.1, -2.0, np.nan, 1e-7])}
    lines = written(columns, Form("markdown")).decode().splitlines()
    assert lines == [
        r"| kind\|of | value |",
        "| --- | ---: |",
        r"| a\|b | 0.1 |",
        "| c<br>d | -2 |",
        "|  |  |",
        r"| \<e> \*f\* | 1e-7 |",
    ]
    with_everything = written(columns_of_everything(), Form("md")).decode().split("\n")[:-1]
    assert {len(markdown_cells(line)) for line in with_everything} == {len(columns_of_everything())}


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (Form("odt"), "there is no such format; there are csv, tsv, xlsx, markdown"),
        (Form("md"), "ends in .csv, but"),
        (Form(separator="ab"), "one sign is needed"),
        (Form(separator="-"), "one sign is needed"),
        (Form(decimal=";"), "must be a point or a comma"),
        (Form(separator=",", decimal=","), "they must differ"),
    ],
)
def test_forms_that_cannot_be_meant_are_refused(form: Form, said: str, tmp_path: Any) -> None:
    with pytest.raises(BadParameter, match=re.escape(said)), open_table(tmp_path / "t.csv", ["a"], form):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("path", "form"),
    [("t.parquet", Form(decimal=",")), ("t.tsv", Form(separator=";")), ("-", Form("npy")), ("t.md", Form("csv"))],
)
def test_forms_are_refused_where_they_mean_nothing(path: str, form: Form, tmp_path: Any) -> None:
    with pytest.raises(BadParameter), open_table(path if path == "-" else tmp_path / path, ["a"], form):
        pass


def test_a_name_without_an_ending_takes_the_format_that_is_named(tmp_path: Any) -> None:
    with open_table(tmp_path / "notes.txt", ["a"], Form("md")) as table:
        table.write({"a": [1.0]})
    assert (tmp_path / "notes.txt").read_text() == "| a |\n| ---: |\n| 1 |\n"
