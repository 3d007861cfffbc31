"""A bar with the time left while rows are read, and Ctrl-C that lets the block under way finish."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 0.5
"""Seconds before a bar appears: what is over sooner needs none."""


@contextmanager
def shown(quiet: bool) -> Iterator[None]:
    """Show how far the reading of rows is, on a terminal; turn the first Ctrl-C into a stop between blocks."""
    from lowdim.sources.progress import Progress, watching

    bar = _Bar() if sys.stderr.isatty() and not quiet else None
    stop = threading.Event()

    def watch(progress: Progress) -> bool:
        if bar is not None:
            bar.move(progress)
        return stop.is_set()

    try:
        with _first_interrupt(stop), watching(watch):
            yield
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def _first_interrupt(stop: threading.Event) -> Iterator[None]:
    """The first Ctrl-C sets the event; a second one interrupts at once."""
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # a shell did so for a command in the background
    if ignored or threading.current_thread() is not threading.main_thread():  # only that thread may handle signals
        yield
        return

    def handle(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop.set()
        if sys.stderr.isatty():
            sys.stderr.write("\nstopping after this block of rows; Ctrl-C again stops at once\n")

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if stop.is_set():  # it came after the last block: nothing stopped, so stop here
        raise KeyboardInterrupt


class _Bar:
    """Rich's progress bar, begun when the patience is over."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._passes = 0

    def move(self, progress: Any) -> None:
        """Show the rows read."""
        if self._bar is None:
            if time.monotonic() - self._start < PATIENCE:
                return
            self._begin()
        if progress.passes != self._passes:
            self._passes = progress.passes
            self._bar.reset(self._task, total=progress.of, description=f"pass {progress.passes}")
        self._bar.update(self._task, completed=progress.rows, total=progress.of)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("rows"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("reading", total=None)
