"""Tables on their way to a file: cells, CSV, TSV, JSON lines and NumPy's own files."""

from __future__ import annotations

import json
import re
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
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.runtime.files import write_errors

# Columns as cells of text files: numbers exactly, texts so that no spreadsheet takes them for formulas.

FORMULA = re.compile("[ \ufeff]*[-=+@\t\r\n\0\uff1d\uff0b\uff0d\uff20]")
"""Beginnings that a spreadsheet may run: those of OWASP ASVS 1.2.10, their full-width forms, and spaces before them."""

SPECIAL = re.compile('[",;|\t\r\n]')
"""What a cell is quoted for: besides our own delimiters those that a spreadsheet in another country cuts at."""


def as_column(values: Any) -> NDArray[Any]:
    """A column as writers take it: real numbers as they are (flags as 0 and 1), everything else as objects."""
    column = np.asarray(values)
    if column.dtype.kind == "U" and column is not values:
        column = np.asarray(values, dtype=object)  # NumPy's own texts lose NULs at their end
    if column.dtype.kind == "b":
        return column.astype(np.uint8)
    if column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8):
        return column.astype(np.float32 if column.dtype.itemsize < 4 else np.float64)
    if column.dtype.kind in "fiu":
        return column.astype(column.dtype.newbyteorder("="), copy=False)
    if column.dtype.kind in "Mm":
        times = column.astype(str).astype(object)
        times[np.isnat(column)] = None
        return times
    return column.astype(object)


def is_text(column: NDArray[Any]) -> bool:
    """Whether `as_column` gave texts."""
    return column.dtype.kind == "O"


def number_cells(column: NDArray[Any], missing: str) -> list[str]:
    """The fewest digits that give each number back exactly, in its own precision; `missing` for NaN."""
    if column.dtype.kind != "f":
        return list(map(str, column.tolist()))
    cells = list(map(str, column)) if column.dtype.itemsize == 4 else list(map(repr, column.tolist()))
    for i in np.flatnonzero(np.isnan(column)):
        cells[i] = missing
    return cells


def texts(column: NDArray[Any]) -> list[str | None]:
    """Texts of a column of objects; None for what is missing (None or NaN)."""
    return [None if _is_missing(value) else str(value) for value in column]


def text_cells(column: NDArray[Any], missing: str, raw: bool) -> list[str]:
    """Cells of a CSV file for texts: guarded against formulas unless `raw`, quoted where they must be."""
    return [
        missing if _is_missing(value) else quoted(guarded(value) if isinstance(value, str) and not raw else str(value))
        for value in column
    ]


def guarded(text: str) -> str:
    """The same text, with ' before it if a spreadsheet might run it."""
    return f"'{text}" if FORMULA.match(text) else text


def quoted(text: str) -> str:
    """The same text as one cell of a CSV file."""
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text


def _is_missing(value: Any) -> bool:
    # NaN and pandas' own marks are told by what they print, as pandas.NA cannot be compared
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>"))


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
        """Add rows: an array for each name, of numbers (NaN: missing) or of anything that is text (None: missing)."""
        if set(columns) != set(self.names):
            odd = sorted(set(columns) ^ set(self.names))
            raise BadInput(f"{self.name}: every batch needs the columns that were named at first; odd ones: {odd}.")
        batch = [as_column(columns[name]) for name in self.names]
        if any(column.ndim != 1 for column in batch):
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
    def _add(self, batch: list[NDArray[Any]]) -> None:
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
        with write_errors(name):  # a file without a name, so that nothing can be left behind
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


# Tables as lines of text: CSV, TSV and JSON lines, with nothing but Python.

CELLS = 2**18
"""Cells that are turned into text at a time."""


class _LineWriter(TableWriter):
    """One line a row."""

    def _add(self, batch: list[NDArray[Any]]) -> None:
        rows = max(1, CELLS // len(batch))
        for start in range(0, len(batch[0]), rows):
            self._file.write(self._lines([column[start : start + rows] for column in batch]).encode())

    @abstractmethod
    def _lines(self, batch: list[NDArray[Any]]) -> str:
        """Lines of some rows, each with its end."""


@final
class CsvWriter(_LineWriter):
    """UTF-8, a header, numbers that read back exactly, missing cells empty."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], raw: bool, delimiter: str = ","):
        super().__init__(name, file, names)
        self._raw, self._delimiter = raw, delimiter
        header = [quoted(one if raw else guarded(one)) for one in self.names]
        file.write((delimiter.join(header) + "\n").encode())

    def _lines(self, batch: list[NDArray[Any]]) -> str:
        missing = "" if len(batch) > 1 else '""'  # a lone empty cell would be an empty line, which readers skip
        cells = [text_cells(one, missing, self._raw) if is_text(one) else number_cells(one, missing) for one in batch]
        return "".join(line + "\n" for line in map(self._delimiter.join, zip(*cells, strict=True)))


@final
class JsonLinesWriter(_LineWriter):
    """One JSON object a line; missing values are null."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str]):
        super().__init__(name, file, names)
        keys = [json.dumps(one, ensure_ascii=False).replace("%", "%%") for one in self.names]
        self._template = "{" + ", ".join(f"{key}: %s" for key in keys) + "}\n"

    def _lines(self, batch: list[NDArray[Any]]) -> str:
        cells = [self._cells(name, column) for name, column in zip(self.names, batch, strict=True)]
        return "".join(map(self._template.__mod__, zip(*cells, strict=True)))

    def _cells(self, name: str, column: NDArray[Any]) -> list[str]:
        if is_text(column):
            return [json.dumps(text, ensure_ascii=False) for text in texts(column)]
        if np.isinf(column).any():
            raise BadInput(f"{self.name}: column {name!r} holds infinite numbers, which JSON has not; write CSV.")
        return number_cells(column, "null")
