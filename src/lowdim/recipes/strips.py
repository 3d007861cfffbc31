"""Strips of a picture worked on in threads, in order, with whoever watches told how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from lowdim.sources.progress import new_pass
from lowdim.sources.workers import in_order

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_strips(work: Callable[[Item], Result], strips: Sequence[Item], height: int) -> Iterator[Result]:
    """Results of all strips of a picture in their order; a watcher that asks to stop ends it as Ctrl-C does."""
    tell = new_pass(height)
    for done, result in enumerate(in_order(work, strips), start=1):
        yield result
        if tell(height * done // len(strips)):
            raise KeyboardInterrupt
