"""Passes over rows that are kept, so that a fit that was killed goes on where it was, whatever the model.

A fit is a plain program: with the same rows, settings and seed every pass over the rows gives the same statistic, and
all that is done between two passes follows from these. So what the passes gave is all that a checkpoint must hold. The
fit runs again from its start; a pass that is kept is answered without reading a row, and the one that was under way
goes on after the last block that was merged. What comes of it has the same bits.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar, cast

from lowdim.errors import CannotMerge, Interrupted

MOST_BYTES = 2**25
"""Bytes of statistics that are kept: more would take memory that nobody planned. Later passes are then made again."""


@dataclass(frozen=True)
class Pass:
    """What a pass over rows has given so far."""

    name: str
    """What was done with each block."""
    rows: int
    """How many rows have been merged."""
    statistic: Any
    whole: bool
    """Whether these are all rows."""


@dataclass(frozen=True)
class _Done:
    """The statistic of blocks up to a row; none for blocks that were merged before."""

    end: int
    statistic: Any
    known: bool


@dataclass(frozen=True)
class _Work:
    """Work on a block that passes over those before a row: a function that threads call."""

    per_block: Callable[[Any], Any]
    first: int

    def __call__(self, block: Any) -> _Done:
        end = block.start + block.rows.shape[0]
        return _Done(end, None, True) if end <= self.first else _Done(end, self.per_block(block), False)


class Passes:
    """Passes of a fit in their order: those that are kept are given again, later ones are added."""

    def __init__(
        self, kept: tuple[Pass, ...] = (), write: Callable[[Passes], None] | None = None, every: float = math.inf
    ):
        self.kept = list(kept)
        self._write, self._every = write, every
        """How they are written to a file, and after how many seconds."""
        self._at, self._written = 0, time.monotonic()

    @property
    def rows(self) -> int:
        """Rows that were read, in all passes."""
        return sum(one.rows for one in self.kept)

    def take(self, fold: Callable[..., Any], per_block: Any, merge: Any, least_rows: int, in_parts: bool) -> Any:
        """The statistic of the next pass: kept, or found by `fold`, and kept from now on."""
        name, at = _name_of(per_block), self._at
        self._at += 1
        begun = self.kept[at] if at < len(self.kept) else None
        if begun is not None and begun.name != name:
            raise CannotMerge(
                f"was begun by another way of fitting: pass {at + 1} was {begun.name}, and is {name} now, as other "
                "rows, settings, versions or free memory lead to other solvers: begin anew."
            )
        if begun is not None and begun.whole:
            return deepcopy(begun.statistic)  # who gets it may add to it in place
        if not in_parts:
            found = fold(per_block, merge, least_rows)
            self._keep(at, Pass(name, 0, deepcopy(found), whole=True), write=self._is_due())
            return found

        def join(one: _Done, other: _Done) -> _Done:
            if other.known:
                return other
            if one.known:
                assert begun is not None
                joined = _Done(other.end, merge(begun.statistic, other.statistic), known=False)
            else:
                joined = _Done(other.end, merge(one.statistic, other.statistic), known=False)
            if self._is_due():
                self._keep(at, Pass(name, joined.end, joined.statistic, whole=False))
            return joined

        try:
            last = fold(_Work(per_block, 0 if begun is None else begun.rows), join, least_rows)
        except Interrupted as stop:
            if stop.statistic is not None:
                if stop.statistic.known:
                    stop.statistic = None if begun is None else begun.statistic
                else:
                    self._keep(at, Pass(name, stop.statistic.end, stop.statistic.statistic, whole=False), write=False)
                    stop.statistic = stop.statistic.statistic
            raise
        found = begun.statistic if last.known and begun is not None else last.statistic
        self._keep(at, Pass(name, last.end, deepcopy(found), whole=True), write=self._is_due())
        return found

    def _is_due(self) -> bool:
        return self._write is not None and time.monotonic() - self._written >= self._every

    def _keep(self, at: int, done: Pass, write: bool = True) -> None:
        if at > len(self.kept) or count_bytes([one.statistic for one in self.kept[:at]]) > MOST_BYTES:
            return
        self.kept[at:] = [done]
        if write and self._write is not None:
            begun = time.monotonic()
            self._write(self)
            self._written = time.monotonic()
            self._every = max(self._every, 20 * (self._written - begun))  # no more than a twentieth of the time


_passes: ContextVar[Passes | None] = ContextVar("lowdim_passes", default=None)


@contextmanager
def keeping(passes: Passes) -> Iterator[None]:
    """Keep the passes of the fit inside."""
    token = _passes.set(passes)
    try:
        yield
    finally:
        _passes.reset(token)


Method = TypeVar("Method", bound=Callable[..., Any])


def kept_passes(reduce: Method) -> Method:
    """Have a source's `reduce` keep what it gives, where somebody asks for that."""

    @wraps(reduce)
    def keep(self: Any, per_block: Any, merge: Any, least_rows: int = 1) -> Any:
        passes = _passes.get()
        if passes is None:
            return reduce(self, per_block, merge, least_rows)
        return passes.take(partial(reduce, self), per_block, merge, least_rows, in_parts=not self.remote)

    return cast(Method, keep)


def count_bytes(value: Any) -> int:
    """Bytes of the arrays in a statistic."""
    if isinstance(value, (list, tuple)):
        return sum(map(count_bytes, value))
    if isinstance(value, dict):
        return count_bytes(list(value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return count_bytes([getattr(value, one.name) for one in dataclasses.fields(value)])
    return int(getattr(value, "nbytes", 0))


def _name_of(work: Any) -> str:
    """What is done with a block, by name."""
    while isinstance(work, partial):
        work = work.func
    found = getattr(work, "__qualname__", type(work).__qualname__)
    return f"{getattr(work, '__module__', type(work).__module__)}.{found}"
