"""JSON: one record a line, or a document that is a list of records, a list of rows, or columns by their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from lowdim.errors import BadFile, Setting, TableNote
from lowdim.sources.columns import Column
from lowdim.sources.formats.packed import likely_bytes, open_bytes, unpacking_errors
from lowdim.sources.formats.text_tables import first_bytes, read_up_to
from lowdim.sources.tables.cells import is_number
from lowdim.sources.tables.rows import detect_kind, numbers_of
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

MIN_TEXT_BLOCK = 2**20
"""Bytes of text that are parsed at a time, if lines are short."""

BLOCKS_READ_AHEAD = 40
"""Blocks of text that Arrow holds: it reads up to 32 of them ahead, and has some parsed."""

MAX_DOCUMENT_BYTES = 2**30
"""Bytes of a document, at most: it is read whole, and takes ten times its size."""

MIN_CELLS, CELLS_PER_BYTE = 2**22, 8
"""Cells of a table whose records have few of its keys: so many are made, and beyond them so many for each byte."""

MAX_DEPTH = 100
"""Records within records that are taken apart."""

Step = str | int
Records = Callable[[], Iterator[Any]]
"""Gives records from the first one on: mappings, or rows that are lists."""


def open_json(path: Path, member: str | None = None) -> TableReader:
    """The table in a JSON file, whatever it is called: lines, or a document."""

    def opened() -> IO[bytes]:
        return open_bytes(path, member)

    sample, whole = first_bytes(path, opened)
    text = sample.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text:
        raise BadFile(f"{path}: empty; a list of records, or a record a line, is needed.")
    lines = sample.splitlines()
    there = [line.removeprefix(b"\xef\xbb\xbf").strip() for line in lines if line.strip()]
    if len(there) > 1 and (_is_json(there[0]) or all(line[:1] == b"{" for line in there[:2])):
        return _open_lines(path, opened, lines, whole)
    records, notes = _open_document(path, opened)
    return RecordsReader(path, lambda: iter(records), records, whole=True, notes=notes)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _open_lines(path: Path, opened: Callable[[], IO[bytes]], lines: Sequence[bytes], whole: bool) -> TableReader:
    def records() -> Iterator[Any]:
        with unpacking_errors(path), opened() as file:
            yield from _parse_lines(path, file)

    first = list(_parse_lines(path, lines if whole else lines[:-1]))
    careful = RecordsReader(path, (lambda: iter(first)) if whole else records, first, whole=whole)
    careful.likely_rows = None if whole else likely_bytes(path) * len(lines) // sum(map(len, lines))
    if whole or not careful.is_regular:
        return careful
    if not find_spec("pyarrow"):  # which makes it faster
        return careful
    return JsonLinesReader(path, opened, careful, max(map(len, lines)))


def _parse_lines(path: Path, lines: Iterable[bytes]) -> Iterator[Any]:
    """What each line says; all must be records, or all rows."""
    kind: type | None = None
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{path}: line {number:,} is not JSON ({_why(error)}); mend it, or leave it out.") from error
        if kind is None:
            kind = list if isinstance(record, list) else dict
        if not isinstance(record, kind):
            raise BadFile(
                f"{path}: line {number:,} is {_called(record)}, but a record is needed, as in the lines above."
            )
        yield record


def _why(error: Exception) -> str:
    """What is wrong with a text that should be JSON."""
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is not UTF-8; convert it first, as iconv -f cp1252 -t utf-8 does"
    if isinstance(error, json.JSONDecodeError):
        line = f"line {error.lineno:,}, " if error.lineno > 1 else ""
        return f"{error.msg.lower()} at {line}character {error.colno:,}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _open_document(path: Path, opened: Callable[[], IO[bytes]]) -> tuple[list[Any], list[TableNote]]:
    """The records of a document."""
    with unpacking_errors(path), opened() as file:
        data = read_up_to(file, MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise BadFile(
            f"{path}: a JSON document of more than {MAX_DOCUMENT_BYTES:,} bytes; write one record a line (.jsonl), as "
            "jq -c .[] does, or Parquet."
        )
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not JSON ({_why(error)}); check what wrote it.") from error
    return _find_records(document, path)


def _find_records(document: Any, path: Path) -> tuple[list[Any], list[TableNote]]:
    """Records in a list, as columns, or under a name."""
    notes: list[TableNote] = []
    if isinstance(document, dict):
        columns = document
        if columns and all(isinstance(column, dict) for column in columns.values()):  # as pandas writes a frame
            keys = list(dict.fromkeys(key for column in columns.values() for key in column))
            refuse_sparse(str(path), len(keys) * len(columns), likely_bytes(path))
            return [{name: column.get(key) for name, column in columns.items()} for key in keys], notes
        sizes = {len(column) for column in columns.values() if isinstance(column, list)}
        lists = bool(columns) and len(sizes) == 1 and all(isinstance(column, list) for column in columns.values())
        if lists and not _is_record_list(next(iter(columns.values()))):
            return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], notes
        under = [name for name, value in columns.items() if _is_record_list(value)]
        if len(under) == 1:
            notes.append(TableNote("", f"the list of records under {under[0]!r} is read."))
            return columns[under[0]], notes
        return [columns], notes
    if not isinstance(document, list):
        raise BadFile(f"{path}: holds {_called(document)}, but a list of records is needed.")
    if document and all(not isinstance(one, (dict, list)) for one in document):
        return [[one] for one in document], notes
    kinds = {dict if isinstance(one, dict) else list if isinstance(one, list) else None for one in document}
    if len(kinds) > 1 or None in kinds:
        odd = next(i for i, one in enumerate(document) if not isinstance(one, type(document[0])))
        raise BadFile(f"{path}: entry {odd + 1:,} is {_called(document[odd])}, but a record is needed, as before it.")
    return document, notes


def _is_record_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _called(value: Any) -> str:
    kinds: tuple[tuple[type, str], ...] = ((bool, "true or false"), (int, "a number"), (float, "a number"))
    kinds += ((str, "a text"), (list, "a list"), (dict, "a record"), (type(None), "null"))
    return next(called for kind, called in kinds if isinstance(value, kind))


# Records as columns.


@final
class RecordsReader(TableReader):
    """A table of records, which `opened` gives from the first one on as often as it is called."""

    def __init__(
        self, path: Path, opened: Records, sample: Sequence[Any], *, whole: bool, notes: Sequence[TableNote] = ()
    ):
        self.name, self._bytes = str(path), likely_bytes(path)
        self.size = self._bytes
        self._opened, self._whole = opened, whole
        self._notes = list(notes)
        self._late: dict[str, int] = {}
        """Key that the first records have not → the first row that has it."""
        if not sample:
            raise BadFile(f"{path}: has no records; at least one is needed.")
        self.n_rows = len(sample) if whole else None
        self.surprises = not whole
        self._ways: dict[str, tuple[Step, ...]] = {}
        self._lengths: dict[tuple[Step, ...], int] = {}
        self._cells = 0
        columns: list[Column] = []
        for key in self._keys(sample):
            name = key if isinstance(key, str) else f"x{key}"
            columns += self._take_apart(name, (key,), [_entry(record, key) for record in sample])
        self.columns = tuple(columns)
        self._tops = {way[0] for way in self._ways.values()}

    @property
    def notes(self) -> Sequence[TableNote]:
        """What was guessed, and which keys came too late."""
        late = [
            f"{key!r} is left out: it is first there in row {row:,}, after columns were told."
            for key, row in self._late.items()
        ]
        return (*self._notes, *(TableNote("", text, matters="first") for text in late))

    @property
    def is_regular(self) -> bool:
        """Whether a reader of columns of one type each can read it."""
        return all(len(way) == 1 and isinstance(way[0], str) for way in self._ways.values()) and all(
            column.kind in ("number", "flag", "text") and not column.why for column in self.columns
        )

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Read record by record."""
        return self.columns_of(self._opened(), names, rows, 0)

    def columns_of(self, records: Iterator[Any], names: list[str], rows: int, start: int) -> Iterator[dict[str, Array]]:
        """These columns of records, the first of which has this number."""
        kinds = {column.name: column.kind for column in self.columns}
        while some := list(islice(records, rows)):
            self._look_for_late(some, start)
            found = {}
            for name in names:
                cells = [self._follow(record, self._ways[name], start + i) for i, record in enumerate(some)]
                found[name] = _to_array(cells, kinds[name])
            yield found
            start += len(some)

    def after(self, rows: int) -> Iterator[Any]:
        """Records from a later one on."""
        return islice(self._opened(), rows, None)

    def _keys(self, sample: Sequence[Any]) -> list[Any]:
        """Keys of all records, in the order in which they come; places of rows."""
        if isinstance(sample[0], dict):
            keys = list(dict.fromkeys(key for record in sample for key in record))
        else:
            keys = list(range(max(map(len, sample))))
        refuse_sparse(self.name, len(keys) * len(sample), self._bytes)
        return keys

    def _take_apart(self, name: str, way: tuple[Step, ...], values: Sequence[Any]) -> list[Column]:
        """The columns that an entry of the records becomes."""
        self._cells += len(values)
        refuse_sparse(self.name, self._cells, self._bytes)
        there = [value for value in values if value is not None]
        if len(way) > MAX_DEPTH:
            self._ways[name] = way
            return [Column(name, "other", why=f"nested more than {MAX_DEPTH} times")]
        if there and all(isinstance(value, dict) for value in there):
            keys = dict.fromkeys(key for value in there for key in value)
            refuse_sparse(self.name, self._cells + len(keys) * len(values), self._bytes)
            inner = [(key, [None if value is None else value.get(key) for value in values]) for key in keys]
            return [column for key, one in inner for column in self._take_apart(f"{name}.{key}", (*way, key), one)]
        self._ways[name] = way
        if there and all(isinstance(value, list) for value in there):
            return self._take_list_apart(name, way, values, there)
        if any(isinstance(value, (list, dict)) for value in there):
            return [Column(name, "other", why="lists or records among others")]
        kind = detect_kind([_cell(value) for value in values], ".", self._whole)
        return [Column(name, kind)]

    def _take_list_apart(
        self, name: str, way: tuple[Step, ...], values: Sequence[Any], there: Sequence[Any]
    ) -> list[Column]:
        entries = [entry for value in there for entry in value]
        numbers = all(entry is None or is_number(entry) or isinstance(entry, bool) for entry in entries)
        lengths: dict[int, int] = {}
        for i, value in enumerate(values):
            if value is not None:
                lengths.setdefault(len(value), i + 1)
        if not numbers or not entries:
            words = bool(entries) and all(isinstance(entry, str) for entry in entries)
            return [Column(name, "other", why=f"lists of {'words' if words else 'lists or records'}")]
        if len(lengths) > 1:
            said = [f"{length} (row {row:,})" for length, row in list(lengths.items())[:2]]
            text = f"{name} is left out: its lists have different lengths, {' and '.join(said)}."
            self._notes.append(TableNote(name, text, matters="first"))
            return [Column(name, "other", why="lists of different lengths")]
        del self._ways[name]
        length = self._lengths[way] = next(iter(lengths))
        self._ways |= {f"{name}.{j}": (*way, j) for j in range(length)}
        return [Column(f"{name}.{j}", "number") for j in range(length)]

    def _look_for_late(self, records: Sequence[Any], start: int) -> None:
        if self._whole or not isinstance(records[0], dict):
            return
        for i, record in enumerate(records):
            for key in record.keys() - self._tops:
                self._late.setdefault(key, start + i + 1)

    def _follow(self, record: Any, way: tuple[Step, ...], row: int) -> Any:
        """The value at the end of a way."""
        value = _entry(record, way[0])
        for place, step in enumerate(way[1:], 1):
            if value is None:
                return None
            if isinstance(step, int) and len(value) != self._lengths[way[:place]]:
                name = ".".join(map(str, way[:place]))
                raise BadFile(
                    f"{self.name}: {name} has {len(value)} entries in row {row + 1:,}, where others have "
                    f"{self._lengths[way[:place]]}; ",
                    Setting("drop", [one for one, other in self._ways.items() if other[:place] == way[:place]]),
                    " leaves it out.",
                )
            value = value[step] if isinstance(step, int) else value.get(step)
        return value


