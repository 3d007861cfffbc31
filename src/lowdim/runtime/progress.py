"""How far work has come, told to whoever watches it, who can ask it to stop.

Work is a tree of stages: a fit has starts, a start has steps, a step reads rows. Whatever loops for long opens a stage
and says after each turn how far it is. The share of all that is done follows from the stages that are open, each a part
of the one around it, so that one bar is for the whole and never goes back. Where nobody watches, a stage costs next to
nothing.

Who asks to stop is answered at the end of a turn, and between two blocks, by `errors.Interrupted`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from lowdim.errors import Interrupted

Item = TypeVar("Item")

ROW = "row"
"""What the stages are called that read rows."""

Parts = Sequence[tuple[str, float]]
"""What a stage is made of: names of the stages inside it, in their order, and about how much of the work each is."""


@dataclass
class Stage:
    """A stretch of work that was begun and is not over."""

    name: str
    """What is counted, in the singular: row, step, start, fold."""
    of: float | None = None
    """How many there are, or about how many; None: not known."""
    done: float = 0.0
    counted: bool = True
    """Whether there are exactly so many."""
    most: int | None = None
    """How many there can be; None: not known."""
    parts: Parts = ()
    """What it is made of, where that is no number of equals; `done` and `of` then are sums of weights."""
    turn: float = 1.0
    """How much the turn under way will add."""
    at: int = 0
    """The part under way, or the next one."""

    def share(self, inside: float) -> float | None:
        """Share that is done, with so much of the turn under way; None where it is not known."""
        if self.of is None:
            return None
        return min(1.0, (self.done + inside * self.turn) / self.of) if self.of else 1.0

    def expect(self, parts: Parts) -> None:
        """Be made of these."""
        self.parts, self.of = parts, sum(weight for _, weight in parts)
        self.done, self.turn, self.at = 0.0, 0.0, 0

    def begin_part(self, name: str) -> None:
        """A stage of this name begins inside: the next such part, or, if there is none, something beside them."""
        self.turn = 0.0
        found = next((i for i in range(self.at, len(self.parts)) if self.parts[i][0] == name), None)
        if found is not None:  # those between will not come
            self.parts = [*self.parts[: self.at], *self.parts[found:]]
            self.of, self.turn = sum(weight for _, weight in self.parts), self.parts[self.at][1]

    def end_part(self) -> None:
        """The stage inside is over."""
        if self.turn:
            self.done, self.turn, self.at = self.done + self.turn, 0.0, self.at + 1


@dataclass(frozen=True)
class Progress:
    """How far work has come."""

    stages: Sequence[Stage]
    """Those that are open, from the whole to the smallest part."""
    share: float | None
    """Share of the first of these that is done, from 0 to 1, which never falls; None: not known."""
    estimate: float | None
    """The same as it is known now, which may fall where more is to be done than was expected."""
    passes: int
    """How often reading the rows was begun."""

    @property
    def rows(self) -> int:
        """Rows read in the pass under way; 0 where none is."""
        return int(next((stage.done for stage in reversed(self.stages) if stage.name == ROW), 0))


Watcher = Callable[[Progress], bool | None]
"""Called after every turn of a loop; True asks the work to stop, which raises `errors.Interrupted`."""


class Observer:
    """Who hears of every stage."""

    def begin(self, stages: Sequence[Stage]) -> None:
        """The last of these has begun."""

    def move(self, progress: Progress) -> bool:
        """A turn of the last stage is over; True asks it to make no more of them, where it can do with fewer."""
        return False

    def end(self, stages: Sequence[Stage]) -> None:
        """The last of these is over."""

    def asks_to_stop(self) -> bool:
        """Whether all work is to stop: asked wherever blocks are worked on, also by other threads."""
        return False

    def stopped(self) -> None:
        """Work has heard that it is to stop, and does so. It is not asked again."""


class _Called(Observer):
    """A function that watches."""

    def __init__(self, watcher: Watcher):
        self._watcher, self._stop = watcher, False

    def move(self, progress: Progress) -> bool:
        self._stop = self._watcher(progress) is True
        return False

    def asks_to_stop(self) -> bool:
        return self._stop


class _Work:
    """What is under way in a thread, and who watches it."""

    def __init__(self) -> None:
        self.observers: list[Observer] = []
        self.stages: list[Stage] = []
        self.passes = 0
        self._share = 0.0
        self._stopped = False

    def begin(self, new: Stage) -> None:
        if not self.stages:
            self._share = 0.0
        elif self.stages[-1].parts:
            self.stages[-1].begin_part(new.name)
        self.passes += new.name == ROW
        self.stages.append(new)
        for observer in self.observers:
            observer.begin(self.stages)

    def move(self, moved: Stage, done: float, of: float | None) -> bool:
        """A turn of a stage is over, and so is all inside it."""
        while self.stages[-1] is not moved:
            self.end(self.stages[-1])
        moved.done = done
        if of is not None:
            moved.of, moved.counted = max(of, done), False
        progress = self._progress()
        enough = [observer.move(progress) for observer in self.observers]
        self.stop_if_asked()
        return any(enough)

    def end(self, ended: Stage) -> None:
        """A stage is over, and all inside it; one that an error left behind may be so already."""
        if not any(stage is ended for stage in self.stages):
            return
        for last in reversed(self.stages.copy()):
            for observer in self.observers:
                observer.end(self.stages)
            self.stages.pop()
            if last is ended:
                break
        if self.stages and self.stages[-1].parts:
            self.stages[-1].end_part()

    def stop_if_asked(self) -> None:
        if not self._stopped and any(observer.asks_to_stop() for observer in self.observers):
            self._stopped = True
            for observer in self.observers:
                observer.stopped()
            raise Interrupted

    def _progress(self) -> Progress:
        now: float | None = 0.0
        for stage in reversed(self.stages):
            now = stage.share(now or 0.0)
        self._share = max(now or 0.0, self._share)
        return Progress([copy(stage) for stage in self.stages], None if now is None else self._share, now, self.passes)


@dataclass(frozen=True)
class _Elsewhere:
    """Work of another thread, for which this one works: it tells nothing of what it does, and stops with it."""

    work: _Work


_work: ContextVar[_Work | _Elsewhere | None] = ContextVar("lowdim_work", default=None)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Have an observer hear of the work inside, beside those who hear of it already."""
    work, token = _work.get(), None
    if not isinstance(work, _Work):
        work = _Work()
        token = _work.set(work)
    work.observers.append(observer)
    try:
        yield
    finally:
        work.observers.remove(observer)
        if token is not None:
            _work.reset(token)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Have `watcher` called after every turn of the work inside."""
    with observing(_Called(watcher)):
        yield


Tell = Callable[..., bool]
"""`tell(done)`, or `tell(done, of)` of about so many: how far a stage is. True: it is asked to make no more turns,
where it can do with fewer."""


def stage(
    name: str, of: float | None = None, parts: Parts = (), most: int | None = None
) -> AbstractContextManager[Tell]:
    """Begin a stage of so many turns; gives the function that is told how many are done, and ends it afterwards.

    `most` are the turns that there can be, each of which is told. A stage that has parts is told nothing: stages inside
    it, by their names, are its parts.
    """
    work = _work.get()
    if not isinstance(work, _Work):
        return _UNWATCHED if work is None else _ELSEWHERE
    return _stage(work, Stage(name, of, most=most), parts)


@contextmanager
def _stage(work: _Work, new: Stage, parts: Parts) -> Iterator[Tell]:
    if parts:
        new.expect(parts)
    try:
        work.begin(new)
        yield partial(_tell, work, new)
    finally:
        work.end(new)


def expect(parts: Parts) -> None:
    """Say what the stage under way is made of, once that is known."""
    work = _work.get()
    if isinstance(work, _Work) and work.stages:
        work.stages[-1].expect(parts)


def track(items: Iterable[Item], name: str, of: int | None = None) -> Iterator[Item]:
    """The items, with a turn of a stage for each; `name` is what one of them is called."""
    count = len(items) if of is None and isinstance(items, Sized) else of
    with stage(name, count, most=count or None) as tell:
        for done, item in enumerate(items, start=1):
            yield item
            tell(done)


def stop_if_asked() -> None:
    """Raise `Interrupted` if whoever watches has asked for it."""
    work = _work.get()
    if isinstance(work, _Elsewhere):
        work = work.work
    if work is not None:
        work.stop_if_asked()


def _tell(work: _Work, moved: Stage, done: float, of: float | None = None) -> bool:
    return work.move(moved, done, of)


def _go_on(done: float, of: float | None = None) -> bool:
    return False


def _stop_if_asked(done: float, of: float | None = None) -> bool:
    stop_if_asked()
    return False


_UNWATCHED, _ELSEWHERE = nullcontext(_go_on), nullcontext(_stop_if_asked)
"""Stages of which nobody hears, and of which another thread does: the same for all."""


# Other threads.


def watched_here() -> object:
    """What a thread that works for this one is to know of who watches; for `hear_of`."""
    work = _work.get()
    return _Elsewhere(work) if isinstance(work, _Work) else work


def hear_of(watched: Any) -> None:
    """Make this thread stop with the one that it works for."""
    _work.set(watched)
