"""Cells of text files: numbers with the fewest digits that give them back, texts that stay texts.

What pyarrow makes faster (`arrow_lines.py`) is spelled here, too, with nothing but Python.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.views.files.columns import is_missing

FORMULA = "[ \ufeff]*[-=+@\t\r\n\0\uff1d\uff0b\uff0d\uff20]"
"""Beginnings that a spreadsheet may run: those of OWASP ASVS 1.2.10, their full-width forms, and spaces before them."""

SPECIAL = '[",;|\t\r\n]'
"""What a cell is quoted for: besides our own delimiters those that a spreadsheet in another country cuts at."""


@dataclass(frozen=True)
class Spelling:
    """How the cells of a kind of text file are written."""

    odd: str
    """Texts that cannot stand as they are: a regular expression, in words that RE2 has too …"""
    escape: Callable[[str], str]
    """… and what becomes of those. Others would come out unchanged."""
    missing: str = ""
    decimal: str = "."
    around_text: tuple[str, str] = ("", "")
    has_infinite: bool = True
    """Whether there is a word for infinite numbers."""


def spell_csv(raw: bool, alone: bool, separator: str, decimal: str) -> Spelling:
    """Of CSV; `alone` says that there is one column, whose empty cells would be empty lines, which readers skip."""
    special = SPECIAL[:-1] + re.escape(separator) + "]"

    def escape(text: str) -> str:
        told = text if raw else guarded(text)
        return '"' + told.replace('"', '""') + '"' if re.search(special, told) else told

    if alone:
        special += "|^$"
    return Spelling(special if raw else f"^{FORMULA}|{special}", escape, escape(""), decimal)


def spell_json() -> Spelling:
    """Of JSON, which has a word for what is missing, and none for infinite numbers."""

    def escape(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)[1:-1]

    return Spelling(r'["\\\x00-\x1f]', escape, "null", around_text=('"', '"'), has_infinite=False)


def spell_markdown(decimal: str) -> Spelling:
    """Of tables in GitHub's Markdown, where signs that are markup get a backslash, and lines are broken by a tag."""

    def escape(text: str) -> str:
        return re.sub(r"\r\n|[\r\n]", "<br>", re.sub(r"[\\`*|<\[]", r"\\\g<0>", text))

    return Spelling(r"[\\`*|<\[\r\n]", escape, "", decimal)


def guarded(text: str) -> str:
    """The same text, with ' before it if a spreadsheet might run it."""
    return f"'{text}" if re.match(FORMULA, text) else text


# Cells, column by column.


def cells_of(column: NDArray[Any], spelling: Spelling) -> list[str]:
    """The cells of a column (see `columns.as_column`)."""
    if column.dtype.kind == "O":
        return [_object_cell(value, spelling) for value in column.tolist()]
    if column.dtype.kind == "M":
        before, after = spelling.around_text
        cells = [before + cell + after for cell in time_cells(column)]
    else:
        cells = number_cells(column, spelling.decimal)
    for i in np.flatnonzero(is_missing(column)):
        cells[i] = spelling.missing
    return cells


def number_cells(column: NDArray[Any], decimal: str = ".") -> list[str]:
    """Numbers and flags, whatever stands for those that are missing."""
    values = column.data if isinstance(column, np.ma.MaskedArray) else column
    if values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    if values.dtype.kind in "iu":
        return list(map(str, values.tolist()))
    texts = map(str, values) if values.dtype.itemsize == 4 else map(repr, values.tolist())
    cells = [plain_digits(text) for text in texts]
    return cells if decimal == "." else [cell.replace(".", decimal) for cell in cells]


def plain_digits(text: str) -> str:
    """A number as Python or NumPy write it, but without a fraction of nothing, or an exponent from 1e-6 to 1e16."""
    mantissa, sign, power = text.partition("e")
    if not sign:
        return mantissa.removesuffix(".0")
    if -7 < int(power) < 16:
        return f"{Decimal(text):f}"
    return f"{mantissa.removesuffix('.0')}e{int(power):+d}"


def time_cells(column: NDArray[Any]) -> list[str]:
    """Times as ISO 8601 has them, without fractions of seconds that are nothing."""
    return [trimmed_time(text) for text in column.astype(str).tolist()]


def trimmed_time(text: str) -> str:
    """A time without zeros at the end of its seconds."""
    return re.sub(r"(\.\d*[1-9])0+$|\.0+$", r"\1", text)


def text_of(value: Any) -> str:
    """Anything that is no number as a text."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return plain_digits(repr(float(value)))
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)


def texts(column: NDArray[Any]) -> list[str | None]:
    """Texts of a column of texts or times; None for what is missing."""
    cells = time_cells(column) if column.dtype.kind == "M" else map(text_of, column.tolist())
    return [None if gone else cell for cell, gone in zip(cells, is_missing(column).tolist(), strict=True)]


def _object_cell(value: Any, spelling: Spelling) -> str:
    """A cell of a column of anything: numbers and flags among texts are told from them where the file can."""
    if is_missing(value):
        return spelling.missing
    if isinstance(value, str):
        before, after = spelling.around_text
        return before + spelling.escape(value) + after
    text = text_of(value)
    if isinstance(value, (bool, int, float, Decimal, np.number, np.bool_)) and (
        spelling.has_infinite or text[-1] != "f"
    ):
        return text.replace(".", spelling.decimal)
    before, after = spelling.around_text
    return before + spelling.escape(text) + after
