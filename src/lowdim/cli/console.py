"""What is said and where: data on stdout, talk on stderr where data stand on stdout, colours on terminals alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from lowdim.views.text.lines import Line
from lowdim.words import shown, shown_in_json, shown_lines

SCHEMA = 1
"""Version of what --json prints; it goes up when a key changes its meaning or goes away."""

STYLES = {"title": "bold", "note": "yellow", "command": "green", "faint": "bright_black", "bar": "", "plain": ""}
BARS = re.compile("[▏▎▍▌▋▊▉█]+")


def text_width() -> int:
    """Characters of a line: those of the terminal, or of COLUMNS, from 40 to 100; 80 where neither says it."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns)) if _has_width() else 80


def _has_width() -> bool:
    return sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()


def say(lines: Iterable[Line], to: TextIO | None = None) -> None:
    """Print lines, coloured if a person reads them and NO_COLOR is not set."""
    stream = sys.stdout if to is None else to
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        stream.writelines(f"{shown(line.text)}\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        text = Text(shown(line.text), style=STYLES[line.part])
        if line.part == "bar":
            text.highlight_regex(BARS, "cyan")
        console.print(text)


def say_json(command: str, facts: Mapping[str, Any]) -> None:
    """Print one object, with the version of its keys. Numbers that are not finite become null."""
    plain = {"schema": SCHEMA, "command": command, **_plain(facts)}
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"  # else letters that it lacks are escaped
    print(shown_in_json(json.dumps(plain, ensure_ascii=not utf8, allow_nan=False)))


def say_text(text: str, to: TextIO | None = None) -> None:
    """Print a text of some lines."""
    print(shown_lines(text), file=sys.stdout if to is None else to, flush=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not (-float("inf") < value < float("inf")):
        return None
    return value
