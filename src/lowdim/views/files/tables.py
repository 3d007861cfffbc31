"""Tables to files, a batch of rows at a time; the ending says the kind. Like sources/formats/arrow.py loads pyarrow.

A file appears when it is whole: until then it is written beside its place (`runtime/files.py`). Text and NumPy files
need nothing that is not there anyway; Parquet, Feather and `.zst` need pyarrow.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, cast, final

from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, NeedsExtra
from lowdim.runtime.files import atomic_write
from lowdim.views.files.table_writers import (
    CsvWriter,
    JsonLinesWriter,
    NpyWriter,
    NpzWriter,
    TableWriter,
    is_text,
    texts,
)

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".npy": "npy",
    ".npz": "npz",
}

COMPRESSED = (".gz", ".zst")
"""May follow the ending of a text file."""


def table_kind(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Kind of table and compression that the ending of a path asks for; an error if it is none that is written."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSED else ""
    kind = ENDINGS.get(suffixes[-1] if suffixes else "", "")
    if not kind or (packing and kind not in ("csv", "tsv", "jsonl")):
        ending = "".join(suffixes[-1:]) + packing
        known = f"{', '.join(ENDINGS)} are (.csv, .tsv and .jsonl also with {' or '.join(COMPRESSED)})"
        raise BadParameter(f"{os.fspath(path)}: tables ending in {ending or 'nothing'} are not written; {known}.")
    if packing == ".zst" or kind in ("parquet", "feather"):
        _arrow(f"Writing {packing or kind} files")
    return kind, packing


@contextmanager
def open_table(
    path: str | os.PathLike[str] | None, names: Sequence[str], *, raw: bool = False, stream: IO[bytes] | None = None
) -> Iterator[TableWriter]:
    """Write a table of named columns, batch by batch; the file is there when the block ends without an error.

    Parameters
    ----------
    path : path, "-" or None
        The ending says the kind of file; "-" and None are CSV to `stream`, or to standard output.
    names : list of texts
        Columns, in the order in which they will stand.
    raw : bool
        Write texts in CSV as they are. Otherwise those that a spreadsheet would run as a formula get a leading '.

    Examples
    --------
    >>> out = io.BytesIO()
    >>> with open_table("-", ["country", "PC1"], stream=out) as table:
    ...     table.write({"country": ["Wales", "=Ireland"], "PC1": [-0.5, 2.0]})
    >>> print(out.getvalue().decode().rstrip())
    country,PC1
    Wales,-0.5
    '=Ireland,2.0
    """
    names = _distinct(names, path)
    if path is None or os.fspath(path) == "-":
        out = _HeldBack(sys.stdout.buffer if stream is None else stream)
        table: TableWriter = CsvWriter("standard output", cast(IO[bytes], out), names, raw)
        yield table
        table.finish()
        out.flush()
        return
    kind, packing = table_kind(path)
    with atomic_write(path) as file, _packed(file, packing) as packed:
        table = _writer(kind, os.fspath(path), packed, names, raw)
        try:
            yield table
            table.finish()
        except BaseException:
            table.abandon()
            raise


def _writer(kind: str, name: str, file: IO[bytes], names: Sequence[str], raw: bool) -> TableWriter:
    if kind in ("csv", "tsv"):
        return CsvWriter(name, file, names, raw, "," if kind == "csv" else "\t")
    if kind in ("parquet", "feather"):
        return ArrowWriter(name, file, names, kind)
    plain: dict[str, Callable[[str, IO[bytes], Sequence[str]], TableWriter]] = {
        "jsonl": JsonLinesWriter,
        "npy": NpyWriter,
        "npz": NpzWriter,
    }
    return plain[kind](name, file, names)


def _packed(file: IO[bytes], packing: str) -> AbstractContextManager[Any]:
    if packing == ".gz":
        # without a name and a time, so that the same table gives the same bytes
        return gzip.GzipFile("", "wb", 6, file, mtime=0)
    if packing == ".zst":
        return _arrow("Writing .zst files").CompressedOutputStream(_Kept(file), "zstd")  # type: ignore[no-any-return]
    return nullcontext(file)


def _distinct(names: Sequence[str], path: object) -> list[str]:
    listed = [str(name) for name in names]
    name, count = Counter(listed).most_common(1)[0]
    if count > 1:
        where = "standard output" if path in (None, "-") else path
        raise BadInput(f"{where}: the column name {name!r} would stand {count} times; rename all but one.")
    return listed


def _arrow(what: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NeedsExtra.package("pyarrow", what, "files") from error
    return pyarrow


@final
class ArrowWriter(TableWriter):
    """Parquet or Feather (an Arrow IPC file); each batch is a row group or a record batch. Missing values are null."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], kind: str):
        super().__init__(name, file, names)
        self._arrow = _arrow("Writing Parquet and Feather files")
        self._kind = kind
        self._schema: Any = None
        self._writer: Any = None

    def _add(self, batch: list[NDArray[Any]]) -> None:
        pa = self._arrow
        if self._writer is None:
            types = [pa.string() if is_text(column) else pa.from_numpy_dtype(column.dtype) for column in batch]
            self._schema = pa.schema(list(zip(self.names, types, strict=True)))
            make = pa.parquet.ParquetWriter if self._kind == "parquet" else pa.ipc.new_file
            self._writer = make(_Kept(self._file), self._schema)
        values = [texts(column) if is_text(column) else column for column in batch]
        try:
            arrays = [
                pa.array(one, kind, from_pandas=True) for one, kind in zip(values, self._schema.types, strict=True)
            ]
        except pa.ArrowException as error:
            what = " ".join(str(error).split())[:200]
            raise BadInput(f"{self.name}: a later batch holds another kind of values than the first: {what}") from error
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))

    def finish(self) -> None:
        """Write the footer."""
        super().finish()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which would otherwise write to a closed file when it is collected."""
        with suppress(Exception):
            self._writer.close()


HELD_BACK = 2**24
"""Bytes of a table that standard output waits for."""


class _HeldBack:
    """A stream that gets a table when it is whole, so that an error leaves nothing behind; a large one as it comes."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._waiting: list[bytes] | None = []
        self._size = 0

    def write(self, data: Any) -> int:
        """Keep it for later, while there is little."""
        if self._waiting is None:
            self._stream.write(data)
            return len(data)
        self._waiting.append(bytes(data))
        self._size += len(data)
        if self._size > HELD_BACK:
            self._let_go()
        return len(data)

    def flush(self) -> None:
        """Give what is there; called when the table is whole."""
        self._let_go()
        self._stream.flush()

    def _let_go(self) -> None:
        for data in self._waiting or ():
            self._stream.write(data)
        self._waiting = None


class _Kept(io.RawIOBase):
    """A file that others write to and may close without closing it for us."""

    def __init__(self, file: IO[bytes]):
        self._inner = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._inner.write(data)
