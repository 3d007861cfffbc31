"""Text tables: CSV, TSV and others. How they are written is told from their first lines.

Small and odd ones are read line by line, large ones by Arrow.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from lowdim.errors import BadFile, NeedsExtra
from lowdim.sources.formats.packed import MAX_LINE, likely_bytes, lines_of, open_bytes, unpacking_errors
from lowdim.sources.tables.cells import PLAIN
from lowdim.sources.tables.layout import Lines, find_layout
from lowdim.sources.tables.rows import Line, RowsReader
from lowdim.sources.tables.table import TableReader

SAMPLE_BYTES = 2**18
"""Bytes at the start of a text file from which its dialect is told; more if its lines are longer."""

READ_BYTES = 2**24
"""Bytes that are asked for at a time: room for them is taken before they are there."""

MAX_COLUMNS = 10**6
"""Columns of a text, at most: each takes some kilobytes, whatever stands in it."""


def open_text_table(path: Path, asked: Lines, expected: str = "", member: str | None = None) -> TableReader:
    """The table in a text file, or in a member of a zip archive; the ending of its name lets a separator expect."""
    name = str(path)

    def opened() -> IO[bytes]:
        return open_bytes(path, member)

    sample, whole = first_bytes(path, opened)
    _refuse_endless(name, sample)
    encoding = detect_encoding(sample, name)
    text = sample.decode(encoding, errors="ignore").removeprefix("\ufeff")
    if "\0" in text:
        raise BadFile(f"{name}: holds NUL bytes, so it is no text table; check what kind of file it is.")
    dialect = detect_dialect(text, name, encoding, expected)

    def lines() -> Iterator[Line]:
        return _read_lines(path, opened, dialect)

    if asked.part:
        first, whole = _cut_part(lines(), asked, name), True
    else:
        with _text_errors(path):
            first = list(dialect.lines(io.StringIO(text, newline=""), whole))
        if not whole and len(first) > 1:
            first.pop()  # it may be cut in the middle
    layout = find_layout([line.cells for line in first], asked, name)
    read = (lambda: first) if whole else lines
    size, separator, decimal = likely_bytes(path), dialect.separator, dialect.decimal
    careful = RowsReader(name, read, layout, first, whole=whole, decimal=decimal, size=size, separator=separator)
    careful.likely_rows = None if whole else size * len(first) // len(sample)
    if whole or dialect.separator == BLANKS or asked.comment:
        return careful
    try:
        from lowdim.sources.formats.arrow import CsvReader
    except NeedsExtra:  # which makes it faster
        return careful
    above = first[layout.start - 1].number if layout.start else 0
    return CsvReader(path, opened, dialect, layout, above, careful, max(map(len, sample.splitlines())))


def first_bytes(path: Path, opened: Callable[[], IO[bytes]]) -> tuple[bytes, bool]:
    """The first bytes of a text file, at least a few whole lines, and whether they are all of it."""
    with unpacking_errors(path), opened() as file:
        sample = read_up_to(file, SAMPLE_BYTES)
        ended = len(sample) < SAMPLE_BYTES
        while not ended and sample.count(b"\n") < 4 and len(sample) < MAX_LINE:
            more = read_up_to(file, 3 * len(sample))
            ended = len(more) < 3 * len(sample)
            sample += more
    return sample, ended


def _refuse_endless(name: str, sample: bytes) -> None:
    """Raise an error if a text has a line that is longer, or has more cells, than lines of tables have."""
    if len(sample) < MAX_COLUMNS:
        return
    first = sample.split(b"\n", 1)[0].split(b"\r", 1)[0]
    if len(first) >= MAX_LINE:
        raise BadFile(
            f"{name}: its first line has more than {MAX_LINE:,} bytes, so that it is no text table; check what it is."
        )
    cells = max(map(first.count, (b",", b"\t", b";", b"|"))) or first.count(b" ")
    if cells >= MAX_COLUMNS:
        raise BadFile(
            f"{name}: its first line has {cells + 1:,} cells, more than the {MAX_COLUMNS:,} columns that are read of a "
            "text; write columns as rows, or the numbers as .npy or Parquet."
        )


def read_up_to(file: IO[bytes], count: int) -> bytes:
    """So many bytes, or all that are left; a single `read` may give fewer."""
    parts: list[bytes] = []
    while count:
        part = file.read(min(count, READ_BYTES))  # a file says by its end alone how much it holds
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _read_lines(path: Path, opened: Callable[[], IO[bytes]], dialect: Dialect) -> Iterator[Line]:
    """All lines of a text file as cells."""
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with _text_errors(path), opened() as file, io.TextIOWrapper(file, encoding, newline="") as text:
        yield from dialect.lines(lines_of(path, text))


def _cut_part(lines: Iterator[Line], asked: Lines, name: str) -> list[Line]:
    """The lines of the part that was named, with the cells of it."""
    numbers: list[int] = []

    def cells() -> Iterator[list[str]]:
        for line in lines:
            numbers.append(line.number)
            yield list(line.cells)

    return [Line(numbers[i], row) for i, row in asked.cut(cells(), name)]


@contextmanager
def _text_errors(path: Path) -> Iterator[None]:
    with unpacking_errors(path):
        try:
            yield
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{path}: a text in it is not {error.encoding.upper()}, as its beginning is; convert it first, as "
                "iconv -f cp1252 -t utf-8 does."
            ) from error
        except csv.Error as error:
            raise BadFile(f"{path}: cannot be cut into cells: {error}; check the quotes in it.") from error


# How a text table is written: encoding, separator, decimal mark; and its lines as cells.

SEPARATORS = (",", "\t", ";", "|", " ")
"""Of two that cut as many lines alike the first is taken."""

BLANKS = "blanks"
"""In place of a separator: cells stand below each other, with one blank or several between them."""

HINT = re.compile(r"sep=(.)", re.IGNORECASE)
"""A first line that tells spreadsheets the separator."""

WORD = re.compile(r'"(?:[^"]|"")*"|\S+')

LOOKED_LINES = 100
"""Lines from which the separator is told."""

MAX_CELL = 2**27
"""Letters of a cell, at most; Python's own limit is smaller than the texts of some collections."""


