"""Sheets of a workbook (.xlsx, .xls, .xlsb, .ods), through calamine. The only file that loads it."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from lowdim.errors import BadFile, NeedsExtra, Setting, TableNote
from lowdim.sources.formats.stored import refuse_unreadable, refuse_zip_bomb
from lowdim.sources.tables.cells import is_number, text_of
from lowdim.sources.tables.choose import choose_table
from lowdim.sources.tables.layout import Lines, column_number, find_layout
from lowdim.sources.tables.rows import Line, RowsReader
from lowdim.sources.tables.table import TableReader
from lowdim.sources.tables.text_columns import quoted
from lowdim.words import listed

try:
    import python_calamine as calamine
except ImportError as error:
    raise NeedsExtra.package("python-calamine", "Reading workbooks", "files") from error

MAX_CELLS = 50_000_000


def open_workbook(path: Path, sheet: str | None, asked: Lines) -> TableReader:
    """The table in a sheet: the first one that holds numbers, if none is named."""
    with refuse_unreadable(path, "workbook", "save it anew, or export it as CSV"):  # errors have no common base
        refuse_zip_bomb(path)
        _refuse_forged(path)
        book = calamine.CalamineWorkbook.from_path(str(path))
        sizes = dict.fromkeys(book.sheet_names, "sheet")
        chosen, rows = (choose_table(str(path), sheet, sizes, "sheets"), None) if sheet else _find_sheet(book, path)
        rows = _read_sheet(book, chosen, path) if rows is None else rows
        formulas = _fill_unread(path, chosen, rows)
    others = [name for name in book.sheet_names if name != chosen]
    lines = _trim(rows) if not asked.part else [Line(i + 1, row) for i, row in asked.cut(rows, str(path))]
    where = f"{path}, sheet {chosen}" if sheet else str(path)
    if len(lines) < 2 and asked.header != 0:
        raise BadFile(f"{where}: sheet {chosen!r} has {len(lines)} rows; a header and a row are needed.")
    layout = find_layout([[_name_of(cell) for cell in line.cells] for line in lines], asked, where)
    notes = [*([] if sheet or not others else [_say_others(chosen, others)]), *_say_formulas(formulas)]
    return RowsReader(where, lambda: lines, layout, lines, whole=True, sheet=True, notes=notes)


def _find_sheet(book: Any, path: Path) -> tuple[str, list[list[Any]]]:
    """The first sheet that holds numbers, or else the first one."""
    found = None
    for name in book.sheet_names:
        rows = _read_sheet(book, name, path)
        if found is None:
            found = name, rows
        if any(is_number(cell) for row in rows for cell in row):
            return name, rows
    if found is None:
        raise BadFile(f"{path}: a workbook without sheets; a table is needed.")
    return found


def _read_sheet(book: Any, name: str, path: Path) -> list[list[Any]]:
    page = book.get_sheet_by_name(name)
    if page.total_height * page.total_width > MAX_CELLS:
        raise BadFile(f"{path}: {page.total_height:,} × {page.total_width:,} cells are more than are read.")
    rows: list[list[Any]] = page.to_python(skip_empty_area=False)
    return rows


def _trim(rows: Sequence[Sequence[Any]]) -> list[Line]:
    """Rows without the empty ones and the empty columns around the table."""
    there = [[bool(text_of(cell)) for cell in row] for row in rows]
    used = [i for i, row in enumerate(there) if any(row)]
    columns = [j for j in range(max(map(len, there), default=0)) if any(row[j] for row in there if j < len(row))]
    if not used:
        return []
    return [Line(i + 1, rows[i][columns[0] : columns[-1] + 1]) for i in range(used[0], used[-1] + 1)]


def _name_of(cell: Any) -> str:
    """A cell as it may name a column: 2019.0 is 2019."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else text_of(cell)


# Sizes, before calamine makes room for every cell between the first and the last one.

MAX_EMPTY = 2**22
"""Cells of a sheet that room is made for whether something stands in them or not …"""

MAX_SPARSENESS = 50
"""… and beyond them so many for each in which something does."""

FILLED = re.compile(
    rb"<(?:\w{1,20}:)?c\s(?:[^<>]{0,200}?\s)?"  # a cell, what it says before …
    rb"""r\s{0,9}=\s{0,9}["']([A-Za-z]{1,3})(\d{1,7})["']"""  # … where it stands …
    rb"[^<>]{0,200}(?<!/)>(?!\s{0,9}</)"  # … and after that; it is not closed at once
)
"""A cell in which something stands, by its letters and its number."""

READ_BYTES, OVERLAP = 2**18, 512
"""Bytes that are looked at together, and those of them that are looked at again with the next, as a tag may be cut."""


