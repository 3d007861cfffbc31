"""Workbooks (.xlsx) of one sheet, written row by row: SpreadsheetML as ECMA-376 part 1 has it, and no more of it.

XlsxWriter 3.3 and openpyxl 3.1 keep 16 digits of a number, with which 42 % of normal deviates are no longer the same.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.types import Indices
from lowdim.views.files.columns import Column, as_numpy, is_missing
from lowdim.views.files.spelling import number_cells, text_of, time_cells
from lowdim.views.files.table_writers import TableWriter

MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 2**20, 2**14, 32_767
"""Of a sheet, and of a cell."""

MOST_WHOLE = 2**53
"""Spreadsheets hold whole numbers as floats: those beyond are written as texts, or they would change."""

CELLS = 2**16
"""Cells that are made at a time."""

FIRST_DAY = np.datetime64("1899-12-30", "ms")
"""Day 0 of spreadsheets; they take 1900 for a leap year, so that days are right from March of that year on."""

RIGHT_FROM, RIGHT_TO = np.datetime64("1900-03-01", "ms"), np.datetime64("10000-01-01", "ms")
DAY = 86_400_000

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KINDS = "application/vnd.openxmlformats-officedocument.spreadsheetml"

SHEET = "xl/worksheets/sheet1.xml"

PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{KINDS}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{KINDS}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{KINDS}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
    '<sheets><sheet name="table" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts count="2">'
    '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
    '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>'
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3">'
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
"""Name → what is in it; the sheet comes last."""


@final
class WorkbookWriter(TableWriter):
    """Numbers to their last digit, texts that are texts whatever they begin with, times; missing cells are none."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], n_rows: int | None):
        super().__init__(name, file, names)
        self._refuse_size(n_rows or 0)
        self._letters = [_letters(j) for j in range(len(names))]
        self._open = ExitStack()
        self._sink: _Sink | None = None
        self._sheet: IO[bytes] | None = None

    def _add(self, batch: list[Column]) -> None:
        self._refuse_size(self.n_rows + len(batch[0]))
        if self._sheet is None:
            self._sheet = self._begin()
            self._write_rows([np.array([name], dtype=object) for name in self.names], 1)
        columns = list(map(as_numpy, batch))
        rows = max(1, CELLS // len(batch))
        for start in range(0, len(batch[0]), rows):
            self._write_rows([column[start : start + rows] for column in columns], self.n_rows + start + 2)

    def _begin(self) -> IO[bytes]:
        """Write all but the sheet; gives what the sheet is written to."""
        self._sink = _Sink(self._file)
        archive = self._open.enter_context(zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED))
        for part, text in PARTS.items():  # `open` gives them no time, so that the same table gives the same bytes
            with archive.open(part, "w") as entry:
                entry.write((HEAD + text).encode())
        sheet: IO[bytes] = self._open.enter_context(archive.open(SHEET, "w", force_zip64=True))
        sheet.write(f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>'.encode())
        return sheet

    def finish(self) -> None:
        """Write the end of the sheet, and of the archive."""
        super().finish()
        assert self._sheet is not None
        self._sheet.write(b"</sheetData></worksheet>")
        self._open.close()

    def abandon(self) -> None:
        """Let go of the archive, which would otherwise write to a closed file when it is collected."""
        if self._sink is not None:
            self._sink.gone = True
        self._open.close()

    def _refuse_size(self, n_rows: int) -> None:
        count = len(self.names)
        if n_rows >= MOST_ROWS or count > MOST_COLUMNS:
            raise BadInput(
                f"{self.name}: a sheet has room for {MOST_ROWS - 1:,} rows below their header and {MOST_COLUMNS:,} "
                f"columns, but there are {n_rows:,} × {count:,}; write .csv or .parquet."
            )

    def _write_rows(self, batch: list[NDArray[Any]], first: int) -> None:
        places = list(map(str, range(first, first + len(batch[0]))))
        cells = [self._cells(j, column, places) for j, column in enumerate(batch)]
        rows = [f'<row r="{i}">{"".join(row)}</row>' for i, row in zip(places, zip(*cells, strict=True), strict=True)]
        assert self._sheet is not None
        self._sheet.write("".join(rows).encode())

    def _cells(self, j: int, column: NDArray[Any], places: list[str]) -> list[str]:
        """The cells of a column with their places; those that are missing are no cells."""
        at = f'<c r="{self._letters[j]}'
        if column.dtype.kind == "O":
            return [self._any_cell(at + i, value, j) for i, value in zip(places, column.tolist(), strict=True)]
        if column.dtype.kind == "M":
            return self._time_cells(at, column, places)
        texts = number_cells(column)
        if column.dtype.kind == "b":
            cells = [f'{at}{i}" t="b"><v>{int(text == "true")}</v></c>' for i, text in zip(places, texts, strict=True)]
        else:
            cells = [f'{at}{i}"><v>{text}</v></c>' for i, text in zip(places, texts, strict=True)]
            for i in _no_numbers(column):
                cells[i] = self._text_cell(at + places[i], texts[i], j)
        for i in np.flatnonzero(is_missing(column)):
            cells[i] = ""
        return cells

    def _any_cell(self, at: str, value: Any, j: int) -> str:
        """A cell of a column of anything."""
        if is_missing(value):
            return ""
        if isinstance(value, str):
            return self._text_cell(at, value, j)
        if isinstance(value, (bool, np.bool_)):
            return f'{at}" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, (int, float, np.integer, np.floating)) and -MOST_WHOLE <= float(value) <= MOST_WHOLE:
            return f'{at}"><v>{text_of(value)}</v></c>'
        return self._text_cell(at, text_of(value), j)

    def _text_cell(self, at: str, text: str, j: int) -> str:
        if len(text) > MOST_LETTERS:
            raise BadInput(
                f"{self.name}: a text in column {self.names[j]!r} has {len(text):,} letters, but a cell of a sheet has "
                f"room for {MOST_LETTERS:,}; write .csv or .parquet."
            )
        return f'{at}" t="inlineStr"><is><t xml:space="preserve">{_escape(text)}</t></is></c>'

    def _time_cells(self, at: str, column: NDArray[Any], places: list[str]) -> list[str]:
        """Days are numbers with a style; those before there were days of spreadsheets are texts."""
        gone = np.isnat(column)
        exact = column.astype("M8[ms]")
        held = ~gone & (exact >= RIGHT_FROM) & (exact < RIGHT_TO)
        since: Indices = np.where(held, (exact - FIRST_DAY).astype(np.int64), 0)
        style = 1 if column.dtype == np.dtype("M8[D]") else 2
        numbers = number_cells(since / DAY)
        cells = [f'{at}{i}" s="{style}"><v>{text}</v></c>' for i, text in zip(places, numbers, strict=True)]
        for i in np.flatnonzero(~held):
            cells[i] = "" if gone[i] else self._text_cell(at + places[i], time_cells(column[i : i + 1])[0], 0)
        return cells


class _Sink(io.RawIOBase):
    """The file of an archive, whose end is written whatever happens: once it is let go of, it takes nothing more."""

    def __init__(self, file: IO[bytes]):
        self._inner = file
        self.gone = False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self.gone or self._inner.seekable()

    def write(self, data: Any) -> int:
        return len(data) if self.gone else self._inner.write(data)

    def seek(self, place: int, whence: int = 0) -> int:
        return 0 if self.gone else self._inner.seek(place, whence)

    def tell(self) -> int:
        return 0 if self.gone else self._inner.tell()


def _no_numbers(column: NDArray[Any]) -> Indices:
    """Places of what a sheet has no numbers for: infinite ones, and whole ones that it would round."""
    if column.dtype.kind == "f":
        return np.flatnonzero(np.isinf(column))
    large = (column > MOST_WHOLE) | (column < -MOST_WHOLE)
    return np.flatnonzero(large.filled(False) if isinstance(large, np.ma.MaskedArray) else large)


def _letters(j: int) -> str:
    """What a spreadsheet calls a column: A, B, …, Z, AA, …."""
    letters = ""
    j += 1
    while j:
        j, place = divmod(j - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


ODD = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def _escape(text: str) -> str:
    """A text as XML has it; letters that XML has not are named by their numbers (ST_Xstring, ECMA-376 22.9.2.19)."""
    names = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    return ODD.sub(lambda found: names.get(found[0]) or f"_x{ord(found[0]):04X}_", text)
