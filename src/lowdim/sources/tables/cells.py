"""Cells that are numbers as people write them: thousands, units, limits of detection, words for what is missing.

A column of texts is looked at as a whole, since one cell does not tell what its comma means: all of its numbers share
their marks and their unit. What is neither a number nor a known word for a missing one keeps a column from being read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "?", "#N/A", "-")
"""Cells that stand for a missing value in every column."""

MISSING_NUMBERS = frozenset(
    [
        *("n.d.", "nd", "n/d", "n.a.", "n.n.", "n.q.", "nq", "u.d.", "udl", "bdl", "bld", "bql", "blq", "lod", "loq"),
        *("not detected", "not determined", "not measured", "not available", "missing", "unknown", "no data", "trace"),
        *("traces", "tr.", ".", "..", "...", "--", "---", "*", "<na>", "nan", "na", "n/a", "none", "null", "#n/a"),
        *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#error!", "undetermined", "undefined", "nat"),
    ]
)
"""Words that stand for a missing number in a column that otherwise holds numbers, in small letters."""

TOO_LARGE = frozenset(["ovrflw", "overflow", "ovfl", "over", "sat", "saturated", "out of range", "too high"])
"""Words of instruments for what lies above what they measure, in small letters."""

BLANKS = "\u0020\u00a0\u2009\u202f"
APOSTROPHES = "'’"
INFINITE = frozenset(["inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"])

CELL = re.compile(
    rf"""(?P<quote>')?(?P<open>\()?\s*
    (?P<limit><=|>=|=<|=>|[<>≤≥])?\s*
    (?P<sign>[-+−])?\s*
    (?P<money>[$€£¥₹])?\s*
    (?P<body>[-+−]?(?:\d(?:[\d.,{APOSTROPHES}{BLANKS}]*\d)?[.,]?|[.,]\d+)(?:[eE][-+−]?\d+)?)\s*
    (?P<unit>[%‰°µμΩ€£$¥₹A-Za-z][^\s<>=±;:~"()]{{0,11}}(?:\ [A-Za-zµμ/][^\s\d()]{{0,8}})?)?\s*
    (?P<close>\))?""",
    re.VERBOSE,
)
"""A number as people write it: a limit, a sign, a currency, digits with marks, a unit, or all of it in brackets."""

PLAIN = {
    ".": re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|\s*[-+]?(inf|infinity)\s*", re.IGNORECASE),
    ",": re.compile(r"\s*[-+]?(\d+,?\d*|,\d+)([eE][-+]?\d+)?\s*|\s*[-+]?(inf|infinity)\s*", re.IGNORECASE),
}
"""Decimal mark → a number without anything else."""

CODE = re.compile(r"\s*0\d+\s*")
"""A number that begins with a zero, as codes do."""

WHOLE = re.compile(r"\s*[-+]?\d+\s*")
"""A whole number, written as one."""

LIMIT_WORD = re.compile(r"(?P<limit>[<>≤≥]=?)\s*(?:l?lo[dq]|ulo[dq]|m?dl|[mp]?ql|rl)\b.*", re.IGNORECASE)
"""A limit of detection or quantification by its name."""

BEGINS_WITH_NUMBER = re.compile(r"\s*[-+−]?\d[\d.,]*+(?!_)")
"""No name such as 1007_at does."""
LIST = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
FLAGS = {"true": 1.0, "false": 0.0}
TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(Z|[-+]\d{2}:?\d{2})?)?"
    r"|\d{4}/\d{1,2}/\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2})?)?|\d{1,2}\.\d{1,2}\.\d{4}( \d{1,2}:\d{2}(:\d{2})?)?"
    r"|\d{1,2}/\d{1,2}/\d{4}( \d{1,2}:\d{2}(:\d{2})?)?|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
)
"""A date, a moment or a time of day."""


@dataclass(frozen=True)
class Marks:
    """What separates decimals, and thousands."""

    decimal: str
    thousands: str = ""
    """The signs of which each may stand between groups of three digits."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A number without its sign and exponent."""
        point = re.escape(self.decimal)
        grouped = rf"[1-9]\d{{0,2}}(?:[{re.escape(self.thousands)}]\d{{3}})+(?:{point}\d*)?|" if self.thousands else ""
        return re.compile(rf"{grouped}\d+(?:{point}\d*)?|{point}\d+")

    def fits(self, digits: str) -> bool:
        """Whether this is a number with these marks."""
        return self.pattern.fullmatch(digits) is not None

    def plain(self, digits: str) -> str:
        """The number as programs write it."""
        for sign in self.thousands:
            digits = digits.replace(sign, "")
        return digits.replace(self.decimal, ".")


WAYS = [Marks(decimal, signs) for decimal, other in ((".", ","), (",", ".")) for signs in ("", other, BLANKS, "'’")]
"""Ways of writing numbers, plain ones first: a lone comma before three digits separates thousands."""


@dataclass(frozen=True)
class Written:
    """A cell that may be a number, taken apart."""

    limit: str
    """"below" or "above", where it says no more than that."""
    negative: bool
    digits: str
    exponent: str
    unit: str
    bracketed: bool
    typeset: bool
    """Whether its minus sign is that of typesetters."""
    quoted: bool
    """Whether the sign by which spreadsheets take a number for a text stands before it."""


def take_apart(cell: str) -> Written | None:
    """The parts of a number as people write it; None of what is none."""
    found = CELL.fullmatch(cell)
    if found is None or bool(found["open"]) != bool(found["close"]) or (found["money"] and found["unit"]):
        return None
    body = found["body"]
    signs = [sign for sign in (found["sign"], body[0] if body[0] in "-+−" else None) if sign]
    if len(signs) > 1:
        return None
    digits, _, exponent = body.lstrip("-+−").replace("E", "e").partition("e")
    return Written(
        _side(found["limit"]) if found["limit"] else "",
        (signs in (["-"], ["−"])) != bool(found["open"]),
        digits,
        exponent.replace("−", "-"),
        (found["money"] or found["unit"] or "").strip(),
        bool(found["open"]),
        "−" in cell,
        bool(found["quote"]),
    )


def is_plain(cell: str, decimal: str) -> bool:
    """Whether a cell is a number and nothing else; one with leading zeros is a code."""
    return PLAIN[decimal].fullmatch(cell) is not None and CODE.fullmatch(cell) is None


def is_numeric(cell: str) -> bool:
    """Whether a cell is a number as people write it, with a unit or not, or a limit."""
    text = cell.strip()
    return take_apart(text) is not None or LIMIT_WORD.fullmatch(text) is not None or text.lower() in INFINITE


def is_absent(cell: str) -> bool:
    """Whether a cell holds nothing, or a word for nothing."""
    text = cell.strip()
    return text in MISSING or text.lower() in MISSING_NUMBERS


def text_of(value: Any) -> str:
    """A cell of any type as text; the empty one for what is missing."""
    if isinstance(value, str):
        return value.strip()
    if value is None or value != value:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def is_number(value: Any) -> bool:
    """Whether a cell of any type is a number already."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _side(sign: str) -> str:
    return "below" if sign[0] in "<≤" or sign == "=<" else "above"


@dataclass(frozen=True)
class Reading:
    """How the texts of a column become numbers."""

    marks: Marks = Marks(".")
    unit: str = ""
    words: frozenset[str] = frozenset()
    """What stands for missing beside what is known to, as it was said."""
    flags: bool = False
    """Whether they are true and false."""

    def limit_of(self, cell: str) -> str | None:
        """Why a cell is missing: "below" or "above" a limit, "" for a word; None where it is not."""
        small = cell.lower()
        if cell in self.words or small in MISSING_NUMBERS:
            return ""
        if small in TOO_LARGE:
            return "above"
        word = LIMIT_WORD.fullmatch(cell)
        if word is not None:
            return _side(word["limit"])
        parts = take_apart(cell) if cell[:1] in "<>≤≥=('" else None
        return parts.limit if parts is not None and parts.limit else None

    def value_of(self, cell: str) -> float | None:
        """The number, NaN where it is missing; None of what is neither."""
        if self.marks.decimal == "." and PLAIN["."].fullmatch(cell):
            return math.nan if cell in self.words else float(cell)
        if cell in MISSING or self.limit_of(cell) is not None:
            return math.nan
        if self.flags:
            return FLAGS.get(cell.lower())
        if cell.lower() in INFINITE:
            return float(cell)
        parts = take_apart(cell)
        if parts is None or not self.marks.fits(parts.digits) or parts.unit not in ("", self.unit):
            return None
        value = float(f"{self.marks.plain(parts.digits)}e{parts.exponent or 0}")  # rounded once
        return -value if parts.negative else value


@dataclass
class Cells:
    """The different texts of a column: how often each is there, and where first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    numbers: int = 0
    """Cells that are no texts, but numbers."""

    def add(self, cells: Iterable[Any]) -> None:
        """Count more rows."""
        for value in cells:
            self.rows += 1
            if is_number(value):
                self.numbers += 1
                continue
            cell = text_of(value)
            if cell not in MISSING:
                self.counts[cell] += 1
                self.first.setdefault(cell, self.rows)


def find_marks(digits: Sequence[str], counts: Sequence[int], decimal: str) -> Marks:
    """The way of writing that all numbers have, or else most; the file's own first."""
    ways = sorted(WAYS, key=lambda way: way.decimal != decimal)
    fits = [sum(count for one, count in zip(digits, counts, strict=True) if way.fits(one)) for way in ways]
    return ways[fits.index(max(fits))]
