"""Columns of texts that hold numbers, flags or times: what they are is judged, said, and read (`TextColumnsReader`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, Piece, Setting, TableHint, TableNote
from lowdim.sources.columns import NUMERIC, Column, Kind
from lowdim.sources.tables.cells import (
    BEGINS_WITH_NUMBER,
    CODE,
    FLAGS,
    INFINITE,
    LIST,
    MISSING,
    TIME,
    Cells,
    Marks,
    Reading,
    Written,
    find_marks,
    is_number,
    take_apart,
    text_of,
)
from lowdim.sources.tables.roles import are_short, is_distinct
from lowdim.sources.tables.table import TableReader, to_flags, to_floats
from lowdim.sources.unchanged import stamps
from lowdim.types import Array, Floats
from lowdim.words import listed, plural

SAMPLE_CELLS = 2**22
"""Cells of a table from which it is told what its columns are, at most …"""

SAMPLE_ROWS = 4096
"""… and rows."""

LEAST_NUMBERS = 0.5
"""Share of a column's cells that are numbers, from which on it is told which of the others stand in the way."""

LEAST_ALIKE = 0.9
"""Share of its cells that begin with a number, or are lists, from which on this is said of a text column."""

MOST_UNITS = 3
"""Units that are told apart; more are words that follow numbers, as in addresses."""

MOST_NAMED = 4
"""Cells that are named in a note."""


@dataclass(frozen=True)
class Found:
    """What the texts of a column are."""

    kind: Kind
    reading: Reading | None = None
    why: str = ""
    """What the column is said to hold, where that is not its kind."""
    notes: tuple[TableNote, ...] = ()
    distinct: int = 0
    """How many rows it tells apart, if no two texts are the same."""
    codes: bool = False
    """Whether they are digits alone, and some begin with zeros."""


# What a column is.


def judge(
    name: str, cells: Cells, decimal: str = ".", words: frozenset[str] = frozenset(), whole: bool = True
) -> Found:
    """What the texts of a column are, and what must be said of it; `whole` says that these are all rows."""
    counts, plain = cells.counts, Reading(words=words)
    texts = sum(counts.values())
    filled = texts + cells.numbers
    if not filled:
        return Found("empty") if whole else Found("number", plain)
    rest = [cell for cell in counts if cell not in words]
    known = [cell for cell in counts if plain.limit_of(cell) is not None]
    if rest and not cells.numbers and all(cell.lower() in FLAGS for cell in rest):
        return Found("flag", replace(plain, flags=True), "", _missing_notes(name, known, cells, plain, whole))
    if rest and not cells.numbers and all(TIME.fullmatch(cell) for cell in rest):
        return Found("time")
    parts = {cell: take_apart(cell) for cell in counts if cell not in known and cell.lower() not in INFINITE}
    written = {cell: one for cell, one in parts.items() if one is not None}
    marks = find_marks([one.digits for one in written.values()], [counts[cell] for cell in written], decimal)
    written = {cell: one for cell, one in written.items() if marks.fits(one.digits)}
    numbers = cells.numbers + sum(counts[cell] for cell in written)
    numbers += sum(counts[cell] for cell in counts if cell.lower() in INFINITE)
    units = Counter[str]()
    for cell, one in written.items():
        if one.unit:
            units[one.unit] += counts[cell]
    strays = [cell for cell in parts if cell not in written]
    maybe = filled - sum(counts[cell] for cell in known)
    if not numbers or len(units) > MOST_UNITS or numbers < LEAST_NUMBERS * maybe:
        return _judge_words(name, cells, filled)
    if strays:
        return _strays(name, strays, cells, numbers, whole)
    if len(units) > 1:
        return _units_differ(name, units)
    reading = Reading(marks, next(iter(units), ""), words)
    notes = [*_missing_notes(name, known, cells, reading, whole), *_mark_notes(name, written, marks, decimal)]
    notes += _unit_notes(name, written, counts, units, cells.numbers)
    notes += code_notes(name, written)
    codes = bool(counts) and not known and all(cell.isdecimal() for cell in counts) and any(map(CODE.fullmatch, counts))
    return Found("number", reading, "", tuple(notes), codes=codes)


def _judge_words(name: str, cells: Cells, filled: int) -> Found:
    """What texts are that hold no numbers."""
    counts = cells.counts
    if sum(count for cell, count in counts.items() if BEGINS_WITH_NUMBER.match(cell)) >= LEAST_ALIKE * filled:
        return _left_out(
            name,
            cells,
            next(cell for cell in counts if BEGINS_WITH_NUMBER.match(cell)),
            "text that begins with numbers",
            "begin with numbers, but go on",
            "write numbers alone to have them read",
        )
    if sum(count for cell, count in counts.items() if LIST.fullmatch(cell)) >= LEAST_ALIKE * filled:
        return _left_out(
            name,
            cells,
            next(cell for cell in counts if LIST.fullmatch(cell)),
            "lists written as text",
            "are lists written as text",
            "write them as lists, in Parquet or JSON, to have each entry read as a column",
        )
    if is_distinct(cells):
        return Found("text", why="" if are_short(cells) else "text, different in every row", distinct=cells.rows)
    return Found("text")


