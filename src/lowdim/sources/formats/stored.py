"""Arrays that lie on disk and are read block by block: HDF5, zarr, `.h5ad`, a folder of pictures."""

from __future__ import annotations

import copy
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, LowdimError, TableNote
from lowdim.sources.source import Block, ConvertibleSource, Source
from lowdim.sources.tables.choose import choose_table
from lowdim.types import Array, Places

Rows = Callable[[int, int], Array]
"""Gives the rows from one place to another, with any number of axes."""

MAX_CHUNK_BYTES = 2**30
"""Bytes of one chunk that are still read: a chunk is unpacked whole, whatever is wanted of it."""

MAX_COMPRESSION = 2000
"""An array so many times larger than what is stored of it was never written: no compression reaches this."""

MAX_ZIP_RATIO, MIN_ZIP_BYTES = 200, 2**20
"""An archive that unpacks to more than so many times its size, and to more than this, is refused."""


@final
class StoredSource(ConvertibleSource):
    """An array on disk, opened anew for each pass. Axes after the first are laid out in one row."""

    repeatable = True

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[Rows]],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        title: str,
        *,
        chunk: Sequence[int] | None = None,
        columns: tuple[str, ...] | None = None,
        take: Places | None = None,
        beside: Mapping[str, Array] | None = None,
        notes: Sequence[TableNote] = (),
    ):
        self._notes, self._shape, self._stored = tuple(notes), shape, dtype
        self._chunk = None if chunk is None else tuple(chunk)
        self._opened = opened
        self._first, self._total = 0, shape[0]
        self._width = math.prod(shape[1:])
        self._take = take  # places of the columns that are wanted; None: all
        self._chunk_rows = chunk[0] if chunk else 1
        self.title = title
        self.n_rows = shape[0]
        self.n_columns = self._width if take is None else len(take)
        self.dtype = dtype.newbyteorder("=")
        self.columns = columns
        self.reading_bytes = math.prod(chunk or (0,)) * dtype.itemsize
        if len(shape) > 2:
            self.shape_of_rows = shape[1:]
        if beside is not None:
            self.beside = beside

    @property
    def facts(self) -> dict[str, Any]:
        """What it was made with, its rows apart."""
        known = {"shape": self._shape, "dtype": self._stored.str, "title": self.title, "chunk": self._chunk}
        return known | {"columns": self.columns, "take": self._take, "notes": self._notes}

    @property
    def notes(self) -> Sequence[TableNote]:
        """What was done to the rows as they were read."""
        return self._notes

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Read consecutive rows, in whole chunks of the file where they are not too long."""
        step = self._whole_chunks(self.rows_per_block(least_rows))
        with self._opened() as rows:
            for start in range(self._first, self._total, step):
                yield Block(start - self._first, self._flat(rows(start, min(start + step, self._total))))

    def after(self, rows: int) -> Source:
        """The array from a later row on; nothing before it is read."""
        if not 0 <= rows < self._total - self._first:
            return super().after(rows)
        twin = copy.copy(self)
        twin._first += rows
        twin.n_rows = self._total - twin._first
        twin.beside = {name: column[rows:] for name, column in self.beside.items()}
        return twin

    def describe(self) -> str:
        """Say its name and its shape."""
        return f"{self.title} ({self.n_rows:,} × {self.n_columns:,} {self.dtype} array)"

    def _whole_chunks(self, rows: int) -> int:
        """So many rows, in whole chunks: more, or under a limit fewer; not where chunks are far longer."""
        rows = max(1, rows * self.n_columns // self._width)  # all columns are read, whichever are wanted
        chunks = rows / self._chunk_rows
        if chunks < (0.25 if self.most_block_bytes is None else 1):
            return rows
        return self._chunk_rows * (math.ceil(chunks) if self.most_block_bytes is None else math.floor(chunks))

    def _flat(self, rows: Array) -> Array:
        flat = np.asarray(rows, dtype=self.dtype).reshape(len(rows), self._width)
        return flat if self._take is None else flat[:, self._take]


@contextmanager
def refuse_unreadable(
    where: object, what: str, remedy: str, errors: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Turn what a package says about a bad file into one sentence that names it."""
    try:
        yield
    except (LowdimError, GeneratorExit, MemoryError):
        raise
    except errors as error:
        said = " ".join(str(error).split())[:200]
        raise BadFile(f"{where}: not a readable {what} ({said}); {remedy}.") from error


def refuse_array(where: str, shape: tuple[int, ...], dtype: np.dtype[Any], chunk: Sequence[int] | None = None) -> None:
    """Raise an error unless this is an array of real numbers with rows and columns, in chunks that fit in memory."""
    if dtype.kind not in "fiub":
        raise BadFile(f"{where}: holds {dtype}, but real numbers are needed; nothing else is ever loaded.")
    if len(shape) < 2:
        raise BadFile(f"{where}: has shape {shape}, but rows × columns are needed; write it with two axes.")
    if 0 in shape:
        raise BadFile(f"{where}: has shape {shape}, but at least one row and one column are needed.")
    unpacked = math.prod(chunk or (0,)) * dtype.itemsize
    if unpacked > MAX_CHUNK_BYTES:
        raise BadFile(
            f"{where}: chunks of shape {tuple(chunk or ())} take {unpacked:,} bytes each, more than the "
            f"{MAX_CHUNK_BYTES:,} that are read; write it in smaller chunks."
        )


def refuse_unwritten(where: str, unpacked: int, stored: int) -> None:
    """Raise an error if an array says that it is far larger than what is stored of it."""
    if unpacked > MAX_COMPRESSION * max(stored, 4096):
        raise BadFile(f"{where}: says {unpacked:,} bytes, but only {stored:,} are stored: damaged, or never written.")


def refuse_zip_bomb(path: Path) -> None:
    """Raise an error if a zip archive would unpack to far more than it is; other files pass."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > max(MAX_ZIP_RATIO * path.stat().st_size, MIN_ZIP_BYTES):
        raise BadFile(f"{path}: unpacks to {unpacked:,} bytes, more than {MAX_ZIP_RATIO} times its size; refused.")


def choose_array(where: str, name: str | None, arrays: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> str:
    """The array that was named, or the only one with rows and columns; `arrays` gives the shape and type of each."""
    tables = [at for at, (shape, dtype) in arrays.items() if len(shape) >= 2 and dtype.kind in "fiub"]
    if name is not None and name in arrays:
        return name
    shown = {at: f"{' × '.join(map(str, arrays[at][0]))} {arrays[at][1]}" for at in tables or arrays}
    return choose_table(where, name, shown, "arrays")
