"""Large texts that Arrow reads give what the careful readers give, whatever is in them and wherever it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lowdim.errors import BadFile
from lowdim.sources.formats import arrow, json_tables, text_tables
from lowdim.sources.formats.text_tables import open_text_table
from lowdim.sources.tables.layout import Lines
from lowdim.sources.tables.table import TableReader
from lowdim.sources.tables.text_columns import TextColumnsReader

RNG = np.random.default_rng(0)
N = 30_000  # 1 to 3 MB: beyond the sample, and more than one block of Arrow's


def columns_of(reader: TableReader, rows: int = 7_000) -> tuple[dict[str, list[Any]], list[str]]:
    read = TextColumnsReader(reader)
    names = [column.name for column in read.columns]
    found: dict[str, list[Any]] = {name: [] for name in names}
    for batch in read.batches(names, rows):
        for name in names:
            found[name] += [None if one is None or one != one else one for one in batch[name].tolist()]
    return found, [str(note) for note in read.notes]


def both(path: Path) -> tuple[Any, Any]:
    """What Arrow gives, and the careful reader behind it."""
    fast = open_text_table(path, Lines())
    assert isinstance(fast, arrow.CsvReader)
    return columns_of(fast), columns_of(fast._careful)


def frame(**more: Any) -> pd.DataFrame:
    words = np.array(["red", "a, b", 'say "x"', "two\nlines", "", "NA", " blue "], dtype=object)
    return pd.DataFrame(
        {
            "whole": RNG.integers(-9, 9, N),
            "real": RNG.standard_normal(N) * 10.0 ** RNG.integers(-300, 300, N),
            "holes": np.where(RNG.random(N) < 0.1, np.nan, RNG.random(N)),
            "word": words[RNG.integers(0, len(words), N)],
            "flag": RNG.choice(["true", "FALSE", ""], N),
            "day": ["2024-01-31"] * N,
            **more,
        }
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_tables_of_every_kind_of_column(separator: str, decimal: str, tmp_path: Path) -> None:
    if separator == decimal:
        return
    frame().to_csv(tmp_path / "t.csv", index=False, sep=separator, decimal=decimal)
    (fast, said), (careful, told) = both(tmp_path / "t.csv")
    assert fast == careful
    assert said == told
    assert fast["word"].count("two\nlines") > 100  # lines within a cell are no lines of the table


@pytest.mark.parametrize(
    "cell", ["<0.1", "inf", "1e400", " 7 ", "007", "n.d.", "1_000", "٣", "0x1p3", "nan", "+5", "5."]
)
@pytest.mark.parametrize("row", [10, N // 2, N - 1])
def test_a_cell_is_read_alike_wherever_it_stands(cell: str, row: int, tmp_path: Path) -> None:
    values = [f"{value:.3f}" for value in RNG.random(N)]
    values[row] = cell
    pd.DataFrame({"x": values, "word": ["some words that make the file longer"] * N}).to_csv(
        tmp_path / "t.csv", index=False
    )
    answers = []
    for route in ("fast", "careful"):
        reader = open_text_table(tmp_path / "t.csv", Lines())
        assert isinstance(reader, arrow.CsvReader)
        try:
            answers.append(columns_of(reader if route == "fast" else reader._careful))
        except BadFile as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("line", ["# a remark", "5", "5,6,7", "", ",", '"a, b"', '"never closed'])
@pytest.mark.parametrize("row", [N // 2, N])
def test_a_line_that_is_no_row_is_passed_over_or_refused_alike(line: str, row: int, tmp_path: Path) -> None:
    lines = [f"{value:.6f},some words" for value in RNG.random(N)]
    lines.insert(row, line)
    (tmp_path / "t.csv").write_text("x,word\n" + "\n".join(lines) + "\n")
    answers = []
    for route in ("fast", "careful"):
        reader = open_text_table(tmp_path / "t.csv", Lines())
        assert isinstance(reader, arrow.CsvReader)
        try:
            answers.append(columns_of(reader if route == "fast" else reader._careful))
        except BadFile as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "odd", [None, '{"x": "<0.1", "w": "a"}', '{"x": 1, "late": 2}', '{"x": null}', '{"x": NaN}', "[1]"]
)
@pytest.mark.parametrize("row", [N // 2, N - 1])
def test_lines_of_json_are_read_alike(odd: str | None, row: int, tmp_path: Path) -> None:
    lines = [json.dumps({"x": x, "w": "some words", "ok": x > 0.5}) for x in RNG.random(N).tolist()]
    if odd is not None:
        lines[row] = odd
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    answers = []
    for route in ("fast", "careful"):
        reader = json_tables.open_json(tmp_path / "t.jsonl")
        assert isinstance(reader, json_tables.JsonLinesReader)
        try:
            answers.append(columns_of(reader if route == "fast" else reader._careful))
        except BadFile as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


def test_small_texts_need_no_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame()[:200].to_csv(tmp_path / "t.csv", index=False)
    small = columns_of(open_text_table(tmp_path / "t.csv", Lines()))
    monkeypatch.setattr(text_tables, "SAMPLE_BYTES", 2**10)
    reader = open_text_table(tmp_path / "t.csv", Lines())
    assert isinstance(reader, arrow.CsvReader)
    assert columns_of(reader, 70)[0] == small[0]


WIDE = 5_000


def wide_lines(rows: int = 16) -> list[list[str]]:
    values = RNG.standard_normal((rows, WIDE)) * 10.0 ** RNG.integers(-300, 300, WIDE)
    return [[f"c{j}" for j in range(WIDE)], *([repr(float(value)) for value in row] for row in values)]


def put(cell: str, row: int = 12) -> Any:
    """A change of the lines of a table: one cell far down."""

    def change(lines: list[list[str]]) -> None:
        lines[row][17] = cell

    return change


def name_rows(lines: list[list[str]]) -> None:
    for i, line in enumerate(lines):
        line[0] = f'"sample, {i}\n({i})"'


def comment(lines: list[list[str]]) -> None:
    lines.insert(9, ["# washed here"])


def blank(lines: list[list[str]]) -> None:
    lines.insert(9, [""])


CHANGES = {
    "numbers alone": lambda lines: None,
    "a hole": put(""),
    "a word for a hole": put("NA"),
    "infinite": put("-inf"),
    **{f"{cell!r}": put(cell) for cell in (" 7 ", "007", "+5", "5.", "1e400", "nan")},
    "an early hole": put("", 2),
    "names of rows, on two lines": name_rows,
    "a comment": comment,
    "a blank line": blank,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("rows", [5, 1000])
def test_tables_of_many_columns(change: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed row by row; from a cell on that is no number Arrow reads, or the careful reader."""
    lines = wide_lines()
    CHANGES[change](lines)
    path = tmp_path / "wide.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    fast = open_text_table(path, Lines())
    assert isinstance(fast, arrow.CsvReader)
    names = [column.name for column in fast.columns if column.kind == "number"]

    def rows_of(reader: TableReader) -> Any:
        return np.vstack([np.column_stack([batch[name] for name in names]) for batch in reader.batches(names, rows)])

    found, careful = rows_of(fast), rows_of(fast._careful)
    np.testing.assert_array_equal(found, careful)
    if change in ("numbers alone", "infinite", "a blank line"):
        monkeypatch.setattr(fast, "_fast", None)  # Arrow was not asked
        assert sum(len(batch[names[0]]) for batch in fast.batches(names, rows)) == len(found)


def test_a_text_among_many_columns_is_told_with_its_row(tmp_path: Path) -> None:
    lines = wide_lines()
    put("lost")(lines)
    path = tmp_path / "wide.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    with pytest.raises(BadFile, match="c17 is 'lost' in row 12"):
        columns_of(open_text_table(path, Lines()))


def test_a_line_of_another_length_among_many_columns_is_told(tmp_path: Path) -> None:
    lines = wide_lines()
    lines[12] = lines[12][:-2]
    path = tmp_path / "wide.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    with pytest.raises(BadFile, match="line 13 has 4,998 cells"):
        columns_of(open_text_table(path, Lines()))
