"""Work that takes long, at the prompt: a bar for all of it on a terminal, and signals that end it.

The first Ctrl-C (or SIGTERM, SIGHUP) asks the work to stop at the end of its turn, so that what it has learnt can be
kept.
Work that is in the middle of one long step, such as a decomposition by LAPACK, hears nothing: when it has not answered
after two seconds of the processor, the process ends without it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lowdim.runtime.machine import is_lack
from lowdim.runtime.progress import ROW, Observer, Progress, Stage, observing

PATIENCE = 0.5
"""Seconds before a bar appears: what is over sooner needs none."""

REFRESH = 0.1
"""Seconds between two pictures of the bar."""

CPU_TO_ANSWER = 2.0
"""Seconds of the processor after which work that was asked to stop is ended."""

LEAST_SHARE = 0.01
"""Share of the work from which the time left is told."""

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Reporter(Observer):
    """Hears of the work of a verb, shows how far it is, and stops it when a signal asks for that."""

    def __init__(self, quiet: bool) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._bar: Bar | None = None
        self._busy = False
        """Whether work is under way that can hear that it is to stop."""
        self.signal: int | None = None
        """The first signal that asked to stop."""
        self._heard = threading.Event()
        """That it was heard: whatever comes then is on its way out."""

    @property
    def exit_code(self) -> int:
        """Of work that was stopped, as shells have it."""
        return 128 + (self.signal or signal.SIGINT)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear of what is done inside."""
        with self._hearing_signals(), observing(self):
            try:
                yield
            finally:
                self.close()

    def begin(self, stages: Sequence[Stage]) -> None:
        """Begin a bar with the first of them."""
        if len(stages) == 1:
            self._busy = True
            if self._shown:
                self._bar = Bar()
        self._show(stages)

    def move(self, progress: Progress) -> bool:
        """Keep it for the bar."""
        if self._bar is not None:
            self._bar.latest = progress
        self._show(progress.stages)
        return False

    def end(self, stages: Sequence[Stage]) -> None:
        """Take the bar away after the first."""
        if len(stages) == 1:
            self.close()
        self._show(stages[:-1])

    def _show(self, stages: Sequence[Stage]) -> None:
        if self._bar is not None:
            self._bar.stages = tuple(stages)

    def close(self) -> None:
        """Take the bar away."""
        self._busy = False
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def asks_to_stop(self) -> bool:
        """Whether a signal came."""
        return self.signal is not None

    def stopped(self) -> None:
        """The work answers."""
        self._heard.set()

    # -- signals -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _hearing_signals(self) -> Iterator[None]:
        """Have signals that end a program ask for it first."""
        if threading.current_thread() is not threading.main_thread():  # only that thread may handle signals
            yield
            return
        # what is ignored stays so: a shell does that for a command in the background, and nohup
        meant = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, self._handle) for number in meant}
        reads, writes = os.pipe()
        os.set_blocking(writes, False)
        woken = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
        with without_threads():
            threading.Thread(target=self._guard, args=(reads, meant), daemon=True).start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(woken)
            os.close(writes)  # which ends the guard
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.signal is not None and not self._heard.is_set():  # it came after the last turn: nothing stopped
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: Any) -> None:
        first = self.signal is None
        self.signal = self.signal or number
        if first and self._busy:
            if self._shown:
                sys.stderr.write("\nstopping; Ctrl-C again stops at once\n")
            return
        self._heard.set()
        raise KeyboardInterrupt

    def _guard(self, reads: int, meant: Sequence[int]) -> None:
        """End the process if the main thread, busy in one long call, does not hear a signal; or hears a second one.

        The system tells this thread of signals by their numbers, through a pipe, while Python cannot tell that one.
        """
        with contextlib.suppress(OSError), os.fdopen(reads, "rb", buffering=0) as pipe:
            number = _next_signal(pipe, meant)
            if number is None:
                return
            begun = time.process_time()
            while not self._heard.is_set() and time.process_time() - begun < CPU_TO_ANSWER:
                if os.name != "posix":  # pipes cannot be waited for
                    time.sleep(REFRESH)
                elif select.select([pipe], [], [], REFRESH)[0]:
                    if _next_signal(pipe, meant) is None:
                        return  # all is over
                    time.sleep(REFRESH)  # long enough to hear it, where that is possible
                    break
            if not self._heard.is_set():
                self._end(number)

    def _end(self, number: int) -> None:
        from lowdim.runtime.files import remove_parts

        remove_parts()
        self.close()
        sys.stderr.write("error: interrupted; no half-written file is left\n")
        sys.stderr.flush()
        os._exit(128 + number)


