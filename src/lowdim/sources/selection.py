"""Which columns of a table are numbers to work with, which are kept aside, which are left out and why."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lowdim.errors import BadParameter, NotNumeric

Kind = Literal["number", "flag", "text", "time", "other"]


@dataclass(frozen=True)
class Column:
    """A column of a table as it stands in the file."""

    name: str
    kind: Kind
    single: bool = False
    """Whether it holds float32."""


@dataclass(frozen=True)
class Selection:
    """What the user wants of a table's columns."""

    columns: tuple[str, ...] | None = None
    """Only these; None: all that hold numbers."""
    drop: tuple[str, ...] = ()
    label: str | None = None
    """Kept aside, for names and colours."""

    def of(self, table: Sequence[Column], name: str) -> Chosen:
        """Apply to the columns of a table; the name of the data is for messages."""
        known = {column.name: column for column in table}
        for wish in (*(self.columns or ()), *self.drop, *filter(None, (self.label,))):
            if wish not in known:
                raise BadParameter(f"{name}: there is no column {wish!r}{near(wish, list(known))}")
        wanted = [known[wish] for wish in self.columns] if self.columns is not None else list(table)
        wanted = [column for column in wanted if column.name not in (*self.drop, self.label)]
        numbers = [column for column in wanted if column.kind in ("number", "flag")]
        others: dict[str, str] = {c.name: c.kind for c in wanted if c.kind not in ("number", "flag")}
        if self.columns is not None and others:
            raise NotNumeric.columns(others)
        if not numbers:
            raise NotNumeric(
                f"{name}: none of its {len(table)} columns holds numbers ({', '.join(list(known)[:5])}); at least one "
                "is needed."
            )
        return Chosen(tuple(numbers), others)


@dataclass(frozen=True)
class Chosen:
    """The columns that are worked with, and what became of the others."""

    numbers: tuple[Column, ...]
    left_out: dict[str, str]
    """Name → what the column holds instead of numbers."""


def near(wish: str, names: Sequence[str]) -> str:
    """The end of a sentence about a name that is not there: what may have been meant, or what there is."""
    close = difflib.get_close_matches(wish, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; there are {', '.join(map(repr, names[:8])) or 'none'}{' and more' if len(names) > 8 else ''}."
