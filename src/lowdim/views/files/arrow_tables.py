"""Parquet and Feather files, and texts packed by zstandard: what cannot be written without pyarrow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, final

import numpy as np

from lowdim.errors import BadInput, NeedsExtra
from lowdim.views.files.columns import Column, is_arrow, is_text
from lowdim.views.files.spelling import texts
from lowdim.views.files.table_writers import TableWriter

try:
    import pyarrow as pa
    import pyarrow.parquet
except ImportError as error:
    raise NeedsExtra.package("pyarrow", "Writing Parquet, Feather and .zst files", "files") from error


@final
class ArrowWriter(TableWriter):
    """Parquet or Feather (an Arrow IPC file); each batch is a row group or a record batch. Missing values are null."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], kind: str):
        super().__init__(name, file, names)
        self._kind = kind
        self._schema: Any = None
        self._writer: Any = None

    def _add(self, batch: list[Column]) -> None:
        if self._writer is None:
            self._schema = pa.schema(list(zip(self.names, map(_type_of, batch), strict=True)))
            make = pa.parquet.ParquetWriter if self._kind == "parquet" else pa.ipc.new_file
            self._writer = make(Kept(self._file), self._schema)
        try:
            arrays = [_to_arrow(one, kind) for one, kind in zip(batch, self._schema.types, strict=True)]
        except pa.ArrowException as error:
            what = " ".join(str(error).split())[:200]
            raise BadInput(f"{self.name}: a later batch holds another kind of values than the first: {what}") from error
        if all(isinstance(one, pa.Array) for one in arrays):
            self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
        else:
            self._writer.write_table(pa.table(arrays, schema=self._schema))

    def finish(self) -> None:
        """Write the footer."""
        super().finish()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which would otherwise write to a closed file when it is collected."""
        with suppress(Exception):
            self._writer.close()


def _type_of(column: Column) -> Any:
    if is_arrow(column):
        return column.type
    return pa.string() if column.dtype.kind == "O" else pa.from_numpy_dtype(column.dtype)


def _to_arrow(column: Column, kind: Any) -> Any:
    if is_arrow(column):
        return column if column.type == kind else column.cast(kind)
    if isinstance(column, np.ma.MaskedArray):
        return pa.array(column.data, kind, mask=np.ma.getmaskarray(column))
    return pa.array(texts(column) if is_text(column) and kind == pa.string() else column, kind, from_pandas=True)


def zstandard(file: IO[bytes]) -> Any:
    """What packs what is written to it, and puts it into a file."""
    return pa.CompressedOutputStream(Kept(file), "zstd")


class Kept(io.RawIOBase):
    """A file that others write to and may close without closing it for us."""

    def __init__(self, file: IO[bytes]):
        self._inner = file

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Hand it on."""
        return self._inner.write(data)