def _refuse_forged(path: Path) -> None:
    """Raise an error if the archive holds more than its directory says, or a sheet far more room than cells.

    Everything is unpacked once, a little at a time: calamine does not go by the directory.
    """
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.flag_bits & 1:
                raise BadFile(f"{path}: is encrypted; save it without a password.")
            with archive.open(entry) as file:  # ends in an error where sizes or sums are not those that it says
                if entry.filename.lower().endswith(".xml"):
                    _refuse_far_cells(path, file)
                while file.read(READ_BYTES):
                    pass


def _refuse_far_cells(path: Path, file: IO[bytes]) -> None:
    """Raise an error if the cells of a sheet span far more than there are."""
    count, rows, columns, kept = 0, (2**20, 0), (2**14, 0), b""
    while part := file.read(READ_BYTES):
        found = FILLED.findall(kept + part)
        kept = part[-OVERLAP:]
        if not found:
            continue
        numbers, places = {int(number) for _, number in found}, {column_number(one.decode()) for one, _ in found}
        count += len(found)
        rows, columns = (
            (min(rows[0], *numbers), max(rows[1], *numbers)),
            (min(columns[0], *places), max(columns[1], *places)),
        )
    height, width = rows[1] - rows[0] + 1, columns[1] - columns[0] + 1
    if count and height * width > min(max(MAX_EMPTY, MAX_SPARSENESS * count), MAX_CELLS):
        raise BadFile(
            f"{path}: {count:,} cells of a sheet hold something, and stand in {height:,} rows and {width:,} columns, "
            f"{height * width:,} cells in all, which are more than are read: clear what stands far from the table."
        )


# Cells that calamine gives as empty ones: errors, and formulas that were never calculated. Of .xlsx alone.

CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"([^<>]*)>([^<]*(?:<(?!/?c[ >])[^<]*)*)</c>')
"""It ends before the next one begins, also where the text does not say so: finding all takes no more than one pass."""
FORMULA = re.compile(rb"<f[^>]*>(.*?)</f>", re.DOTALL)
VALUE = re.compile(rb"<v>(.*?)</v>", re.DOTALL)
SHEET = re.compile(rb'<sheet\b[^<>]*?\bname="([^"]*)"[^<>]*?\br:id="([^"]*)"')
TARGET = re.compile(rb'<Relationship\b(?=[^<>]*\bId="([^"]*)")(?=[^<>]*\bTarget="([^"]*)")')


def _fill_unread(path: Path, sheet: str, rows: list[list[Any]]) -> list[tuple[str, str]]:
    """Put errors and formulas without values into their cells, as texts; gives the formulas with their places."""
    page = _read_page(path, sheet)
    formulas: list[tuple[str, str]] = []
    if page is None or (b't="e"' not in page and b"<f" not in page):
        return formulas
    for letters, number, about, inside in CELL.findall(page):
        formula, value = FORMULA.search(inside), VALUE.search(inside)
        text = ""
        if b't="e"' in about and value is not None:
            text = html.unescape(value[1].decode())
        elif formula is not None and (value is None or not value[1]) and b't="str"' not in about:
            text = "=" + html.unescape(formula[1].decode())
            formulas.append((text, (letters + number).decode()))
        i, j = int(number) - 1, column_number(letters.decode())
        if text and i < len(rows) and j < len(rows[i]) and rows[i][j] == "":
            rows[i][j] = text
    return formulas


def _read_page(path: Path, sheet: str) -> bytes | None:
    """The file of a sheet in a workbook of the kind that has one for each; None for others."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
            return None
        ids = {html.unescape(name.decode()): at for name, at in SHEET.findall(archive.read("xl/workbook.xml"))}
        targets = dict(TARGET.findall(archive.read("xl/_rels/workbook.xml.rels")))
        target = targets.get(ids.get(sheet, b""), b"").decode().lstrip("/")
        target = target if target.startswith("xl/") else f"xl/{target}"
        return archive.read(target) if target in names else None


def _say_formulas(formulas: Sequence[tuple[str, str]]) -> list[TableNote]:
    if not formulas:
        return []
    have = "formula has no value" if len(formulas) == 1 else "formulas have no values"
    text, place = formulas[0]
    remedy = "open the workbook in a spreadsheet program and save it"
    return [TableNote("", f"{len(formulas):,} {have}, as {quoted(text)} in {place}: {remedy}.", matters="first")]


def _say_others(chosen: str, others: Sequence[str]) -> TableNote:
    there = f"there {'is' if len(others) == 1 else 'are'} also {listed([repr(name) for name in others])}"
    return TableNote("", f"the sheet {chosen!r} is read; {there}: ", Setting("table", others[0]), " reads another.")
