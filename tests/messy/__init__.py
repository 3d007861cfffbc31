"""Tables as people have them, each with what must be read of it, said of it, or refused.

The expectations were written before the readers could do any of this. A table says which columns are numbers and which
numbers they are, which columns are left out and why, and what must be said of it; whatever is not said there must not
be said. "No silent loss" is checked of all: every column is read, left out by name or told of, and every cell that
held something and is read as missing is told of.
"""

from __future__ import annotations

import csv
import datetime
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet

CELLS = ("csv", "tsv", "xlsx", "jsonl", "json", "parquet", "sqlite")
"""Formats of tables whose cells are odd."""

GRID = ("csv", "tsv", "xlsx")
"""Formats of tables whose lines are odd: those that are no plain list of records."""

N = None
A = [1.5, 2.25, 3.0, 4.75, 5.5, 6.0, 7.25, 8.5]


@dataclass(frozen=True)
class Messy:
    """A table and what must become of it."""

    lines: Sequence[Sequence[Any]] | str | bytes | Callable[[Path], Any]
    """Rows of cells, the header first; or the text of the file as it stands; or what writes the file."""
    numbers: Mapping[str, Sequence[float | None]]
    """Columns that are worked with, in order; None is missing."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Column → what is said it holds: a regular expression."""
    said: Sequence[str] = ()
    """Regular expressions, one for each note, in order."""
    refused: str = ""
    """The error, where the table is refused: a regular expression."""
    opened: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `lowdim.open`."""
    formats: tuple[str, ...] = CELLS


def beside(cells: Sequence[Any], a: Sequence[float] = A) -> list[list[Any]]:
    """A column `x` of these cells beside a column of plain numbers."""
    return [["a", "x"], *([number, cell] for number, cell in zip(a, cells, strict=False))]


def read(x: Sequence[float | None]) -> dict[str, Sequence[float | None]]:
    """What is read of it, if the cells are these numbers."""
    return {"a": A[: len(x)], "x": x}


def write_messy(table: Messy, form: str, folder: Path) -> Path:
    """The file that holds it."""
    path = folder / f"table.{form}"
    if callable(table.lines):
        table.lines(path)
    elif isinstance(table.lines, (str, bytes)):
        path.write_bytes(table.lines.encode() if isinstance(table.lines, str) else table.lines)
    elif form in ("csv", "tsv"):
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter="," if form == "csv" else "\t", lineterminator="\n").writerows(table.lines)
    elif form == "xlsx":
        book = openpyxl.Workbook()
        for row in table.lines:
            book.active.append([_typed(cell) for cell in row])
        book.save(path)
    else:
        _write_records(table.lines, form, path)
    return path


def _write_records(lines: Sequence[Sequence[Any]], form: str, path: Path) -> None:
    names, rows = lines[0], lines[1:]
    if form in ("jsonl", "json"):  # cells that are numbers as numbers, and others as texts: as programs write them
        records = [dict(zip(names, map(_typed, row), strict=True)) for row in rows]
        lines_of_json = [json.dumps(record, default=str) for record in records]
        text = "".join(f"{line}\n" for line in lines_of_json) if form == "jsonl" else json.dumps(records, default=str)
        path.write_text(text, encoding="utf-8")
        return
    columns = [list(column) for column in zip(*rows, strict=True)]
    if form == "sqlite":
        with sqlite3.connect(path) as connection:
            quoted, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
            connection.execute(f"CREATE TABLE data ({quoted})")
            typed = [[_in_sqlite(cell) for cell in row] for row in rows]
            connection.executemany(f"INSERT INTO data VALUES ({marks})", typed)
        connection.close()
    else:
        pa.parquet.write_table(pa.table(dict(zip(names, map(_uniform, columns), strict=True))), path)


def _uniform(cells: list[Any]) -> list[Any]:
    """Texts where one cell is a text: a column has one type."""
    return [str(cell) for cell in cells] if any(isinstance(cell, str) for cell in cells) else cells


def _in_sqlite(cell: Any) -> Any:
    """A cell as SQLite holds it: it has neither truth values nor dates."""
    typed = _typed(cell)
    return cell if isinstance(typed, (bool, datetime.datetime)) else typed


def _typed(cell: Any) -> Any:
    """A cell as a program holds it: numbers, truth values and dates are no texts."""
    if not isinstance(cell, str) or cell != cell.strip():
        return cell
    if cell in ("true", "false", "TRUE", "FALSE"):
        return cell.lower() == "true"
    if cell in ("", "NA", "NaN"):
        return None
    try:
        return float(cell) if not cell.startswith("0") or "." in cell or cell == "0" else cell
    except ValueError:
        pass
    try:
        return datetime.datetime.fromisoformat(cell).replace(tzinfo=None)
    except ValueError:
        return cell


def every_table() -> dict[str, tuple[Messy, str]]:
    """Every table in every format, by a name of both."""
    from messy.cells import CELL_TABLES
    from messy.lines import LINE_TABLES
    from messy.records import RECORD_TABLES
    from messy.roles import ROLES
    from messy.texts import TEXT_TABLES
    from messy.workbooks import WORKBOOKS

    found = {}
    groups = ((CELL_TABLES, None), (ROLES, None), (LINE_TABLES, GRID), (WORKBOOKS, ("xlsx",)), (RECORD_TABLES, None))
    for tables, forms in (*groups, (TEXT_TABLES, ("csv",))):
        for name, table in tables.items():
            own = table.formats if forms is None or table.formats != CELLS else forms
            found |= {f"{name}, {form}": (table, form) for form in own}
    return found
