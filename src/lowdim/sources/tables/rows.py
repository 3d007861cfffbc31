"""A table among lines of cells: a sheet, a small text, or a text that only a careful reader can read."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, Setting, TableNote, TotalRow
from lowdim.runtime.warn import warn_user
from lowdim.sources.columns import Column, Kind
from lowdim.sources.tables.cells import CODE, MISSING, WHOLE, is_number, is_numeric, is_plain, text_of
from lowdim.sources.tables.layout import Layout, filled, say_lines
from lowdim.sources.tables.table import TableReader, rounded_note, to_flags
from lowdim.types import Array
from lowdim.words import plural

JUDGED_ROWS = 200
"""Rows from which it is told what the first column holds."""

TIMES = (datetime.date, datetime.time, datetime.timedelta)

TOTALS = frozenset(
    [
        *(
            "total",
            "totals",
            "grand total",
            "subtotal",
            "sum",
            "sums",
            "mean",
            "means",
            "average",
            "averages",
            "median",
        ),
        *("std", "sd", "std. dev.", "standard deviation", "overall", "all", "summe", "gesamt", "mittelwert", "moyenne"),
    ]
)
"""What rows are called that sum others up, in small letters."""


@dataclass(frozen=True)
class Line:
    """A line of a text, or a row of a sheet."""

    number: int
    """From 1."""
    cells: Sequence[Any]


@final
class RowsReader(TableReader):
    """A table among lines, which `opened` gives from the first one on as often as it is called."""

    def __init__(
        self,
        name: str,
        opened: Callable[[], Iterable[Line]],
        layout: Layout,
        sample: Sequence[Line],
        *,
        whole: bool,
        decimal: str = ".",
        size: int | None = None,
        sheet: bool = False,
        notes: Sequence[TableNote] = (),
        separator: str = "",
    ):
        self._notes = tuple(notes)
        self.marks = (separator, decimal) if separator else None
        self.name, self.decimal, self.size, self._sheet = name, decimal, size, sheet
        self._opened, self._layout, self._whole = opened, layout, whole
        self._first = sample[layout.start].number if layout.start < len(sample) else sample[-1].number + 1
        self._places = [j for j in range(layout.width) if j not in layout.empty]
        self._passed = _Passed(layout.comments_above.copy())
        first = [text_of(line.cells[0]) for line in sample[layout.start : -1] if line.cells]
        self._first_column = [text for text in first if text][:JUDGED_ROWS]
        body = list(self._body(sample, at_end=whole))
        if whole and not body:
            raise BadFile(f"{name}: has columns but no rows; at least one row is needed.")
        self.n_rows = len(body) if whole else None
        self._body_rows = body if whole else None
        self._totals = _say_totals(layout, body[-1]) if whole and len(body) > 2 else []
        self.surprises, self.held = not whole, whole
        self.columns = tuple(self._column(j, body) for j in self._places)
        numbers = [
            (j, column.name) for j, column in zip(self._places, self.columns, strict=True) if column.kind == "number"
        ]
        self.maybe_whole = {name for j, name in numbers if all(whole_of(row[j]) is not None for row in body)}
        """Columns of numbers that are whole, and written so, as far as was looked."""

    @property
    def notes(self) -> tuple[TableNote, ...]:
        """What was passed over, exactly where all lines were read."""
        return (*self._notes, *self._passed.comment_notes(), *self._layout.notes, *self._passed.notes(), *self._totals)

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Read line by line."""
        body = self._all_rows()
        while some := list(islice(body, rows)):
            yield self.to_columns(some, names)

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The same, with whole numbers and flags as such."""
        whole = self._find_whole([name for name in names if name in self.maybe_whole])
        places = {column.name: (j, column.kind) for j, column in zip(self._places, self.columns, strict=True)}
        body = self._all_rows()
        while some := list(islice(body, rows)):
            found: dict[str, Any] = {}
            for name in names:
                j, kind = places[name]
                cells = [row[j] for row in some]
                values = whole_numbers(cells) if name in whole else self._to_array(cells, kind)
                found[name] = to_flags(values) if kind == "flag" else to_days(values) if kind == "time" else values
            yield found

    def _all_rows(self) -> Iterator[Sequence[Any]]:
        return iter(self._body(self._opened(), at_end=True) if self._body_rows is None else self._body_rows)

    def _find_whole(self, names: Sequence[str]) -> set[str]:
        """Those of these columns that hold nothing but whole numbers, for which 64 bits are enough."""
        places = {column.name: j for j, column in zip(self._places, self.columns, strict=True)}
        left = set(names)
        for row in self._all_rows() if left else ():
            for name in list(left):
                number = whole_of(row[places[name]])
                if number is None or not -(2**63) <= number < 2**63:
                    left.remove(name)
                    if number is not None:
                        warn_user(rounded_note(name))
        return left

    def after(self, rows: int) -> Iterator[Sequence[Any]]:
        """Rows of the table from a later one on, cells as they stand."""
        return islice(self._body(self._opened(), at_end=True), rows, None)

    def to_columns(self, rows: Sequence[Sequence[Any]], names: Sequence[str]) -> dict[str, Array]:
        """Some rows as columns."""
        places = {column.name: (j, column.kind) for j, column in zip(self._places, self.columns, strict=True)}
        return {name: self._to_array([row[places[name][0]] for row in rows], places[name][1]) for name in names}

    # -- rows -----------------------------------------------------------------------------------------------------

    def _body(self, lines: Iterable[Line], at_end: bool) -> Iterator[Sequence[Any]]:
        """Rows of the table; comments, empty lines and remarks below it are left out and noted."""
        layout, passed = self._layout, _Passed(self._layout.comments_above.copy())
        held: list[Line] = []  # lines that may be below the table
        blank = 0  # rows of a sheet that hold nothing, with others below them
        after_blank = False
        for line in lines:
            if line.number < self._first:
                continue
            texts = line.cells if all(isinstance(cell, str) for cell in line.cells) else list(map(text_of, line.cells))
            if self._is_blank(texts):
                after_blank = True
                if self._sheet:
                    blank += 1
                elif len(texts) > 1:
                    held.append(line)
                continue
            sign = layout.sign_of_comment(texts)
            if sign:
                passed.comments[sign] += 1
            elif self._may_be_remark(texts, after_blank or bool(held)):
                held.append(line)
            else:
                yield from self._let_go(held)
                held, passed.empty, blank, after_blank = [], passed.empty + blank, 0, False
                yield self._row(line)
        if at_end:
            below = [text for line in held if filled(text := list(map(text_of, line.cells)))]
            passed.below, passed.empty = below, passed.empty + len(held) - len(below)
            self._passed = passed
        else:
            yield from self._let_go(held)

    def _is_blank(self, texts: Sequence[str]) -> bool:
        """Whether a line holds nothing and is no row: of a single column it is one, if something stands there."""
        if filled(texts) or (self._layout.width == len(texts) == 1):
            return False
        return self._whole or len(texts) < 2  # in a large text Arrow gives such rows, too

    def _may_be_remark(self, texts: Sequence[str], apart: bool) -> bool:
        """Whether a line holds a single text, the first, where rows have several cells.

        If it is as long as rows are, it may be a row with missing values: then it must stand `apart`, or be unlike what
        the first column holds.
        """
        text = texts[0].strip()
        if self._layout.width < 2 or len(filled(texts)) != 1 or not text or is_numeric(text):
            return False
        if len(texts) < self._layout.width or apart or all(map(is_numeric, self._first_column)):
            return True
        longer = len(text) > max(map(len, self._first_column)) and len(text.split()) > 2
        return longer or not (text[0].isalnum() or any(one[0] == text[0] for one in self._first_column))

    def _let_go(self, held: Sequence[Line]) -> Iterator[Sequence[Any]]:
        """Lines that turned out to stand among the rows."""
        return map(self._row, held)

    def _row(self, line: Line) -> Sequence[Any]:
        """The cells of a row, as many as there are columns."""
        row, width = line.cells, self._layout.width
        if len(row) == width:
            return row
        if len(row) > width and all(cell == "" for cell in row[width:]):
            return row[:width]
        columns = width - len(self._layout.empty)
        raise BadFile(
            f"{self.name}: line {line.number:,} has {plural(len(row), 'cell')}, but the table has "
            f"{plural(columns, 'column')}: a cell with the separator in it needs quotes around it; a line that is no "
            "row is passed over if it begins with a sign that is named, as in ",
            Setting("comment", "#"),
            ".",
        )

    # -- columns --------------------------------------------------------------------------------------------------

    def _column(self, j: int, body: Sequence[Sequence[Any]]) -> Column:
        cells = [row[j] for row in body]
        name = self._layout.names[j]
        kind = detect_kind(cells, self.decimal, self._whole)
        if j == 0 and self._layout.rows_named:
            return Column(name, "text", why="names of the rows", unnamed=True)
        return Column(name, kind)

    def _to_array(self, cells: list[Any], kind: Kind) -> Array:
        if kind == "number":
            return numbers_of(cells, self.decimal)
        if kind == "flag":
            return np.array([np.nan if cell == "" or cell is None else float(cell) for cell in cells])
        return _objects(cells)


@dataclass
class _Passed:
    """What was passed over among the rows, and below them."""

    comments: Counter[str] = field(default_factory=Counter)
    """What they begin with → how many lines."""
    empty: int = 0
    below: Sequence[Sequence[str]] = ()

    def comment_notes(self) -> list[TableNote]:
        return [comment_note(sign, count) for sign, count in self.comments.items()]

    def notes(self) -> list[TableNote]:
        are = "is" if self.empty == 1 else "are"
        empty = (
            [TableNote("", f"{plural(self.empty, 'empty row')} {are} passed over.", matters="last")]
            if self.empty
            else []
        )
        return [*empty, *([say_lines(self.below, "below")] if self.below else [])]


def comment_note(sign: str, count: int) -> TableNote:
    """The note that comments are passed over."""
    begin, are = ("begins", "is") if count == 1 else ("begin", "are")
    return TableNote("", f"{plural(count, 'line')} that {begin} with {sign!r} {are} passed over.", matters="last")


def detect_kind(cells: Sequence[Any], decimal: str, whole: bool) -> Kind:
    """What cells of a column hold; `whole` says that there are no more."""
    there = [cell for cell in cells if not (cell is None or (isinstance(cell, str) and cell.strip() in MISSING))]
    if not there:
        return "empty" if whole else "number"
    if all(is_plain(cell, decimal) if isinstance(cell, str) else is_number(cell) for cell in there):
        return "number"
    if all(isinstance(cell, bool) for cell in there):
        return "flag"
    return "time" if all(isinstance(cell, TIMES) for cell in there) else "text"


def numbers_of(cells: Sequence[Any], decimal: str) -> Array:
    """(m,) float64, or the cells as they are if one of them is neither a number nor missing."""
    numbers = np.empty(len(cells))
    for i, cell in enumerate(cells):
        if isinstance(cell, str):
            text = cell.strip()
            if text in MISSING:
                numbers[i] = np.nan
            elif is_plain(text, decimal) or CODE.fullmatch(text):
                numbers[i] = float(text.replace(",", ".") if decimal == "," else text)
            else:
                return _objects(cells)
        elif cell is None or is_number(cell):
            numbers[i] = np.nan if cell is None else cell
        else:
            return _objects(cells)
    return numbers


def whole_of(cell: Any) -> int | None:
    """The whole number in a cell that is written as one, 0 where it is missing; None of all else."""
    if isinstance(cell, str):
        if WHOLE.fullmatch(cell):
            return int(cell)
        return 0 if cell.strip() in MISSING else None
    if isinstance(cell, float):  # as sheets have all numbers
        return 0 if cell != cell else int(cell) if cell.is_integer() else None
    return 0 if cell is None else cell if isinstance(cell, int) and not isinstance(cell, bool) else None


def whole_numbers(cells: Sequence[Any]) -> Array:
    """(m,) int64, masked where a cell is missing."""
    gone = [cell is None or cell != cell or (isinstance(cell, str) and cell.strip() in MISSING) for cell in cells]
    return np.ma.MaskedArray(np.array([whole_of(cell) for cell in cells], dtype=np.int64), gone)


def to_days(cells: Array) -> Array:
    """(m,) days, or moments to the microsecond; the cells as they are if there is something else among them."""
    there = [cell for cell in cells.tolist() if cell is not None and cell != ""]
    if not there or not all(isinstance(cell, datetime.date) for cell in there):
        return cells
    unit = "us" if any(isinstance(cell, datetime.datetime) for cell in there) else "D"
    return np.array([None if cell == "" else cell for cell in cells.tolist()], dtype=f"M8[{unit}]")


def _objects(cells: Sequence[Any]) -> Array:
    found = np.empty(len(cells), dtype=object)
    found[:] = [_stripped(cell) for cell in cells]
    return found


def _stripped(cell: Any) -> Any:
    """A cell without blanks around it; None where it stands for missing."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    return None if text in MISSING else text


def _say_totals(layout: Layout, row: Sequence[Any]) -> list[TableNote]:
    """That the last row seems to sum up the others."""
    for j, cell in enumerate(row):
        text = text_of(cell)
        if not text or is_numeric(text):
            continue
        if text.lower() not in TOTALS:
            return []
        name = layout.names[j] or f"x{j}"
        column = name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
        literal = text.replace("'", "''")
        said = Setting("where", f"{column} <> '{literal}'")
        pieces = (f"the last row is called '{text}' and is read like the others: ", said, " leaves it out.")
        return [TotalRow(name, text, *pieces)]
    return []
