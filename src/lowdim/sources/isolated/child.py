"""What runs in a child: it sets its limits, then opens what it is asked to and gives its rows, answer by answer.

Started by `isolated/process.py`, and by nothing else. It answers on the pipe that was its standard output; what parsers
print goes nowhere.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.errors import LowdimError, NeedsExtra, Told
from lowdim.runtime.machine import held_bytes, leave_network
from lowdim.runtime.memory import give_back
from lowdim.sources.arrays import SparseSource
from lowdim.sources.formats.packed import likely_bytes
from lowdim.sources.formats.stored import StoredSource
from lowdim.sources.formats.text_tables import SAMPLE_BYTES
from lowdim.sources.isolated.limits import Limits, allow_seconds, end_with_parent, limit_files, limit_memory
from lowdim.sources.isolated.process import HEAD
from lowdim.sources.isolated.wire import pack, unpack
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

STREAMED = ("next", "between")
"""Questions for blocks of rows."""

MIN_SHARED_BYTES = 2**16
"""Arrays of fewer bytes go through the pipe."""


def main(said: dict[str, Any], area_bytes: int) -> None:
    """Serve until the parent is gone."""
    questions, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this
    limits = Limits(said["memory"], said["seconds"])
    leave_network()
    if os.name == "posix":
        end_with_parent(said["lifeline"])
    limit_files()
    served = _Served(limits)
    while True:
        head = _read(questions, HEAD.size)
        if head is None:
            return
        asked = unpack(_read(questions, HEAD.unpack(head)[0]) or b"")
        allow_seconds(limits.seconds)
        served.leave(asked["left"])
        _say(answers, said["area"], area_bytes, _answer(served, asked["question"]))


def _answer(served: _Served, question: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for unheard in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", unheard)
        try:
            answer["value"] = served.do(**question)
        except LowdimError as error:
            answer["error"] = error
        except Exception as error:  # the parent says it in its own words
            if os.environ.get("LOWDIM_DEBUG"):
                traceback.print_exception(error)
            answer["error"] = (type(error).__name__, str(error)[:1000])
    told = [one.message if isinstance(one.message, Told) else str(one.message) for one in caught]
    if question["do"] not in STREAMED:  # between blocks it would be taken again at once
        give_back()
    return {**answer, "warnings": told, "held": held_bytes() or 0}


def _say(pipe: int, area: int | None, area_bytes: int, answer: dict[str, Any]) -> None:
    text, arrays = pack(answer)
    total = sum(map(len, arrays))
    shared = area is not None and MIN_SHARED_BYTES <= total <= area_bytes
    if shared and area is not None:
        with mmap.mmap(area, total) as memory:
            there = 0
            for array in arrays:
                memory[there : there + len(array)] = array.data
                there += len(array)
    _write(pipe, HEAD.pack(len(text), total, shared) + text)
    for array in () if shared else arrays:
        _write(pipe, array.data)


def _read(pipe: int, count: int) -> bytes | None:
    """So many bytes; None where the other side is gone."""
    found = b""
    while len(found) < count:
        part = os.read(pipe, count - len(found))
        if not part:
            return None
        found += part
    return found


def _write(pipe: int, data: Any) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view[: 2**20]) :]


class _NoPandas(MetaPathFinder):
    """Arrow loads pandas where it finds it, which takes 40 MB: it does without."""

    @classmethod
    def install(cls, wanted: bool) -> None:
        """Have it not be found from now on; or be found again, for files that need it."""
        others = [finder for finder in sys.meta_path if not isinstance(finder, cls)]
        sys.meta_path[:] = [cls(), *others] if wanted else others

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Nothing of other packages; an error where pandas is asked for."""
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class _Served:
    """What was opened, and the rows that are being read of it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._opened: list[Any] = []
        self._streams: dict[int, tuple[Any, Callable[..., Any]]] = {}
        """Number → what is to be closed with it, and what gives the next rows."""

    def do(self, do: str, **said: Any) -> Any:
        """Answer one question."""
        return getattr(self, f"_{do}")(**said)

    def _open(self, what: str, **said: Any) -> dict[str, Any]:
        limit_memory(None)
        _NoPandas.install(said.get("kind") in BY_ARROW)
        for module in LOADED.get(said.get("kind", what), ()):  # the code is not what a file takes
            if module.startswith("arrow_") and likely_bytes(said["path"]) < SAMPLE_BYTES:
                continue  # it reads large ones alone
            with suppress(NeedsExtra):
                import_module(f"lowdim.sources.formats.{module}")
        limit_memory(self._limits)
        opened = OPENERS[what](**said)
        self._opened.append(opened)
        if isinstance(opened, TableReader):
            return _describe_table(opened)
        return _describe_array(opened)

    def _notes(self, number: int) -> list[Any]:
        return list(self._opened[number].notes)

    def _reading_bytes(self, number: int, names: list[str]) -> int:
        return int(self._opened[number].reading_bytes(names))

    def _first_rows(self, number: int, names: list[str], rows: int) -> Any:
        return self._opened[number].first_rows(names, rows)

    def _batches(self, number: int, stream: int, names: list[str], rows: int, stored: bool) -> None:
        reader = self._opened[number]
        batches: Iterator[Any] = (reader.stored if stored else reader.batches)(names, rows)
        stack = ExitStack()
        stack.callback(batches.close)  # type: ignore[attr-defined]
        self._streams[stream] = stack, lambda: next(batches, None)

    def _rows(self, number: int, stream: int) -> None:
        stack = ExitStack()
        self._streams[stream] = stack, stack.enter_context(self._opened[number]._opened())

    def _next(self, stream: int, *place: int) -> Any:
        return self._streams[stream][1](*place)

    def _between(self, stream: int, start: int, stop: int) -> Array:
        stack, rows = self._streams[stream]
        try:
            return np.asarray(rows(start, stop))
        except Exception:
            stack.__exit__(*sys.exc_info())  # where it was opened it is known what its errors mean
            raise

    def leave(self, streams: Iterable[int]) -> None:
        """No more is wanted of these rows."""
        for stream in streams:
            if stream in self._streams:
                self._streams.pop(stream)[0].close()


def _describe_table(reader: TableReader) -> dict[str, Any]:
    known = ("name", "columns", "n_rows", "repeatable", "size", "likely_rows", "decimal", "marks", "surprises")
    return {**{name: getattr(reader, name) for name in known}, "notes": list(reader.notes)}


def _describe_array(source: Any) -> dict[str, Any]:
    if isinstance(source, np.ndarray):
        return {"pixels": source}
    beside = {"beside": dict(source.beside), "label": source.label, "names": source.names}
    if isinstance(source, SparseSource):
        matrix = source.matrix
        parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        return {**beside, **parts, "shape": matrix.shape, "columns": source.columns, "title": source.title}
    assert isinstance(source, StoredSource)
    return {**beside, **source.facts}


def _open_table(kind: str, path: Path, table: str | None, lines: Any) -> TableReader:
    from lowdim.sources.kinds import open_table

    return open_table(kind, path, table, lines, "never")


def _open_array(**said: Any) -> Any:
    from lowdim.sources.files import open_array

    return open_array(**said)


def _open_picture(path: Path) -> Array:
    from lowdim.sources.formats.pictures import decode_picture

    return decode_picture(path)


LOADED = {
    "csv": ("text_tables", "arrow"),
    "tsv": ("text_tables", "arrow"),
    "zip": ("json_tables", "arrow_json", "arrow"),
    "json": ("json_tables", "arrow_json"),
    "feather": ("arrow",),
    "parquet": ("parquet",),
    "excel": ("excel",),
    "sqlite": ("sqlite",),
    "duckdb": ("duckdb",),
    "hdf5": ("hdf5",),
    "h5ad": ("h5ad",),
    "zarr": ("zarr",),
    "pictures": ("pictures",),
    "picture": ("pictures",),
}
"""Kind of file → modules that read it."""

BY_ARROW = ("feather", "parquet", "json", "zip", "csv", "tsv")
"""Kinds of files that Arrow reads."""

OPENERS: dict[str, Callable[..., Any]] = {"table": _open_table, "array": _open_array, "picture": _open_picture}
