"""Columns of Arrow tables as NumPy has them; lists of numbers and records become a column for each entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.errors import BadFile, NeedsExtra, Setting, TableNote
from lowdim.sources.columns import Column, Kind
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

try:
    import pyarrow as pa
    import pyarrow.compute
except ImportError as error:
    raise NeedsExtra.package(
        "pyarrow", "Reading Parquet and Feather files, and asking tables by SQL,", "files"
    ) from error

BATCH_ROWS = 2**14
"""Rows of a batch that is handed on to DuckDB."""

Step = str | int
"""The field of a record, or the place in a list."""

Sampler = Callable[[str], Sequence[Any]]
"""Gives chunks of the first rows of a column."""


@dataclass(frozen=True)
class Leaf:
    """A column as it is worked with: one of the Arrow table, or an entry of its lists or records."""

    column: Column
    top: str
    """The column of the table that holds it."""
    steps: tuple[Step, ...] = ()
    """The way to it from there."""


def column_to_bytes(column: Any) -> bytes:
    """A column as it travels to another process."""
    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    sink = pa.BufferOutputStream()
    table = pa.table({"": chunks})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def column_from_bytes(data: Any) -> Any:
    """The column again, after every place in it was looked at: a file may have taken over the process it is from."""
    try:
        column = pa.ipc.open_stream(pa.py_buffer(data)).read_all().column(0)
        column.validate(full=True)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error
    return column


class ArrowColumns:
    """The columns of an Arrow schema, lists and records taken apart."""

    def __init__(self, schema: Any, sample: Sampler):
        self._lengths: dict[tuple[Step, ...], int] = {}
        """Way to a list → entries of each."""
        self.notes: list[TableNote] = []
        self._sample: Sampler | None = sample
        self.leaves = {leaf.column.name: leaf for field in schema for leaf in self._leaves(field.name, field.type, ())}
        self._sample = None  # it may hold rows
        self.columns = tuple(leaf.column for leaf in self.leaves.values())
        self._within: dict[str, list[str]] = {}
        for name, leaf in self.leaves.items():
            self._within.setdefault(leaf.top, []).append(name)

    def tops(self, names: Iterable[str]) -> list[str]:
        """The columns of the table that hold these."""
        return list(dict.fromkeys(self.leaves[name].top for name in names))

    def gather(
        self, batches: Iterable[Any], names: list[str], rows: int, where: str = "", stored: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Small batches joined until they have about so many rows, then as NumPy columns, or as they are stored."""
        waiting: list[Any] = []
        count, start = 0, 0
        for batch in batches:
            if count and count + batch.num_rows > rows:
                yield self.columns_of(waiting, names, where, start, stored)
                start += count
                waiting, count = [], 0
            waiting.append(batch)
            count += batch.num_rows
        if count:
            yield self.columns_of(waiting, names, where, start, stored)

    def columns_of(
        self, tables: Sequence[Any], names: Sequence[str], where: str = "", start: int = 0, stored: bool = False
    ) -> dict[str, Any]:
        """These columns of tables that follow each other, as NumPy has them; the first row has this number.

        Those that are `stored` come as Arrow has them, but for entries of lists and records.
        """
        known: dict[tuple[Step, ...], Array] = {}
        found: dict[str, Any] = {}
        for name in names:
            leaf = self.leaves[name]
            parts = [part for table in tables for part in _chunks(table.column(leaf.top))]
            if not leaf.steps:
                found[name] = pa.chunked_array(parts) if stored else join_chunks(parts)
                continue
            try:
                found[name] = self._entry(parts, leaf, known)
            except _OtherLength as other:
                raise BadFile(
                    f"{where}: {leaf.top} has {other.length} entries in row {start + other.row + 1:,}, where others "
                    f"have {other.usual}; ",
                    Setting("drop", self.of_tops([leaf.top])),
                    " leaves it out.",
                ) from None
        return found

    def of_tops(self, tops: Iterable[str]) -> list[str]:
        """The columns that these columns of the table hold."""
        return [name for top in tops for name in self._within[top]]

    # -- what there is --------------------------------------------------------------------------------------------

    def _leaves(self, top: str, kind: Any, steps: tuple[Step, ...]) -> Iterator[Leaf]:
        """The columns that a column of the table, or an entry of it, becomes."""
        name = ".".join(map(str, (top, *steps)))
        if pa.types.is_struct(kind):
            for field in kind:
                yield from self._leaves(top, field.type, (*steps, field.name))
            return
        if not is_list(kind):
            column = Column(name, kind_of(kind), pa.types.is_float32(kind), "bytes" if pa.types.is_binary(kind) else "")
            yield Leaf(column, top, steps)
            return
        inner = kind_of(kind.value_type)
        if inner not in ("number", "flag"):
            what = {"text": "words", "time": "times", "empty": "nothing"}.get(inner, "lists or records")
            yield Leaf(Column(name, "other", why=f"lists of {what}"), top, steps)
            return
        length = self._find_length(name, top, kind, steps)
        if length is None:
            yield Leaf(Column(name, "other", why="lists of different lengths"), top, steps)
            return
        self._lengths[(top, *steps)] = length
        for j in range(length):
            yield Leaf(Column(f"{name}.{j}", inner, pa.types.is_float32(kind.value_type)), top, (*steps, j))

    def _find_length(self, name: str, top: str, kind: Any, steps: tuple[Step, ...]) -> int | None:
        """Entries of each list; None where they differ in the first rows, which is noted."""
        if pa.types.is_fixed_size_list(kind):
            return int(kind.list_size)
        lengths: dict[int, int] = {}
        row = 0
        assert self._sample is not None
        for chunk in self._sample(top):
            counts = pa.compute.list_value_length(_follow(chunk, steps)).to_numpy(zero_copy_only=False)
            for at in np.flatnonzero(~np.isnan(np.asarray(counts, dtype=float))):
                lengths.setdefault(int(counts[at]), row + int(at) + 1)
            row += len(chunk)
        if len(lengths) > 1:
            said = [f"{length} (row {at:,})" for length, at in list(lengths.items())[:2]]
            text = f"{name} is left out: its lists have different lengths, {' and '.join(said)}."
            self.notes.append(TableNote(name, text, matters="first"))
        return next(iter(lengths)) if len(lengths) == 1 and 0 not in lengths else None

    # -- what it holds --------------------------------------------------------------------------------------------

    def _entry(self, parts: Sequence[Any], leaf: Leaf, known: dict[tuple[Step, ...], Array]) -> Array:
        """(n,) an entry of records or lists; a list is taken apart once for all of its entries."""
        *way, last = leaf.steps
        if isinstance(last, str):
            return join_chunks([_follow(part, leaf.steps) for part in parts])
        key = (leaf.top, *way)
        if key not in known:
            rows, done = [], 0
            for part in parts:
                rows.append(_list_rows(_follow(part, way), self._lengths[key], done))
                done += len(part)
            known[key] = np.concatenate(rows)
        return known[key][:, last]