def refuse_sparse(where: str, cells: int, size: int) -> None:
    """Raise an error if records would make a table of far more cells than such a text has values."""
    if cells > max(MIN_CELLS, CELLS_PER_BYTE * size):
        raise BadFile(
            f"{where}: its records would make a table of {cells:,} cells and more, nearly all of them empty: each has "
            "other keys than the rest. Keys name columns; write what differs from record to record as a value."
        )


def _entry(record: Any, key: Any) -> Any:
    if isinstance(record, dict):
        return record.get(key)
    return record[key] if key < len(record) else None


def _cell(value: Any) -> Any:
    """A value as a cell: NaN is missing."""
    return None if value is None or value != value else value


def _to_array(cells: list[Any], kind: str) -> Array:
    if kind == "number":
        return numbers_of([_cell(cell) for cell in cells], ".")
    if kind == "flag" and all(cell is None or isinstance(cell, bool) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return found


@final
class JsonLinesReader(TableReader):
    """Many lines of records of one kind, read by Arrow; from a line on that it cannot read, a careful reader reads."""

    surprises = True

    def __init__(self, path: Path, opened: Callable[[], IO[bytes]], careful: RecordsReader, longest_line: int):
        self.name, self.size, self.n_rows = careful.name, careful.size, None
        self.likely_rows = careful.likely_rows
        self.columns = careful.columns
        self._path, self._opened, self._careful = path, opened, careful
        self._block = max(MIN_TEXT_BLOCK, 8 * longest_line)

    @property
    def notes(self) -> Sequence[TableNote]:
        """As the careful reader."""
        return self._careful.notes

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Parse the file from its start."""
        done = 0
        from lowdim.sources.formats.arrow_json import JsonRefused, read_json_lines

        kinds = {column.name: column.kind for column in self.columns}
        try:
            for batch in read_json_lines(self._path, self._opened, kinds, names, rows, self._block):
                yield batch
                done += len(batch[names[0]])
            return
        except JsonRefused:
            pass
        yield from self._careful.columns_of(self._careful.after(done), names, rows, done)

    def reading_bytes(self, names: list[str]) -> int:
        """Text being parsed, and the batches that Arrow has ready."""
        return BLOCKS_READ_AHEAD * self._block