@dataclass(frozen=True)
class Dialect:
    """How to read a text table."""

    encoding: str
    separator: str
    """One letter, or BLANKS."""
    decimal: str
    hint: bool = False
    """Whether the first line does nothing but name the separator, as spreadsheets want it."""

    def lines(self, text: Iterable[str], whole: bool = True) -> Iterator[Line]:
        """Lines of a text as cells; those within a cell count, too. `whole` says that it is not cut off at its end."""
        if self.separator == BLANKS:
            for number, line in enumerate(text, 1):
                yield Line(number, [_unquoted(word) for word in WORD.findall(line)])
            return
        csv.field_size_limit(MAX_CELL)
        lines, above = iter(text), 0
        if self.hint:
            above = 1
            yield Line(1, [next(lines).strip()])
        row: list[str] = []  # the lines of one row
        last: list[str] = []

        def each() -> Iterator[str]:
            for line in lines:
                row.append(line)
                yield line

        reader = csv.reader(each(), delimiter=self.separator, skipinitialspace=self.separator != " ")
        for cells in reader:
            last[:] = row
            row.clear()
            yield Line(reader.line_num + above, cells)
        text_of_last = self.separator + "".join(last)
        if whole and text_of_last.count('"') % 2 and f'{self.separator}"' in text_of_last:
            raise csv.Error(f"the quote that opens in line {reader.line_num + above - len(last) + 1:,} is never closed")


def detect_dialect(text: str, name: str, encoding: str, expected: str = "") -> Dialect:
    """Tell the dialect from the first lines of a file, of which the ending of its name lets one separator expect."""
    lines = [line for line in text.splitlines(keepends=True) if line.strip()]
    if not lines:
        raise BadFile(f"{name}: empty; a table with a header and at least one row is needed.")
    hint = HINT.fullmatch(lines[0].strip("\r\n\"' "))
    separator = hint[1] if hint is not None else _detect_separator(lines, expected)
    dialect = Dialect(encoding, separator, ".", hint is not None)
    rows = [line.cells for line in dialect.lines(lines, whole=False)]
    decimal = _detect_decimal(rows) if separator != "," else "."
    return replace(dialect, decimal=decimal)


def detect_encoding(sample: bytes, name: str) -> str:
    """UTF-8, UTF-16 with its mark, or Windows' Western one for what is not valid UTF-8."""
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # the last character may be cut
    except UnicodeDecodeError:
        if b"\0" in sample:
            raise BadFile(f"{name}: holds NUL bytes, so it is no text table; check what kind of file it is.") from None
        return "cp1252"
    return "utf-8"


def _detect_separator(lines: Sequence[str], expected: str) -> str:
    """The separator that cuts most lines into the same number of cells, at least two; of several most lines at all."""
    some = lines[:LOOKED_LINES]
    best, most = expected or ",", (0.0, 0.0)
    for separator in dict.fromkeys([*([expected] if expected else []), *SEPARATORS]):
        blanks = separator == " " and any("  " in line.strip() or line[:1] == " " for line in some)
        dialect = Dialect("", BLANKS if blanks else separator, ".")
        widths = [len(line.cells) for line in dialect.lines(some, whole=False)]
        several = [width for width in widths if width > 1]
        if not several:
            continue
        score = max(map(several.count, set(several))) / len(widths), len(several) / len(widths)
        if score > most:
            best, most = dialect.separator, score
    return best


def _detect_decimal(rows: Sequence[Sequence[str]]) -> str:
    cells = [cell for row in rows for cell in row]
    with_comma = sum("," in cell and PLAIN[","].fullmatch(cell) is not None for cell in cells)
    with_point = sum("." in cell and PLAIN["."].fullmatch(cell) is not None for cell in cells)
    return "," if with_comma > with_point else "."


def _unquoted(word: str) -> str:
    quotes = len(word) > 1 and word[0] == word[-1] == '"'
    return word[1:-1].replace('""', '"') if quotes else word
