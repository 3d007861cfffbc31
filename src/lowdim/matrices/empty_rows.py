"""Rows of which nothing was observed: a model gives something for them too, and whoever gets it must be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from lowdim.errors import UnseenRows
from lowdim.matrices.preparation import dense
from lowdim.runtime.warn import warn_user
from lowdim.sources.source import Block, Source, WrappedSource
from lowdim.types import Array, Places


def empty_rows(rows: Any) -> Places:
    """Places of the rows (n, p) that are missing as a whole; only those without a first value are looked at further."""
    values = dense(rows)
    maybe = np.flatnonzero(np.isnan(values[:, 0])) if values.dtype.kind == "f" else np.zeros(0, dtype=np.intp)
    found: Places = maybe[np.isnan(values[maybe]).all(axis=1)]
    return found


def find_empty_rows(source: Source) -> tuple[Places, int]:
    """The same of all rows, counted from 0, and how many there are; one pass."""
    return source.reduce(_find_in_block, _join)


def _find_in_block(block: Block) -> tuple[Places, int]:
    found: Places = block.start + empty_rows(block.rows)
    return found, block.rows.shape[0]


def _join(one: tuple[Places, int], other: tuple[Places, int]) -> tuple[Places, int]:
    return np.concatenate([one[0], other[0]]), one[1] + other[1]


def warn_of_empty_rows(source: Source, observed: Array, n_rows: int) -> None:
    """Warn of them after a fit, which counted what was `observed` (p,) in its rows; one pass, if there may be some."""
    if source.repeatable and not source.sparse and (observed < n_rows).all():
        found, count = find_empty_rows(source)
        _warn(source, found.tolist(), count)


@contextmanager
def warning_of_empty_rows(source: Source) -> Iterator[Source]:
    """The source, to be read once: at the end its empty rows are warned of. Lazy and sparse rows are not looked at."""
    if source.remote or source.sparse:
        yield source
        return
    watched = _Watched(source)
    yield watched
    _warn(source, watched.found, watched.count)


@final
class _Watched(WrappedSource):
    """Another source; empty rows are noted as they pass."""

    def __init__(self, source: Source):
        super().__init__(source)
        self.found: list[int] = []
        self.count = 0

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Those of the other source."""
        for block in self.inner.blocks(least_rows):
            found, count = _find_in_block(block)
            self.found += found.tolist()
            self.count += count
            yield block

    def describe(self) -> str:
        """As the other source."""
        return self.inner.describe()


def _warn(source: Source, found: list[int], n_rows: int) -> None:
    if found:
        names = source.row_names() if source.repeatable else None
        warn_user(UnseenRows(found, n_rows, names if names is not None and len(names) == n_rows else None))