def code_notes(name: str, cells: Iterable[str]) -> list[TableNote]:
    """That numbers begin with a zero, and may be codes."""
    code = next((cell for cell in cells if CODE.fullmatch(cell)), None)
    if code is None:
        return []
    said = f"{name}: {quoted(code)} begins with a zero, as codes do: "
    return [TableHint(name, said, Setting("drop", [name]), " leaves the column out.")]


# What is said of a column.


def quoted(cell: str) -> str:
    """A cell as notes name it."""
    return f"'{cell if len(cell) <= 40 else cell[:39] + '…'}'"


def count_cells(count: int, rows: int, whole: bool) -> str:
    """So many of the cells, as notes count them."""
    return f"{count:,} of {plural(rows, 'cell')}" if whole else f"{count:,} of the first {rows:,} cells"


def _missing_notes(
    name: str, known: Iterable[str], cells: Cells, reading: Reading, whole: bool
) -> tuple[TableNote, ...]:
    """That cells which held something are read as missing."""
    found = {cell: cells.counts[cell] for cell in known}
    return (told_as_missing(name, found, cells.rows, reading, whole),) if found else ()


def told_as_missing(name: str, found: Mapping[str, int], rows: int, reading: Reading, whole: bool = True) -> TableNote:
    """The note that so many cells of a column, of so many rows, are read as missing."""
    said = []
    for side, why in (("below", " (below a limit)"), ("above", " (above a limit)"), ("", "")):
        cells = [cell for cell in found if reading.limit_of(cell) == side or (not side and cell in reading.words)]
        cells.sort(key=lambda cell: -found[cell])
        if not cells:
            continue
        named = [quoted(cell) + (f" ({found[cell]:,} times)" if found[cell] > 1 else "") for cell in cells]
        more = [f"{len(cells) - MOST_NAMED} others"] if len(cells) > MOST_NAMED else []
        said.append(", ".join([*named[:MOST_NAMED], *more]) + why)
    count = sum(found.values())
    are = "is" if count == 1 else "are"
    return TableNote(name, f"{name}: {count_cells(count, rows, whole)} {are} read as missing: {', '.join(said)}.")


SIGNS = {",": "comma", ".": "point", "'": "apostrophe", "’": "apostrophe"}


def _mark_notes(name: str, written: Mapping[str, Written], marks: Marks, decimal: str) -> list[TableNote]:
    """What the comma, the point, a blank, brackets were taken for."""
    notes: list[TableNote] = []

    def say(text: str, decides: bool = False) -> None:
        notes.append(TableNote(name, f"{name}: {text}.", matters="" if decides else "last"))

    def first(test: Any) -> str | None:
        return next((cell for cell, one in written.items() if test(one)), None)

    groups = first(lambda one: any(sign in one.digits for sign in marks.thousands))
    points = first(lambda one: marks.decimal in one.digits)
    between = next((sign for sign in marks.thousands if groups and sign in written[groups].digits), "")
    if points is not None and marks.decimal != decimal:
        more = f", the {SIGNS.get(between, 'blank')} as a separator of thousands" if between else ""
        say(f"the {SIGNS[marks.decimal]} in {quoted(points)} is read as a decimal mark{more}", decides=True)
    elif groups is not None:
        say(f"the {SIGNS.get(between, 'blank')} in {quoted(groups)} is read as a separator of thousands")
    bracketed, typeset = first(lambda one: one.bracketed), first(lambda one: one.typeset)
    if bracketed is not None:
        say(f"brackets are read as a minus sign, as in {quoted(bracketed)}")
    if typeset is not None:
        say(f"'−' is read as a minus sign, as in {quoted(typeset)}")
    guarded = first(lambda one: one.quoted)
    if guarded is not None:
        say(f"the sign ' before {quoted(guarded[1:])} is taken off")
    return notes


def _unit_notes(
    name: str, written: Mapping[str, Written], counts: Mapping[str, int], units: Counter[str], numbers: int
) -> list[TableNote]:
    if not units:
        return []
    unit = next(iter(units))
    example = next(cell for cell, one in written.items() if one.unit)
    total = numbers + sum(counts[cell] for cell in written)
    bare = total - units[unit]
    more = f"; {bare:,} of {total:,} cells {'has' if bare == 1 else 'have'} none" if bare else ""
    return [
        TableNote(name, f"{name}: the unit {quoted(unit)} is taken off, as in {quoted(example)}{more}.", matters="last")
    ]


