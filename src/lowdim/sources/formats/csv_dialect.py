"""How a text table is written: its encoding, delimiter, decimal mark and header, told from its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lowdim.errors import BadFile

DELIMITERS = (",", "\t", ";", "|", " ")
"""Tried in this order; the first that cuts every line into the same number of cells, at least two, is taken."""

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "?", "#N/A", "-")
"""Cells that stand for a missing value."""

POINT = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|\s*[-+]?(inf|infinity)\s*", re.IGNORECASE)
COMMA = re.compile(r"\s*[-+]?(\d+(,\d*)?|,\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """How to read a text table."""

    encoding: str
    delimiter: str
    decimal: str
    header: bool
    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    """Whether each column holds numbers in the lines that were looked at."""


def detect_dialect(sample: bytes, whole: bool, name: str, delimiter: str | None = None) -> Dialect:
    """Tell the dialect from the first bytes of a file; `whole` says that they are all of it."""
    encoding = detect_encoding(sample, name)
    text = sample.decode(encoding, errors="ignore").removeprefix("\ufeff")
    if "\0" in text:
        raise BadFile(f"{name}: holds NUL bytes, so it is no text table; check what kind of file it is.")
    lines = text.splitlines(keepends=True)
    if not whole and len(lines) > 1:
        lines = lines[:-1]  # the last one may be cut in the middle
    lines = [line for line in lines if line.strip()][:200]
    if not lines:
        raise BadFile(f"{name}: empty; a table with a header and at least one row is needed.")
    delimiter = delimiter or _detect_delimiter(lines)
    rows = list(csv.reader(lines, delimiter=delimiter))
    decimal = _detect_decimal(rows, delimiter)
    header = _has_header(rows, decimal)
    width = len(rows[0])
    body = rows[1:] if header else rows
    names = tuple(_strip(rows[0])) if header else tuple(f"x{j}" for j in range(width))
    return Dialect(
        encoding, delimiter, decimal, header, names, tuple(_holds_numbers(body, j, decimal) for j in range(width))
    )


def detect_encoding(sample: bytes, name: str) -> str:
    """UTF-8, UTF-16 with its mark, or Windows' Western one for what is not valid UTF-8."""
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        sample[: len(sample) - 4].decode("utf-8")  # the last character may be cut
    except UnicodeDecodeError:
        if b"\0" in sample:
            raise BadFile(f"{name}: holds NUL bytes, so it is no text table; check what kind of file it is.") from None
        return "cp1252"
    return "utf-8"


def _detect_delimiter(lines: Sequence[str]) -> str:
    some = lines[:50]
    best, most = ",", 1
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(some, delimiter=delimiter)]
        if min(widths) == max(widths) > 1:
            return delimiter
        if max(widths, key=widths.count) > most:  # ragged: the reader will say in which row
            best, most = delimiter, max(widths, key=widths.count)
    return best


def _detect_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    with_comma = sum("," in cell and COMMA.fullmatch(cell) is not None for cell in cells)
    with_point = sum("." in cell and POINT.fullmatch(cell) is not None for cell in cells)
    return "," if with_comma > with_point else "."


def _is_number(cell: str, decimal: str) -> bool:
    return (COMMA if decimal == "," else POINT).fullmatch(cell) is not None


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """A first row without numbers is a header; so is one of texts over columns of numbers."""
    first = rows[0]
    numbers = [_is_number(cell, decimal) for cell in first]
    if not any(numbers):
        return True
    over = [
        _holds_numbers(rows[1:], j, decimal) and not numbers[j] and first[j].strip() not in MISSING
        for j in range(len(first))
    ]
    return any(over)


def _holds_numbers(rows: Sequence[Sequence[str]], j: int, decimal: str) -> bool:
    cells = [row[j] for row in rows if j < len(row) and row[j].strip() not in MISSING]
    return bool(cells) and all(_is_number(cell, decimal) for cell in cells)


def _strip(cells: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in cells]
