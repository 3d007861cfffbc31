"""Texts in letters that a terminal or file has; names of columns, plurals, lists and ranges. Loads nothing heavy."""

from __future__ import annotations

import codecs
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


class Text(str):
    """A text that is itself everywhere but in `print`, which gives it in letters that the terminal has."""

    __slots__ = ()

    def __str__(self) -> str:
        return in_letters_of(sys.stdout, str.__str__(self))


def printable(tell: Callable[Arguments, str]) -> Callable[Arguments, str]:
    """The same function, whose text can be printed anywhere."""

    @wraps(tell)
    def told(*args: Arguments.args, **settings: Arguments.kwargs) -> str:
        return Text(tell(*args, **settings))

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
