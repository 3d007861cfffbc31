"""What became of the columns and lines of a table that was read, below the title of every screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lowdim.views.text.lines import Line, listed, shortened, wrapped
from lowdim.words import plural

MOST_NOTES = 3
"""Notes that stand on a screen; `lowdim info` has all."""

MOST_FIRST = 6
"""The same of those that decide which rows and columns are worked with."""


@dataclass(frozen=True)
class Told:
    """Columns that take no part, and notes: what was guessed, passed over or read as missing."""

    left_out: Mapping[str, str] = field(default_factory=dict)
    """Name → what it holds."""
    notes: Sequence[str] = ()
    """Sentences, those first that matter most."""
    first: int = 0
    """How many of them decide which rows, columns and values are worked with."""


NOTHING_TOLD = Told()


def told_lines(told: Told, width: int, most: int | None = MOST_NOTES) -> list[Line]:
    """Which columns were left out, and so many of the notes; all if `most` is None."""
    lines = [left_out_line(told.left_out, width)] if told.left_out else []
    count = len(told.notes)
    if most is not None and count > max(most, min(told.first, MOST_FIRST)):
        count = max(most - 1, min(told.first, MOST_FIRST))
    shown = told.notes[:count]
    for text in shown:
        lines += wrapped("note      ", text, width, "note")
    if more := len(told.notes) - len(shown):
        them = "it" if more == 1 else "them"
        lines.append(Line(f"          and {plural(more, 'more note')}: lowdim info lists {them}", "faint"))
    return lines


def left_out_line(left_out: Mapping[str, str], width: int) -> Line:
    """Which columns were left out, and what they hold."""
    head = "left out  "
    items = [f"{shortened(name.strip() or '(no name)', 40)} ({kind})" for name, kind in left_out.items()]
    return Line(head + listed(items, width - len(head)))
