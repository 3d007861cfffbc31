"""The memory limit of a fit: of all that the process holds at its peak."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowdim.errors import BadParameter, Piece, TooLarge
from lowdim.runtime import machine

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


@dataclass(frozen=True)
class Budget:
    """A limit of the memory that the whole process holds, in bytes."""

    limit: int

    @property
    def held(self) -> int:
        """Bytes that the process holds now."""
        return resident_bytes()

    @property
    def room(self) -> int:
        """Bytes that may still be taken; not negative."""
        return max(0, self.limit - self.held - SLACK)


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


def resident_bytes() -> int:
    """Bytes that the process holds in memory now; 0 where the system does not say."""
    return machine.held_bytes() or 0


def available_memory() -> int:
    """Available memory in bytes, without swapping, of the machine and its container; no limit where it is not known."""
    free = machine.free_bytes()
    return sys.maxsize if free is None else free


def left_memory(budget: Budget | None = None) -> int:
    """Bytes that may still be taken: what the machine has, and what a budget allows of it."""
    return available_memory() if budget is None else min(budget.room, available_memory())


def refuse_beyond(
    needed: float,
    what: str,
    advise: Callable[[int], tuple[Piece, ...]] | tuple[Piece, ...],
    budget: Budget | None = None,
) -> None:
    """An error, before anything is done, if work takes more bytes than are left.

    `what` it is that takes them; `advise` says what would do, where that depends on how many bytes are left.
    """
    left = left_memory(budget)
    if needed > left:
        raise TooLarge.beyond(what, needed, left, *(advise(left) if callable(advise) else advise))
