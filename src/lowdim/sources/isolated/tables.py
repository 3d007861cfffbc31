"""Tables and arrays whose rows come from a child, for everything else like those that are read in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy

from lowdim.errors import BadFile, TableNote
from lowdim.sources.arrays import SparseSource
from lowdim.sources.columns import Column
from lowdim.sources.formats.stored import Rows, StoredSource
from lowdim.sources.isolated.process import Child
from lowdim.sources.source import Source
from lowdim.sources.tables.layout import Lines
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

NUMBERS = count()
"""Of readings of rows, each another in this process."""

SLACK = 2**25
"""Bytes that a child takes beside what it held when it had opened a file: code loaded late, fragmented memory."""

BLOCKS_BESIDE = 2
"""Of a block that a child gives it holds its own, and the memory that both share a copy."""


@final
class IsolatedReader(TableReader):
    """A table that a child reads."""

    columns: tuple[Column, ...]
    blocks_beside = BLOCKS_BESIDE

    def __init__(self, child: Child | None, kind: str, path: Path, table: str | None, lines: Lines):
        self._child = child = child or Child([path])
        call = {"what": "table", "kind": kind, "path": path, "table": table, "lines": lines}
        self._number, about = child.open(call)
        self._notes: list[TableNote] = about.pop("notes")
        for name, value in about.items():
            setattr(self, name, value)

    @property
    def notes(self) -> Sequence[TableNote]:
        """What was guessed or passed over, as it was last said."""
        return self._notes

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """As they come from the child."""
        return self._stream(names, rows, stored=False)

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """As they come from the child."""
        return self._stream(names, rows, stored=True)

    def first_rows(self, names: list[str], rows: int) -> tuple[dict[str, Array], bool]:
        """As the child gives them."""
        found: tuple[dict[str, Array], bool] = self._child.ask(
            do="first_rows", number=self._number, names=names, rows=rows
        )
        return found

    def reading_bytes(self, names: list[str]) -> int:
        """What reading takes in the child beside what that holds already."""
        return SLACK + int(self._child.ask(do="reading_bytes", number=self._number, names=names))

    def _stream(self, names: list[str], rows: int, stored: bool) -> Iterator[Any]:
        stream, child = next(NUMBERS), self._child
        child.refuse_changed()
        child.ask(do="batches", number=self._number, stream=stream, names=names, rows=rows, stored=stored)
        try:
            while (batch := child.ask(do="next", stream=stream)) is not None:
                if list(batch) != names or len({len(column) for column in batch.values()}) != 1:
                    raise BadFile(f"{self.name}: other columns came than were asked for; do not use it.")
                yield batch
            self._notes = child.ask(do="notes", number=self._number)
        finally:
            child.leave(stream)


def isolated_array(paths: Sequence[Path], child: Child | None = None, **said: Any) -> Source:
    """An array in a file, or the pictures in several, read by a child."""
    own = child is None
    child = child or Child(paths)
    number, about = child.open({"what": "array", "paths": list(paths), **said})
    beside, label, names = (about.pop(name) for name in ("beside", "label", "names"))
    source: Source
    if "indptr" in about:
        source = _sparse(about)
        source.beside = beside
        if own:  # all that is wanted of it is here
            child.end()
    else:
        about["dtype"] = np.dtype(about["dtype"])
        source = StoredSource(partial(_open_rows, child, number), **about, beside=beside)
        source.reading_bytes += SLACK
        source.blocks_beside = BLOCKS_BESIDE
    source.label, source.names = label, names
    return source


def isolated_picture(path: Path) -> Array:
    """The pixels of a picture, decoded by a child."""
    child = Child([path])
    pixels: Array = child.open({"what": "picture", "path": path})[1]["pixels"]
    child.end()
    return pixels


@contextmanager
def _open_rows(child: Child, number: int) -> Iterator[Rows]:
    stream = next(NUMBERS)
    child.refuse_changed()
    child.ask(do="rows", number=number, stream=stream)
    try:
        yield partial(_between, child, stream)
    finally:
        child.leave(stream)


def _between(child: Child, stream: int, start: int, stop: int) -> Array:
    rows: Array = child.ask(do="between", stream=stream, start=start, stop=stop)
    if len(rows) != stop - start:
        raise BadFile(f"{child.name}: {stop - start:,} rows were asked for, and {len(rows):,} came; do not use it.")
    return rows


def _sparse(about: Mapping[str, Any]) -> SparseSource:
    """A sparse matrix whose pointers are looked at here as well: compiled code trusts them."""
    matrix = scipy.sparse.csr_array((about["data"], about["indices"], about["indptr"]), shape=about["shape"])
    matrix.check_format(full_check=True)
    return SparseSource(matrix, about["columns"], name=about["title"])
