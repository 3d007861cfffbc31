"""Tables as NumPy's own files, streamed: their count of rows stands at the start and is known at the end."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.results.atomic import telling
from lowdim.views.cells import is_text, texts
from lowdim.views.table_writer import TableWriter


@final
class NpyWriter(TableWriter):
    """One (n, k) array of float32 if every column is, of float64 otherwise; the count of rows is filled in last."""

    dtype: np.dtype[Any] | None = None

    def _add(self, batch: list[NDArray[Any]]) -> None:
        words = [name for name, column in zip(self.names, batch, strict=True) if is_text(column)]
        if words:
            raise BadInput(
                f"{self.name}: .npy holds numbers only, but {words[0]!r} is text; leave it out, or write .npz."
            )
        if self.dtype is None:
            single = all(column.dtype == np.float32 for column in batch)
            self.dtype = np.dtype("<f4" if single else "<f8")
            self._header(0)
        self._file.write(np.column_stack(batch).astype(self.dtype, copy=False).tobytes())

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
        with telling(name):  # a file without a name, so that nothing can be left behind
            self._values = tempfile.TemporaryFile(dir=Path(name).parent)  # noqa: SIM115  closed by finish and abandon
        self._table: NpyWriter | None = None
        self._texts: dict[str, list[str]] = {}

    def _add(self, batch: list[NDArray[Any]]) -> None:
        columns = dict(zip(self.names, batch, strict=True))
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
        with telling(self.name):
            self._table.write(columns)

    def finish(self) -> None:
        """Put the arrays into the archive."""
        super().finish()
        assert self._table is not None
        with telling(self.name):
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