def _units_differ(name: str, units: Counter[str]) -> Found:
    said = listed([f"{quoted(unit)} ({plural(count, 'cell')})" for unit, count in units.items()])
    text = f"{name} is left out: its numbers have different units, {said}; write them in one unit to have it read."
    note = TableNote(name, text, matters="first")
    return Found("text", None, f"numbers in {len(units)} units", (note,))


def _left_out(name: str, cells: Cells, cell: str, why: str, what: str, remedy: str) -> Found:
    text = f"{name} is left out: its cells {what}, as {quoted(cell)} (row {cells.first[cell]:,}); {remedy}."
    return Found("text", None, why, (TableNote(name, text, matters="first"),))


def _strays(name: str, strays: Sequence[str], cells: Cells, numbers: int, whole: bool) -> Found:
    """That a few cells keep a column of numbers from being read, which they are, and what would do."""
    count = sum(cells.counts[cell] for cell in strays)
    places = []
    for cell in strays[:MOST_NAMED]:
        often = cells.counts[cell]
        times = f"{often:,} times, first in row" if often > 1 else "row"
        places.append(f"{quoted(cell)} ({times} {cells.first[cell]:,})")
    more = [f"{len(strays) - MOST_NAMED} others"] if len(strays) > MOST_NAMED else []
    those = count_cells(numbers, cells.rows, whole)
    pieces: list[Piece] = [f"{name} is left out: {those} are numbers, but not {listed([*places, *more])}; "]
    if len(strays) <= MOST_NAMED:
        them = "it" if count == 1 else "them"
        pieces += [Setting("missing", ",".join(strays)), f" reads {them} as missing."]
    else:
        pieces += ["mend them, or name them all with ", Setting("missing"), "."]
    return Found("text", None, f"numbers but for {plural(count, 'cell')}", (TableNote(name, *pieces, matters="first"),))


# A table whose texts are read so.