@contextmanager
def without_threads() -> Iterator[None]:
    """Go on where the system has no thread left for what is done inside: work matters more than how it is shown."""
    try:
        yield
    except RuntimeError as error:
        if not is_lack(error):
            raise


def _next_signal(pipe: Any, meant: Sequence[int]) -> int | None:
    """The next of these signals; None: there will be no more."""
    while byte := pipe.read(1):
        if byte[0] in meant:
            return int(byte[0])
    return None


# The bar.


class Bar:
    """A bar of rich's, begun when the patience is over. A thread of its own draws it, as work may be silent."""

    def __init__(self) -> None:
        self.latest: Progress | None = None
        self.stages: Sequence[Stage] = ()
        self._begun = time.monotonic()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._drawn: Any = None
        with without_threads():
            threading.Thread(target=self._draw_on, daemon=True).start()

    def close(self) -> None:
        """Take it away."""
        self._over.set()
        with self._lock:
            if self._drawn is not None:
                self._drawn.stop()
                self._drawn = None

    def _draw_on(self) -> None:
        if self._over.wait(PATIENCE):
            return
        drawn = _new_bar()
        while True:
            with self._lock:
                if self._over.is_set():
                    return
                if self._drawn is None:
                    drawn.start()
                    self._drawn = drawn
                self._draw()
            if self._over.wait(REFRESH):
                return

    def _draw(self) -> None:
        seconds, latest = time.monotonic() - self._begun, self.latest
        share = None if latest is None else latest.share
        self._drawn.update(
            self._drawn.task_ids[0],
            description=describe_work(self.stages, 0 if latest is None else latest.passes),
            completed=0 if share is None else share,
            total=None if share is None else 1,
            about=f"{seconds:.0f} s" if share is None else f"{100 * share:.0f} %",
            left="" if latest is None or latest.estimate is None else time_left(seconds, latest.estimate),
            refresh=True,
        )


def _new_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Columns

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[about]}"),
        TextColumn("{task.fields[left]}"),
    ]
    drawn = Columns(
        *columns, console=Console(file=sys.stderr), transient=True, auto_refresh=False, redirect_stdout=False
    )
    drawn.add_task("working", total=None, about="", left="")
    return drawn


def describe_work(stages: Sequence[Stage], passes: int = 0) -> str:
    """What is under way, in a few words: "start 2 of 5, step 34"."""
    told = [_describe_stage(stage, passes) for stage in stages if not stage.parts and stage.of != 1]
    return ", ".join(told[-2:]) or "working"


def _describe_stage(stage: Stage, passes: int) -> str:
    if stage.name == ROW:
        rows = f"{stage.done:,.0f} rows"
        return f"pass {passes}, {rows}" if passes > 1 else rows
    if stage.of is None:
        return stage.name
    now = min(int(stage.done) + 1, max(int(stage.of), 1))
    return f"{stage.name} {now} of {stage.of:.0f}" if stage.counted else f"{stage.name} {now}"


def time_left(seconds: float, share: float) -> str:
    """How long the rest takes if it goes on as it went, in words; nothing where too little was done to tell."""
    if not LEAST_SHARE <= share < 1:
        return ""
    return words_of_time(seconds * (1 - share) / share)


def words_of_time(seconds: float) -> str:
    """Seconds, minutes or hours that are left."""
    if round(seconds) < 60:
        return f"about {seconds:.0f} s left"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"
