"""Lines of many numbers: parsed as rows, where readers of columns pay for each column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from lowdim.types import Floats

MANY_COLUMNS = 4096
"""From here on: Arrow holds about 8 kB for every column of a text, of tables of 20,000 more than their numbers take."""


def read_numbers(
    lines: Iterator[str], separator: str, width: int, passed: Collection[int], rows: int
) -> Iterator[Floats]:
    """Blocks of at most so many rows (m, width) of lines of numbers; columns that are passed over are NaN.

    A cell that is no number, a missing one too, or a line of another length is a ValueError, before anything is given
    of its block.
    """
    nothing: dict[int | str, Callable[[str], Any]] = dict.fromkeys(passed, _say_nothing)
    filled = (line for line in lines if not line.isspace())
    for first in filled:
        block = np.loadtxt(
            chain([first], islice(filled, rows - 1)),
            delimiter=separator,
            comments=None,
            quotechar='"',
            converters=nothing or None,
            ndmin=2,
        )
        if block.shape[1] != width:
            raise ValueError(f"{block.shape[1]} cells in a line, and {width} are needed")
        yield block


def _say_nothing(cell: str) -> float:
    return np.nan
