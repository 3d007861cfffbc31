"""What is said while a command runs: data on stdout, talk on stderr, a progress bar, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from lowdim.views.text.lines import Line

# A bar with the time left while rows are read, and Ctrl-C that lets the block under way finish.

TEXTS = (".csv", ".tsv", ".txt", ".tab", ".dat", ".jsonl", ".ndjson")

PATIENCE = 0.5
"""Seconds before a bar appears: what is over sooner needs none."""


@contextmanager
def show_progress(quiet: bool, data: str = "") -> Iterator[None]:
    """Show how far the reading of rows is, on a terminal; turn the first Ctrl-C into a stop between blocks.

    Rows of text files are not known before all are read; `data` is their path, from which they are guessed.
    """
    from lowdim.runtime.progress import Progress, watching

    bar = _Bar(likely_rows(data)) if sys.stderr.isatty() and not quiet else None
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


def new_count(n_rows: int | None) -> Callable[[int], None]:
    """Begin a reading of rows outside a fit; gives a function that tells the rows so far, and ends it on Ctrl-C."""
    from lowdim.runtime.progress import begin_pass

    tell = begin_pass(n_rows)

    def count(rows: int) -> None:
        if tell(rows):
            raise KeyboardInterrupt

    return count


def time_left(spent: float, rows: int, total: int | None) -> str:
    """How long the rest will take if it goes on as it went so far."""
    if not total or not 0 < rows < total:
        return ""
    seconds = round(spent * (total - rows) / rows)
    if seconds < 60:
        return f"about {seconds} s left"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"


def likely_rows(path: str) -> int | None:
    """About how many rows a text file has, from the length of its first lines; None for all else."""
    if not path.lower().endswith(TEXTS):
        return None
    try:
        with open(path, "rb") as file:
            sample = file.read(2**18)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return None
    return round(size * sample.count(b"\n") / len(sample)) if sample else None


class _Bar:
    """Rich's progress bar, begun when the patience is over."""

    def __init__(self, likely: int | None) -> None:
        self._likely = likely
        self._begun = self._pass_begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._passes = 1

    def move(self, progress: Any) -> None:
        """Show the rows read."""
        now = time.monotonic()
        if progress.passes != self._passes:
            self._passes, self._pass_begun = progress.passes, now
        if self._bar is None:
            if now - self._begun < PATIENCE:
                return
            self._begin()
        total = progress.of
        if total is None and self._likely is not None and progress.rows <= self._likely:
            total = self._likely
        self._bar.update(
            self._task,
            completed=progress.rows,
            total=total,
            description=f"pass {progress.passes}" if progress.passes > 1 else "reading",
            left=time_left(now - self._pass_begun, progress.rows, total),
            refresh=True,  # blocks come a few times a second; rich itself might miss a short fit
        )

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} rows"),
            TextColumn("{task.fields[left]}"),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("reading", total=None, left="")


# What is said and where: data on stdout, talk on stderr where data stand on stdout, colours on terminals alone.

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
        stream.writelines(f"{line.text}\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        text = Text(line.text, style=STYLES[line.part])
        if line.part == "bar":
            text.highlight_regex(BARS, "cyan")
        console.print(text)


def say_json(command: str, facts: Mapping[str, Any]) -> None:
    """Print one object, with the version of its keys. Numbers that are not finite become null."""
    plain = {"schema": SCHEMA, "command": command, **_plain(facts)}
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"  # else letters that it lacks are escaped
    print(json.dumps(plain, ensure_ascii=not utf8, allow_nan=False))


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
