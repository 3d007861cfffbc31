"""Columns that are no measurements: names of the rows, running numbers, class codes, numbers that stand for missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lowdim.errors import Setting, TableHint
from lowdim.types import Floats

if TYPE_CHECKING:
    from lowdim.sources.tables.cells import Cells

LONGEST_NAME = 60
"""Letters of a name of a row, at most; longer texts are remarks."""

LEAST_ROWS = 20
"""Rows from which on a column that counts them is no accident, whatever it is called."""

COUNTS = frozenset(
    ["id", "index", "idx", "nr", "no", "no.", "nr.", "number", "row", "rowid", "rownum", "obs", "#", "key"]
)
"""Names, in small letters, of columns that count rows."""

NUMBERS = frozenset(["id", "ids", "index", "idx", "nr", "no", "num", "number", "key", "rowid", "rownum"])
"""Last words, in small letters, of names of columns that number something."""

LEAST_RUN = 4
"""Rows from which on, on average, numbers that rise by one and begin anew are no accident."""

CODES = frozenset(
    [
        *("class", "label", "target", "kind", "species", "group", "cluster", "category", "type", "y", "batch", "site"),
        *("diagnosis", "sex", "gender", "treatment", "plate", "cohort", "variety", "cultivar"),
    ]
)
"""Names, in small letters, of columns whose whole numbers are codes of classes."""

MOST_CODES, LEAST_PER_CODE = 12, 3
"""Values of a class code, at most; rows that have each of them, on average, where the column's name tells nothing."""

STAND_INS = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0)
"""Numbers that often stand for missing …"""

FAR = 2.0
"""… where they lie farther from all others than these from each other, so many times."""


def is_distinct(cells: Cells) -> bool:
    """Whether no two texts are the same and none is missing."""
    return 1 < len(cells.counts) == cells.rows


def are_short(cells: Cells) -> bool:
    """Whether texts may be names, and are no remarks."""
    return max(map(len, cells.counts)) <= LONGEST_NAME


def notice_roles(names: Sequence[str], rows: Floats, whole: bool) -> list[TableHint]:
    """What columns of numbers (n, p) seem to be, of which rows were looked at; `whole` says that these are all."""
    n = len(rows)
    if n < 3:
        return []
    notes: list[TableHint] = []
    finite = np.isfinite(rows).all(axis=0)
    known = np.where(np.isfinite(rows), rows, 0.0)
    fractional = (known != np.round(known)).any(axis=0)
    counting = finite & (np.diff(rows, axis=0) == 1).all(axis=0)
    for j in np.flatnonzero(counting).tolist():
        if n >= LEAST_ROWS or names[j].strip().lower() in COUNTS:
            said = Setting("names", names[j])
            notes.append(
                TableHint(
                    names[j], f"{names[j]} counts the rows: ", said, " takes it for their names.", matters="first"
                )
            )
    running = finite & ~fractional & ~counting & (len(rows) >= LEAST_ROWS)
    for j in np.flatnonzero(running).tolist():
        why = _say_numbering(names[j], rows[:, j])
        running[j] = bool(why)
        if why:
            pieces = (f"{names[j]} {why}: ", Setting("drop", [names[j]]), " leaves it out.")
            notes.append(TableHint(names[j], *pieces, matters="first"))
    whole_numbers = np.flatnonzero(finite & ~fractional & ~counting & ~running).tolist()
    codes = {j: found for j in whole_numbers if (found := _find_codes(rows[:, j])) is not None}
    for j, (low, count) in codes.items():
        others = np.delete(fractional, j)
        alone = (
            len(codes) == 1 and count > 2 and len(others) > 1 and bool(others.all()) and n // count >= LEAST_PER_CODE
        )
        if alone or names[j].strip().lower() in CODES:
            values = f"{low:g} and {low + 1:g}" if count == 2 else f"{low:g} to {low + count - 1:g}"
            said = Setting("label", names[j])
            text = f"{names[j]} has {count} whole values, {values}: "
            notes.append(TableHint(names[j], text, said, " keeps it out of the fit.", matters="first"))
    return notes + _notice_stand_ins(names, rows, whole)


def _say_numbering(name: str, column: Floats) -> str:
    """Why whole numbers seem to number something instead of measuring it; empty where they do not."""
    begins = np.concatenate([[True], np.diff(column) != 1])
    again = int(begins.sum())
    if column[0] in (0, 1) and (column[begins] == column[0]).all() and len(column) >= LEAST_RUN * again:
        return f"counts rows, and begins anew {again - 1:,} times" if again > 2 else "counts rows, and begins anew once"
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    if words and words[-1].lower() in NUMBERS and len(np.unique(column)) > MOST_CODES:
        return "seems to number something, as its name says"
    return ""


def _find_codes(column: Floats) -> tuple[float, int] | None:
    """The lowest of whole numbers without gaps that begin at 0 or 1, and how many there are, if they are a few."""
    if column.min() not in (0, 1) or column.max() > MOST_CODES:
        return None
    values = np.unique(column)
    gaps = values[-1] - values[0] != len(values) - 1
    return None if gaps or not 2 <= len(values) <= len(column) // 2 else (float(values[0]), len(values))


def _notice_stand_ins(names: Sequence[str], rows: Floats, whole: bool) -> list[TableHint]:
    """Numbers that seem to stand for missing ones."""
    notes = []
    known = _fill(rows)
    ends = np.stack([np.nanmin(known, axis=0), np.nanmax(known, axis=0)])
    for j in np.flatnonzero(np.isin(ends, STAND_INS).any(axis=0)).tolist():
        column = rows[np.isfinite(rows[:, j]), j]
        for end in ends[:, j][np.isin(ends[:, j], STAND_INS)]:
            others, count = column[column != end], int((column == end).sum())
            if len(others) < 3 or count < 2 or not 0 < FAR * (others.max() - others.min()) < np.abs(others - end).min():
                continue
            some = f"{count:,} of {len(rows):,} cells" if whole else f"{count:,} of the first {len(rows):,} cells"
            said = Setting("missing", f"{end:g}")
            text = f"{names[j]} is {end:g} in {some}, far from all others: "
            notes.append(TableHint(names[j], text, said, " reads it as missing.", matters="first"))
    return notes


def _fill(rows: Floats) -> Floats:
    """Rows with NaN in place of infinite numbers, and zeros in columns that have no number at all."""
    known = np.where(np.isfinite(rows), rows, np.nan)
    return np.where(np.isnan(known).all(axis=0), 0.0, known)
