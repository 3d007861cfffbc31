"""Notes on the tables that a verb reads: its screen says them below the title; others are said when it ends.

So nothing is lost, whatever a verb prints: `lowdim.open` warns of what it guessed, passed over or left out, and here
these warnings wait until a screen has taken them up, or the verb is over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lowdim.cli.errors import in_words, say_line

if TYPE_CHECKING:
    from lowdim.errors import LowdimWarning
    from lowdim.sources.source import Source
    from lowdim.views.text.told import Told


class _Waiting:
    """Notes of the verb under way, in its words."""

    def __init__(self) -> None:
        self.known: Collection[str] = ()
        self.texts: dict[str, LowdimWarning] = {}

    def write(self, note: LowdimWarning) -> str:
        return " ".join(in_words(note, self.known).split())


_waiting = _Waiting()


@contextmanager
def waiting_notes(known: Collection[str], quiet: bool) -> Iterator[None]:
    """Have notes wait while a verb with the `known` options runs; say those that are left when it ends, however."""
    _waiting.known, _waiting.texts = known, {}
    try:
        yield
    finally:
        for text in () if quiet else _in_order(_waiting.texts):
            say_line(f"note: {text}")
        _waiting.texts = {}


def keep_note(note: LowdimWarning) -> None:
    """Have a note wait."""
    _waiting.texts[_waiting.write(note)] = note


def pass_over(kind: type[LowdimWarning]) -> None:
    """Notes of this kind no longer wait, as a screen says the same."""
    _waiting.texts = {text: one for text, one in _waiting.texts.items() if type(one) is not kind}


MATTERS = ("first", "", "last")
"""Notes in the order in which they are said."""


def _in_order(texts: Mapping[str, LowdimWarning]) -> list[str]:
    """What decides which rows and columns are worked with before what hardly ever matters, losses before hints."""
    from lowdim.errors import TableHint

    def place(text: str) -> tuple[int, bool]:
        note = texts[text]
        return MATTERS.index(getattr(note, "matters", "first")), isinstance(note, TableHint)

    return sorted(texts, key=place)


def tell(source: Source) -> Told:
    """What became of the columns and lines of a source, for a screen or for JSON; its notes no longer wait."""
    from lowdim.errors import UnseenRows
    from lowdim.views.text.told import Told

    notes: dict[str, LowdimWarning] = {
        text: note for text, note in _waiting.texts.items() if isinstance(note, UnseenRows)
    }
    notes |= {_waiting.write(note): note for note in source.notes}
    texts = tuple(_in_order(notes))
    for text in texts:
        _waiting.texts.pop(text, None)
    first = sum(getattr(note, "matters", "first") == "first" for note in notes.values())
    return Told(source.left_out, texts, first)
