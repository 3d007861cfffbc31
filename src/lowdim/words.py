"""Texts in letters that a terminal or file has; names of columns, plurals, lists and ranges. Loads nothing heavy."""

from __future__ import annotations

import codecs
import json
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, ParamSpec, Protocol

Arguments = ParamSpec("Arguments")

BLOCKS = "▁▂▃▄▅▆▇█"

EIGHTHS = "▏▎▍▌▋▊▉"

ASCII = str.maketrans(
    dict(zip(BLOCKS, "_.,-=+*#", strict=True))
    | dict(zip(EIGHTHS, "...==##", strict=True))
    | {
        "│": "|",
        "━": "=",
        "→": "->",
        "←": "<-",
        "×": "x",
        "·": "*",
        "−": "-",
        "±": "+/-",
        "≤": "<=",
        "≥": ">=",
        "≈": "~",
    }
    | {"–": "-", "’": "'", "½": "1/2", "²": "^2", "√": "sqrt ", "Σ": "sum", "∞": "inf", "°": " deg"}
    | {"β": "beta", "γ": "gamma", "η": "eta", "λ": "lambda", "μ": "mu", "σ": "sigma", "χ": "chi", "ß": "ss"}
)
"""What stands for letters that are not in ASCII; others lose their accents."""


HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""Letters that a terminal obeys, that turn or hide what stands beside them, or that are halves of one: control
characters (ISO 6429), marks of direction (Unicode's annex 9), invisible ones. Joiners (U+200C, U+200D) are none of
them, as words of Persian and Hindi are written with them."""


def shown(text: str) -> str:
    """A text from anywhere as one line that can be looked at: "\\x1b[2J" for what would wipe the screen."""
    return text if text.isprintable() else HIDDEN.sub(_escape, text)


def shown_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return text if text.isprintable() else "\n".join(map(shown, text.split("\n")))


def shown_in_json(text: str) -> str:
    """The same of JSON, which is read as what it was: there `\\u009b` is that letter."""
    return text if text.isprintable() else HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


MOST_SHOWN = 200
"""Letters of a value that an error repeats."""


def brief(value: object) -> str:
    """A value as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # a whole number of too many digits, or an object that cannot tell what it is
        text = f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


class Text(str):
    """A text that is itself everywhere but in `print`, which gives it in letters that the terminal has."""

    __slots__ = ()

    def __str__(self) -> str:
        return in_letters_of(sys.stdout, str.__str__(self))


def printable(tell: Callable[Arguments, str]) -> Callable[Arguments, str]:
    """The same function, whose text can be looked at, and printed anywhere."""

    @wraps(tell)
    def told(*args: Arguments.args, **settings: Arguments.kwargs) -> str:
        return Text(shown_lines(tell(*args, **settings)))

    return told


def in_letters_of(stream: Any, text: str) -> str:
    """A text as it is, or in ASCII where a terminal or file cannot take its letters, so that print never fails."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return _in_ascii(text)
    return text


def _in_ascii(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.translate(ASCII))
    bare = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return bare.encode("ascii", "replace").decode("ascii")


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _in_ascii(error.object[error.start : error.end]), error.end


SPELLED = "lowdim.spelled"
"""Errors handler of a stream: what its encoding lacks is written in ASCII, so that "−" stays a sign and "█" a bar."""

codecs.register_error(SPELLED, _spell)


# What columns are called.


class HasColumns(Protocol):
    """A fit, or a source of rows."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names, if they have some."""

    @property
    def n_columns(self) -> int:
        """How many there are."""


def shell_quoted(text: str) -> str:
    """A text as one word of a command line to copy: in the quotes that leave most of it as it is."""
    if "'" not in text or any(sign in text for sign in "$`\\!\n"):
        return shlex.quote(text)
    inner = text.replace('"', '\\"')
    return f'"{inner}"'


def typed_names(names: Iterable[str]) -> str:
    """Names as options take a list of them: those with commas in double quotes."""
    return ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name for name in names)


def column_names(named: HasColumns) -> tuple[str, ...]:
    """(p,) names of the columns, or x0, x1, … where there are none."""
    return named.columns or tuple(f"x{j}" for j in range(named.n_columns))


def plural(count: int, noun: str, ending: str = "s") -> str:
    """A number with its noun: "1 pass", "3 passes"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}{ending}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence: "a, b and c"."""
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def ranges(indices: tuple[int, ...]) -> str:
    """Component numbers, counted from 1, as "3–5, 8"."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ", ".join(f"{run[0] + 1}" if len(run) == 1 else f"{run[0] + 1}–{run[-1] + 1}" for run in runs)
