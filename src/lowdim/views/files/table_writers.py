"""Tables on their way to a file, whatever the kind; NumPy's own files."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, final

import numpy as np
from numpy.lib import format as npy

from lowdim.errors import BadInput
from lowdim.runtime.files import write_errors
from lowdim.views.files.columns import Column, as_column, as_floats, as_numpy, is_arrow, is_text
from lowdim.views.files.spelling import texts

# A table on its way to a file, whatever the kind: named columns, batch by batch.


class TableWriter(ABC):
    """A table of named columns that grows by batches of rows. `open_table` makes one."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str]):
        self.name = name
        """As the user knows it, for messages."""
        self.names = tuple(names)
        self.n_rows = 0
        """Rows written so far."""
        self._file = file

    def write(self, columns: Mapping[str, Any]) -> None:
        """Add rows: an array for each name, of numbers (NaN: missing), flags, times, or of anything that is text."""
        if set(columns) != set(self.names):
            odd = sorted(set(columns) ^ set(self.names))
            raise BadInput(f"{self.name}: every batch needs the columns that were named at first; odd ones: {odd}.")
        batch = [as_column(columns[name]) for name in self.names]
        if any(not is_arrow(column) and column.ndim != 1 for column in batch):
            raise BadInput(f"{self.name}: every column of a batch needs one axis; pass a table column by column.")
        lengths = {len(column) for column in batch}
        if len(lengths) > 1:
            raise BadInput(f"{self.name}: columns of a batch need equal lengths, but there are {sorted(lengths)}.")
        try:
            self._add(batch)
        except UnicodeEncodeError as error:
            raise BadInput(f"{self.name}: a text is not valid Unicode ({error.object[:40]!r}); rename it.") from error
        self.n_rows += lengths.pop()

    @abstractmethod
    def _add(self, batch: list[Column]) -> None:
        """Write the columns of a batch, in the order of the names."""

    def finish(self) -> None:
        """Write what comes after the last row."""
        if not self.n_rows:
            self._add([np.empty(0) for _ in self.names])

    def abandon(self) -> None:  # noqa: B027  most kinds hold nothing to let go
        """Let go of everything without finishing."""


# Tables as NumPy's own files, streamed: their count of rows stands at the start and is known at the end.


@final
class NpyWriter(TableWriter):
    """One (n, k) array of float32 if every column is, of float64 otherwise; the count of rows is filled in last."""

    dtype: np.dtype[Any] | None = None

    def _add(self, batch: list[Column]) -> None:
        columns = list(map(as_numpy, batch))
        words = [name for name, column in zip(self.names, columns, strict=True) if is_text(column)]
        if words:
            raise BadInput(
                f"{self.name}: .npy holds numbers only, but {words[0]!r} is text; leave it out, or write .npz."
            )
        if self.dtype is None:
            single = all(column.dtype == np.float32 for column in columns)
            self.dtype = np.dtype("<f4" if single else "<f8")
            self._header(0)
        self._file.write(np.column_stack(list(map(as_floats, columns))).astype(self.dtype, copy=False).tobytes())

    def finish(self) -> None:
        """Fill in the count of rows."""
        super().finish()
        self._file.seek(0)
        self._header(self.n_rows)  # NumPy leaves room for 21 digits, so it is as long as before

    def _header(self, n_rows: int) -> None:
        assert self.dtype is not None
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": (n_rows, len(self.names))}
        npy.write_array_header_1_0(self._file, about)


@final
class NpzWriter(TableWriter):
    """`values`, an (n, k) array of the numbers; `columns`, their names; and each column of texts by its own name."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str]):
        super().__init__(name, file, names)
        with write_errors(name):  # a file without a name, so that nothing can be left behind
            self._values = tempfile.TemporaryFile(dir=Path(name).parent)  # noqa: SIM115  closed by finish and abandon
        self._table: NpyWriter | None = None
        self._texts: dict[str, list[str]] = {}

    def _add(self, batch: list[Column]) -> None:
        columns = dict(zip(self.names, map(as_numpy, batch), strict=True))
        if self._table is None:
            self._texts = {name: [] for name, column in columns.items() if is_text(column)}
            if taken := {"values", "columns"} & set(self._texts):
                raise BadInput(f"{self.name}: a column of text in .npz cannot be called {taken.pop()!r}; rename it.")
            numbers = [name for name in self.names if name not in self._texts]
            if not numbers:
                raise BadInput(f"{self.name}: .npz needs a column of numbers, but all are text; write .csv.")
            self._table = NpyWriter(self.name, self._values, numbers)
        for name, kept in self._texts.items():
            kept += [text or "" for text in texts(columns.pop(name))]
        with write_errors(self.name):
            self._table.write(columns)

    def finish(self) -> None:
        """Put the arrays into the archive."""
        super().finish()
        assert self._table is not None
        with write_errors(self.name):
            self._table.finish()
            self._values.seek(0)
        arrays = {"columns": self._table.names, **self._texts}
        with zipfile.ZipFile(self._file, "w") as archive:
            with _member(archive, "values") as member:
                shutil.copyfileobj(self._values, member, 2**20)
            for name, kept in arrays.items():
                with _member(archive, name) as member:
                    npy.write_array(member, np.array(kept, dtype=str), allow_pickle=False)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the numbers kept aside."""
        with suppress(OSError):  # a full disk may not take what is still to be written
            self._values.close()


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """An array of the archive to write to; without the time, so that the same table gives the same bytes."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)
