"""Files that a command replaces: what is there is noted before any work, and told when it is gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lowdim.cli.errors import say_line
from lowdim.errors import FormatError


@dataclass(frozen=True)
class _Before:
    """A file that was there before."""

    identity: tuple[int, ...]
    about: str


_watched: ContextVar[dict[str, _Before] | None] = ContextVar("watched", default=None)
"""Path, as it was typed → what is there; None where nobody wants to know."""


def watch_output(path: str) -> None:
    """Note what is at a path that will be written to."""
    watched = _watched.get()
    if watched is not None and os.path.isfile(path):
        watched[path] = _Before(_identity(path), _describe(path))


@contextmanager
def saying_replaced(quiet: bool) -> Iterator[None]:
    """Say, in the end, which files that were watched have been replaced."""
    watched: dict[str, _Before] = {}
    token = _watched.set(None if quiet else watched)
    try:
        yield
    finally:
        _watched.reset(token)
        for path, before in watched.items():
            if os.path.isfile(path) and _identity(path) != before.identity:
                say_line(f"replaced {path}{before.about}")


def _identity(path: str) -> tuple[int, ...]:
    """What another file in the same place has not all alike."""
    about = os.stat(path)
    return about.st_ino, about.st_mtime_ns, about.st_size


def _describe(path: str) -> str:
    """Of a model: which one, and of what data."""
    if not path.lower().endswith(".lowdim"):
        return ""
    from lowdim.results.container import open_document

    try:
        with open_document(path, whole=False) as text:  # nothing but the text is read
            pass
    except FormatError:
        return ""
    fit = text.facts.get("fit", {})
    data, rows = fit.get("provenance", {}).get("data", ""), fit.get("n_rows")
    article = "an" if text.kind[:1] in "AEIO" or text.kind == "NMF" else "a"
    of = f" of {data.rsplit(' (', 1)[0]}" if data else ""
    return f" ({article} {text.kind}{of}{f', {rows:,} rows' if isinstance(rows, int) else ''})"
