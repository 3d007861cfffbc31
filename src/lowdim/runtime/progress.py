"""Progress of a pass over the rows, reported to a callback, which can ask it to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Rows read so far, in one of the passes over all rows."""

    rows: int
    of: int | None
    """Rows in all; None: not known before the end."""
    passes: int
    """Number of the pass under way, from 1."""


Watcher = Callable[[Progress], bool | None]
"""Called after each block; True asks the reading to stop, which raises `errors.Interrupted`."""


class _Watch:
    def __init__(self, watcher: Watcher):
        self.watcher = watcher
        self.passes = 0


_watch: ContextVar[_Watch | None] = ContextVar("lowdim_watch", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Have `watcher` called after every block that is read inside."""
    token = _watch.set(_Watch(watcher))
    try:
        yield
    finally:
        _watch.reset(token)


def begin_pass(n_rows: int | None) -> Callable[[int], bool]:
    """Begin a pass; gives a function that tells the rows read so far, and answers whether to stop."""
    watch = _watch.get()
    if watch is None:
        return lambda rows: False
    watch.passes += 1
    number = watch.passes
    return lambda rows: watch.watcher(Progress(rows, n_rows, number)) is True
