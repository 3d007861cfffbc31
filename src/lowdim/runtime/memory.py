"""The memory limit of a fit: of all that the process holds at its peak, and with it the processes that read for it.

A fit with `memory=` puts its budget in force, and all that is done inside counts with it: files are opened, rows are
counted and read in blocks, solvers are chosen and libraries loaded by what it leaves.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Protocol
from weakref import WeakSet

from lowdim.errors import BadParameter, LowdimError, Piece, Setting, TooLarge
from lowdim.runtime import machine
from lowdim.runtime.threads import allowed_threads

BYTES_PER_UNIT = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}

SLACK = 40_000_000
"""Bytes left free for what is not planned: BLAS's own buffers, Python's objects, fragmented memory."""

LIBRARIES = {"torch": 300_000_000, "sklearn": 120_000_000}
"""Bytes that a process holds more once it has loaded these, with all that they load: measured, and rounded up."""

RESERVE = 1.05
"""What a refusal says to be enough, by what was reckoned: another process does not hold the same to the byte."""


@dataclass(frozen=True)
class Budget:
    """A limit of the memory that the whole process and those that read for it hold, in bytes."""

    limit: int

    @property
    def held(self) -> int:
        """Bytes that the process and those that read for it hold now, and cannot do without."""
        give_back()
        return resident_bytes()

    @property
    def room(self) -> int:
        """Bytes that may still be taken; not negative."""
        return max(0, self.limit - self.held - SLACK)

    @cached_property
    def first_room(self) -> int:
        """The room when it was first asked for: blocks that are cut by it are the same in every pass."""
        return self.room

    def refusal(self, what: str, needed: float, *advice: Piece) -> TooLarge:
        """The error that tells what takes more than the limit leaves, and which limit would do."""
        held = self.held
        enough = math.ceil((held + needed + SLACK) * RESERVE / 1e6)
        return TooLarge(
            f"{what} {needed / 1e6:,.0f} MB beside the {held / 1e6:,.0f} MB that the process holds already and "
            f"{SLACK / 1e6:,.0f} MB to spare, but memory is limited to {self.limit / 1e6:,.0f} MB: allow "
            f"{enough:,} MB, or ",
            *advice,
            ".",
        )


_in_force: ContextVar[Budget | None] = ContextVar("lowdim_budget", default=None)


@contextmanager
def within(budget: Budget | None) -> Iterator[None]:
    """Put a budget in force for the work inside; None leaves the one around it."""
    token = None if budget is None else _in_force.set(budget)
    try:
        yield
    finally:
        if token is not None:
            _in_force.reset(token)


def budget_in_force() -> Budget | None:
    """The budget of the fit under way, if it has one."""
    return _in_force.get()


def budget_of(owner: str, memory: Any) -> Budget | None:
    """The budget behind memory=None, a number of bytes, or a text such as "512MB" or "1.5 GiB"."""
    if memory is None:
        return None
    if machine.held_bytes() is None:
        raise BadParameter(
            f"{owner}(memory={memory!r}): this system ({machine.SYSTEM}) does not say how much memory a process holds, "
            "so that no limit can be kept: pip install psutil, or leave memory out."
        )
    return Budget(bytes_of(owner, memory))


def bytes_of(owner: str, memory: Any) -> int:
    """A number of bytes, or what a text says such as "512MB" or "1.5 GiB"."""
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    if isinstance(memory, str):
        parts = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", memory)
        if parts and parts[2].lower() in BYTES_PER_UNIT and float(parts[1]) > 0:
            return int(float(parts[1]) * BYTES_PER_UNIT[parts[2].lower()])
    raise BadParameter.of(owner, "memory", memory, "None, a number of bytes, or a text such as '512MB' or '1.5GiB'")


class Helper(Protocol):
    """A process that works for this one."""

    @property
    def held(self) -> int:
        """Bytes of memory that it held when it last said so; 0: it has ended."""


_helpers: WeakSet[Helper] = WeakSet()


def count_helper(helper: Helper) -> None:
    """Have what this one holds count as held, as long as it lives."""
    _helpers.add(helper)


def resident_bytes() -> int:
    """Bytes that the process and those that read for it hold in memory now; 0 where the system does not say."""
    return (machine.held_bytes() or 0) + sum(helper.held for helper in list(_helpers))


def still_to_load(library: str) -> int:
    """Bytes that the process will hold more once it has loaded a library of LIBRARIES; 0: it has, or cannot."""
    return 0 if library in sys.modules or find_spec(library) is None else LIBRARIES[library]


def give_back() -> None:
    """Return to the system what allocators keep of memory that was freed: it would count as held."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(arrow, "default_memory_pool"):
        arrow.default_memory_pool().release_unused()
    machine.trim_heap()


def available_memory() -> int:
    """Available memory in bytes, without swapping, of the machine and its container; no limit where it is not known."""
    free = machine.free_bytes()
    return sys.maxsize if free is None else free


def left_memory() -> int:
    """Bytes that may still be taken: what the machine has, and what the budget in force allows of it."""
    budget = budget_in_force()
    return available_memory() if budget is None else min(budget.room, available_memory())


def refuse_beyond(needed: float, what: str, advise: Callable[[int], tuple[Piece, ...]] | tuple[Piece, ...]) -> None:
    """An error, before anything is done, if work takes more bytes than are left.

    `what` it is that takes them; `advise` says what would do, where that depends on how many bytes are left.
    """
    free, budget = available_memory(), budget_in_force()
    room = free if budget is None else budget.room
    left = min(free, room)
    if needed <= left:
        return
    advice = advise(left) if callable(advise) else advise
    if budget is not None and needed <= free:
        raise budget.refusal(f"{what} would take", needed, *advice)
    raise TooLarge.beyond(what, needed, left, *advice)


# Errors of others that mean that there is too little memory.


def lack_of(error: Exception, what: str) -> TooLarge | None:
    """Our own error for such an error of others, met by the work that is named; None for every other error."""
    if isinstance(error, LowdimError) or not machine.is_lack(error):
        return None
    said = " ".join(str(error).split())[:200]
    return TooLarge(
        f"{what} needs more memory than the system gives{f' ({said})' if said else ''}: take fewer rows or columns, or "
        "set ",
        Setting("memory", "1GB"),
        ", with which rows of a file are read in smaller blocks.",
    )


# Blocks of rows, as a budget cuts them.

LEAST_BLOCK_BYTES = 2**18
"""Smaller blocks would be read and folded at a price."""


def held_blocks() -> int:
    """Blocks held at a time: each thread has a prepared copy; streamed ones wait, are in work, or being read."""
    return 2 * allowed_threads() + 4


def whole_power(limit: int) -> int:
    """The power of two up to a limit: rows are cut the same way whatever few bytes a process holds more or less."""
    return 1 << (max(1, limit).bit_length() - 1)


def block_limit(reading_bytes: int, blocks_beside: int) -> int | None:
    """Bytes of a block of rows where a fit has planned none: all blocks take half of what the budget leaves.

    `reading_bytes` is what reading takes beside them, in so many further blocks. None: no budget is in force.
    """
    budget = budget_in_force()
    if budget is None:
        return None
    return max(
        LEAST_BLOCK_BYTES, whole_power((budget.first_room - reading_bytes) // 2 // (held_blocks() + blocks_beside))
    )
