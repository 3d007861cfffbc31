"""What became of the columns and lines of a table that was read, below the title of every screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lowdim.views.text.lines import Line, listed, shortened, wrapped

MOST_NOTES = 3
"""Notes that stand on a screen; `lowdim info` has all."""


@dataclass(frozen=True)
class Told:
    """Columns that take no part, and notes: what was guessed, passed over or read as missing."""

    left_out: Mapping[str, str] = field(default_factory=dict)
    """Name → what it holds."""
    notes: Sequence[str] = ()
    """Sentences, those about losses first."""


NOTHING_TOLD = Told()


def told_lines(told: Told, width: int, most: int | None = MOST_NOTES) -> list[Line]:
    """Which columns were left out, and so many of the notes; all if `most` is None."""
    lines = [left_out_line(told.left_out, width)] if told.left_out else []
    shown = told.notes if most is None or len(told.notes) <= most else told.notes[: most - 1]
    for text in shown:
        lines += wrapped("note      ", text, width, "note")
    more = len(told.notes) - len(shown)
    return lines + ([Line(f"          and {more} more notes: lowdim info lists them", "faint")] if more else [])


def left_out_line(left_out: Mapping[str, str], width: int) -> Line:
    """Which columns were left out, and what they hold."""
    head = "left out  "
    items = [f"{shortened(name.strip() or '(no name)', 40)} ({kind})" for name, kind in left_out.items()]
    return Line(head + listed(items, width - len(head)))
