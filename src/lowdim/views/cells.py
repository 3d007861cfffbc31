"""Columns as cells of text files: numbers exactly, texts so that no spreadsheet takes them for formulas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMULA = re.compile("[ \ufeff]*[-=+@\t\r\n\0\uff1d\uff0b\uff0d\uff20]")
"""Beginnings that a spreadsheet may run: those of OWASP ASVS 1.2.10, their full-width forms, and spaces before them."""

SPECIAL = re.compile('[",;|\t\r\n]')
"""What a cell is quoted for: besides our own delimiters those that a spreadsheet in another country cuts at."""


def as_column(values: Any) -> NDArray[Any]:
    """A column as writers take it: real numbers as they are (flags as 0 and 1), everything else as objects."""
    column = np.asarray(values)
    if column.dtype.kind == "U" and column is not values:
        column = np.asarray(values, dtype=object)  # NumPy's own texts lose NULs at their end
    if column.dtype.kind == "b":
        return column.astype(np.uint8)
    if column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8):
        return column.astype(np.float32 if column.dtype.itemsize < 4 else np.float64)
    if column.dtype.kind in "fiu":
        return column.astype(column.dtype.newbyteorder("="), copy=False)
    if column.dtype.kind in "Mm":
        times = column.astype(str).astype(object)
        times[np.isnat(column)] = None
        return times
    return column.astype(object)


def is_text(column: NDArray[Any]) -> bool:
    """Whether `as_column` gave texts."""
    return column.dtype.kind == "O"


def number_cells(column: NDArray[Any], missing: str) -> list[str]:
    """The fewest digits that give each number back exactly, in its own precision; `missing` for NaN."""
    if column.dtype.kind != "f":
        return list(map(str, column.tolist()))
    cells = list(map(str, column)) if column.dtype.itemsize == 4 else list(map(repr, column.tolist()))
    for i in np.flatnonzero(np.isnan(column)):
        cells[i] = missing
    return cells


def texts(column: NDArray[Any]) -> list[str | None]:
    """Texts of a column of objects; None for what is missing (None or NaN)."""
    return [None if _is_missing(value) else str(value) for value in column]


def text_cells(column: NDArray[Any], missing: str, raw: bool) -> list[str]:
    """Cells of a CSV file for texts: guarded against formulas unless `raw`, quoted where they must be."""
    return [
        missing if _is_missing(value) else quoted(guarded(value) if isinstance(value, str) and not raw else str(value))
        for value in column
    ]


def guarded(text: str) -> str:
    """The same text, with ' before it if a spreadsheet might run it."""
    return f"'{text}" if FORMULA.match(text) else text


def quoted(text: str) -> str:
    """The same text as one cell of a CSV file."""
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text


def _is_missing(value: Any) -> bool:
    # NaN and pandas' own marks are told by what they print, as pandas.NA cannot be compared
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>"))