@final
class TextColumnsReader(TableReader):
    """The table of another reader, with the columns of text that hold numbers, flags or times read as such."""

    def __init__(self, reader: TableReader, missing: Sequence[str] = (), files: Sequence[Path] = ()):
        self._reader = reader
        self._stamps = () if reader.held else stamps(files)
        """Of the files that are read each time the rows are."""
        self.name, self.n_rows, self.repeatable = reader.name, reader.n_rows, reader.repeatable
        self.likely_rows = reader.likely_rows
        self.size, self.decimal, self.surprises = reader.size, reader.decimal, reader.surprises
        self.marks, self.blocks_beside = reader.marks, reader.blocks_beside
        self._words = frozenset(word.strip() for word in missing)
        self._gone = np.array([float(word) for word in self._words if _is_a_number(word)])
        """Numbers that stand for missing."""
        self._plain = Reading(Marks(reader.decimal), words=self._words)
        self._told: dict[str, tuple[Counter[str], int]] = {}
        """Column → cells that held something and were read as missing in the last whole pass, and its rows."""
        texts = [column.name for column in reader.columns if column.kind == "text" and not column.unnamed]
        seen, self._whole = self._look(texts)
        self._found = {
            name: judge(name, cells, reader.decimal, self._words, self._whole) for name, cells in seen.items()
        }
        self.columns = tuple(self._judged(column) for column in reader.columns)
        if self._whole and len(self._gone):
            self._count_numbers()

    @property
    def notes(self) -> tuple[TableNote, ...]:
        """What is said of the table, exactly where all rows were read."""
        notes = list(self._reader.notes)
        for column in self.columns:
            found = self._found.get(column.name, Found("number"))
            counted = self._told.get(column.name)
            if counted is not None and counted[0]:
                notes.append(told_as_missing(column.name, *counted, found.reading or self._plain))
            notes += [note for note in found.notes if counted is None or "read as missing" not in str(note)]
        return tuple(notes)

    @property
    def reads_texts(self) -> bool:
        """Whether texts, or numbers that stand for missing, are read as others than they are."""
        return bool(len(self._gone)) or any(found.reading is not None for found in self._found.values())

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """The columns of the other reader, texts that are numbers as numbers."""
        changed = self.surprises or len(self._gone) or any(self._reading_of(name) for name in names)
        batches = self._of_same_files(self._reader.batches(names, rows))
        yield from self._read_all(batches, names, self._read) if changed else batches

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The columns of the other reader as they stand in the file, texts that are numbers or flags as such."""
        batches = self._of_same_files(self._reader.stored(names, rows))
        return self._read_all(batches, names, self._read_stored)

    def reading_bytes(self, names: list[str]) -> int:
        """As the other reader."""
        return self._reader.reading_bytes(names)

    def _of_same_files(self, batches: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The batches, unless the files were changed before or meanwhile."""
        for stamp in self._stamps:
            stamp.refuse_other()
        yield from batches
        for stamp in self._stamps:
            stamp.refuse_other()

    def _read_all(
        self, batches: Iterator[Mapping[str, Any]], names: Sequence[str], read: Callable[..., Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Columns of numbers and flags as they are read, and how many cells became missing."""
        numeric = {column.name for column in self.columns if column.kind in NUMERIC}
        told: dict[str, Counter[str]] = {name: Counter() for name in names if name in numeric}
        start = 0
        for batch in batches:
            yield {
                name: read(name, batch[name], told[name], start) if name in numeric else batch[name] for name in names
            }
            start += len(batch[names[0]])
        self._told |= {name: (counts, start) for name, counts in told.items()}

    def _read_stored(self, name: str, values: Any, told: Counter[str], start: int) -> Any:
        """(m,) a column as it stands in the file, unless it holds texts, or numbers that stand for missing.

        Codes stay texts: their zeros are part of them.
        """
        if name in self._found and self._found[name].codes and not len(self._gone):
            return values
        if not isinstance(values, np.ndarray):
            if "string" not in str(values.type):
                return self._without_gone(to_floats(values), told) if len(self._gone) else values
            values = values.to_numpy(zero_copy_only=False)
        if values.dtype != object:
            return self._without_gone(to_floats(values), told) if len(self._gone) else values
        numbers = self._read(name, values, told, start)
        reading = self._reading_of(name)
        return to_flags(numbers) if reading is not None and reading.flags else numbers

    def _look(self, names: list[str]) -> tuple[dict[str, Cells], bool]:
        """The texts of the first rows, and whether these are all rows."""
        seen = {name: Cells() for name in names}
        some = max(50, min(SAMPLE_ROWS, SAMPLE_CELLS // max(1, len(names))))
        if not names:
            return seen, self._reader.n_rows is not None and self._reader.n_rows <= some
        first, whole = self._reader.first_rows(names, some)
        for name, cells in first.items():
            seen[name].add(cells.tolist())
        return seen, whole

    def _judged(self, column: Column) -> Column:
        found = self._found.get(column.name)
        return column if found is None else replace(column, kind=found.kind, why=found.why, distinct=found.distinct)

    def _reading_of(self, name: str) -> Reading | None:
        found = self._found.get(name)
        return None if found is None else found.reading

    def _count_numbers(self) -> None:
        """Count, in a table that is small, the numbers that stand for missing."""
        names = [column.name for column in self.columns if column.kind == "number"]
        for _ in self.batches(names, SAMPLE_ROWS) if names else ():
            pass

    def _read(self, name: str, values: Array, told: Counter[str], start: int) -> Array:
        """(m,) the numbers of a column; cells that become missing are counted."""
        if values.dtype != object:
            return self._without_gone(values, told)
        reading = self._reading_of(name) or self._plain
        known: dict[str, float] = {}
        numbers = np.empty(len(values))
        for i, value in enumerate(values.tolist()):
            if is_number(value):
                numbers[i] = value
                continue
            cell = text_of(value)
            number = known.get(cell)
            if number is None:
                number = reading.value_of(cell)
                if number is None:
                    raise self._stray(name, cell, start + i + 1)
                known[cell] = number
            numbers[i] = number
            if number != number and cell not in MISSING:
                told[cell] += 1
        return self._without_gone(numbers, told)

    def _without_gone(self, values: Array, told: Counter[str]) -> Array:
        """The same without the numbers that stand for missing."""
        gone = np.isin(values, self._gone) if len(self._gone) else None
        if gone is None or not gone.any():
            return values
        for number, count in zip(*np.unique(values[gone], return_counts=True), strict=True):
            word = next(word for word in sorted(self._words) if _is_a_number(word) and float(word) == number)
            told[word] += int(count)
        kept: Floats = np.where(gone, np.nan, values)
        return kept

    def _stray(self, name: str, cell: str, row: int) -> BadFile:
        return BadFile(
            f"{self.name}: {name} is {quoted(cell)} in row {row:,}, where numbers are needed; ",
            Setting("missing", cell),
            " reads it as missing, ",
            Setting("drop", [name]),
            " leaves the column out.",
        )


def _is_a_number(word: str) -> bool:
    """Whether a word is that of a number, infinite ones too."""
    try:
        return not math.isnan(float(word))
    except ValueError:
        return False