class _OtherLength(Exception):
    def __init__(self, row: int, length: int, usual: int):
        self.row, self.length, self.usual = row, length, usual


def _follow(array: Any, steps: Iterable[Step]) -> Any:
    """A field of records."""
    for step in steps:
        array = pa.compute.struct_field(array, step)
    return array


def _list_rows(array: Any, length: int, done: int) -> Array:
    """(n, length) the entries of lists, NaN where a list is missing."""
    lengths = np.asarray(pa.compute.list_value_length(array).to_numpy(zero_copy_only=False), dtype=float)
    there = ~np.isnan(lengths)
    odd = np.flatnonzero(there & (lengths != length))
    if len(odd):
        raise _OtherLength(done + int(odd[0]), int(lengths[odd[0]]), length)
    entries = to_numpy(array.flatten())
    rows = np.full((len(array), length), np.nan, dtype=entries.dtype if entries.dtype.kind == "f" else np.float64)
    rows[there] = entries.reshape(-1, length)
    return rows


def is_list(kind: Any) -> bool:
    """Whether a column holds lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


KINDS: list[tuple[Callable[[Any], bool], Kind]] = [
    (pa.types.is_boolean, "flag"),
    (pa.types.is_integer, "number"),
    (pa.types.is_floating, "number"),
    (pa.types.is_decimal, "number"),
    (pa.types.is_null, "empty"),
    (pa.types.is_temporal, "time"),
    (pa.types.is_string, "text"),
    (pa.types.is_large_string, "text"),
    (pa.types.is_string_view, "text"),
]


def kind_of(kind: Any) -> Kind:
    """What a column of an Arrow type holds."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return next((name for test, name in KINDS if test(kind)), "other")


def _chunks(column: Any) -> Sequence[Any]:
    chunks: Sequence[Any] = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return chunks or [pa.array([], column.type)]


def join_chunks(chunks: Sequence[Any]) -> Array:
    """The chunks of a column as one array; a single one is not copied."""
    arrays = [to_numpy(chunk) for chunk in chunks]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def to_numpy(column: Any) -> Array:
    """A column as NumPy has it; missing numbers are NaN."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if kind_of(column.type) in ("flag", "empty") or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    array: Array = column.to_numpy(zero_copy_only=False)
    return array


def open_zstandard(path: Path) -> Any:
    """The bytes of a file that is packed so."""
    return pa.input_stream(str(path), compression="zstd")


class read_errors:  # noqa: N801  used as a verb: with reading(path)
    """Turns what Arrow says about a bad file into one sentence that names it; errors of one kind pass as they are."""

    def __init__(self, path: Path, but: type[Exception] | tuple[type[Exception], ...] = ()):
        self._path, self._but = path, but

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        known = (pa.ArrowException, OSError, EOFError, UnicodeError)
        if isinstance(error, known) and not isinstance(error, (BadFile, self._but)):
            what = " ".join(str(error).split())[:300]
            raise BadFile(f"{self._path}: cannot be read: {what}") from error


# Other readers' tables as Arrow has them.


def as_stream(reader: TableReader) -> Any:
    """The table of any reader as a stream of Arrow record batches, for DuckDB; columns of other kinds are left out."""
    types = {"number": pa.float64(), "flag": pa.float64(), "text": pa.string(), "time": None, "empty": pa.string()}
    kinds = {column.name: types[column.kind] for column in reader.columns if column.kind in types}
    batches = reader.batches(list(kinds), BATCH_ROWS)
    first = next(batches, None)
    if first is None:
        raise BadFile(f"{reader.name}: has columns but no rows; at least one row is needed.")
    arrays = [_to_arrow(first[name], kind) for name, kind in kinds.items()]
    schema = pa.schema([(name, array.type) for name, array in zip(kinds, arrays, strict=True)])
    rest: Iterator[Mapping[str, Array]] = batches
    later = ([_to_arrow(batch[name], schema.field(name).type) for name in kinds] for batch in rest)
    return pa.RecordBatchReader.from_batches(
        schema, (pa.RecordBatch.from_arrays(one, schema=schema) for one in chain([arrays], later))
    )


def _to_arrow(values: Array, kind: Any) -> Any:
    """A column as Arrow has it; NaN is a missing number."""
    if kind == pa.string():
        values = np.array([None if one is None or one != one else str(one) for one in values.tolist()], dtype=object)
    return pa.array(values, type=kind, from_pandas=True)
