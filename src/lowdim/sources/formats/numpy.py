"""NumPy's own files: `.npy`, read by blocks of rows, and `.npz`, whose sizes are summed before it is opened."""

from __future__ import annotations

import copy
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, final

import numpy as np
import scipy
from numpy.lib import format as npy

from lowdim.errors import BadFile, BadInput
from lowdim.runtime.memory import refuse_beyond
from lowdim.sources.arrays import ArraySource, SparseSource, as_table, refuse_dtype, refuse_shape
from lowdim.sources.formats.long_reads import LongReads, when_written
from lowdim.sources.formats.stored import choose_array, refuse_unreadable, refuse_zip_bomb
from lowdim.sources.source import Block, ConvertibleSource, Source
from lowdim.types import Array

SPARSE_ARRAYS = {"indices", "indptr", "data", "shape"}
"""Arrays of a compressed sparse matrix, as scipy.sparse.save_npz and others name them."""


@dataclass(frozen=True)
class Header:
    """What an `.npy` file says of itself."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    offset: int
    """Where the numbers begin."""
    written: tuple[int, ...]
    """Which file it is, and when it was written."""


@final
class ArrayFile(ConvertibleSource):
    """Rows, or columns, that lie one after the other in a file, read block by block.

    They are read and not mapped: mapped pages count as memory of the process, a fault for each of them is slower than
    one long read, and a file that is cut meanwhile would end the process.
    """

    repeatable = True
    columns = None

    def __init__(self, path: Path, header: Header):
        self.title = str(path)
        self._path, self._header, self._first = path, header, 0
        self._total: int = header.shape[0]
        self.n_rows, self.n_columns = self._total, math.prod(header.shape[1:])
        self.shape_of_rows = _shape_of_rows(header.shape)
        self.dtype = header.dtype.newbyteorder("=")

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Read consecutive rows."""
        step = self.rows_per_block(least_rows)
        with self._opened() as file:
            for start in range(0, self._total, step):
                yield Block(start, self._read(file, start, min(step, self._total - start)))

    def to_array(self) -> Array:
        """All rows."""
        with self._opened() as file:
            return self._read(file, 0, self._total)

    def after(self, rows: int) -> Source:
        """The file from a later row on; nothing before it is read."""
        if not 0 <= rows < self._total:
            return super().after(rows)
        twin = copy.copy(self)  # a limit of its blocks is one of these, too
        twin._first, twin._total = self._first + rows, self._total - rows
        twin.n_rows = twin._total
        return twin

    def describe(self) -> str:
        """Say its name and shape."""
        return f"{self.title} ({self.n_rows:,} × {self.n_columns:,} {self.dtype} array)"

    @contextmanager
    def _opened(self) -> Iterator[LongReads]:
        """The file, if it is still the one that was opened: another may have other rows under the same name."""
        with LongReads(self._path) as file:
            if file.written != self._header.written:
                raise BadFile(f"{self._path}: was replaced or changed after it was opened; open it anew.")
            yield file

    def _read(self, file: LongReads, start: int, rows: int) -> Array:
        head, width = self._header, self.n_columns
        size, start = head.dtype.itemsize, start + self._first
        if not head.by_columns or rows == head.shape[0]:  # one stretch of the file
            place = head.offset + (0 if head.by_columns else start * width * size)
            found = file.read_at(place, rows * width * size).view(head.dtype)
        else:
            found = np.empty(rows * width, dtype=head.dtype)
            for j in range(width):
                place = head.offset + (j * head.shape[0] + start) * size
                found[j * rows : (j + 1) * rows] = file.read_at(place, rows * size).view(head.dtype)
        array = found.reshape((rows, *head.shape[1:]), order="F" if head.by_columns else "C").reshape(rows, width)
        return array.astype(self.dtype, copy=False)


def open_npy(path: Path) -> Source:
    """A `.npy` file, which may be larger than memory."""
    unreadable = refuse_unreadable(path, ".npy file", "write it with numpy.save")
    with unreadable, open(path, "rb") as file:
        shape, by_columns, dtype = _read_header(file)
        about = os.fstat(file.fileno())
        header = Header(shape, by_columns, dtype, file.tell(), when_written(about))
    _refuse_claims(str(path), shape, dtype, about.st_size - header.offset)
    if 0 in shape:
        raise BadFile(f"{path}: has shape {shape}, but at least one row and one column are needed.")
    with _naming(path):
        refuse_dtype(dtype)
        if len(shape) < 2:
            refuse_shape(shape)
    return ArrayFile(path, header)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the name of the file before what is wrong with the shape or type of an array."""
    try:
        yield
    except BadInput as error:
        raise error if isinstance(error, BadFile) else error.said_of(str(path)) from error.__cause__


def open_npz(path: Path, name: str | None = None) -> Source:
    """One array of an `.npz` archive, or a sparse matrix such as scipy.sparse.save_npz writes."""
    if not zipfile.is_zipfile(path):  # numpy.load would leave such a file open
        raise BadFile(f"{path}: not a readable .npz archive (no zip file); write it with numpy.savez.")
    unreadable = refuse_unreadable(path, ".npz archive", "write it with numpy.savez")  # by errors of every kind
    with _naming(path), unreadable:
        refuse_zip_bomb(path)
        there = _list_arrays(path)
        _refuse_large(path)
        with np.load(path, allow_pickle=False) as arrays:
            if name is None and set(arrays.files) >= SPARSE_ARRAYS:
                return SparseSource(_read_sparse(path, arrays))
            return _open_stack(arrays[choose_array(str(path), name, there)], path)


def _refuse_large(path: Path) -> None:
    """Raise an error if the arrays of an archive, which are loaded whole, do not fit into memory."""
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    refuse_beyond(size, f"{path}: an .npz archive is loaded whole, which", ("write the rows as .npy, HDF5 or zarr",))


def _list_arrays(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and type of each array, from their headers."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith(".npy"):
                with archive.open(entry) as file:
                    shape, _, dtype = _read_header(file)
                    _refuse_claims(f"{path}, array {entry.filename}", shape, dtype, entry.file_size - file.tell())
                found[entry.filename.removesuffix(".npy")] = (shape, dtype)
    return found


def _open_stack(array: Array, path: Path) -> ArraySource:
    """An array as rows; a stack of pictures, (n, height, width), as one row each."""
    flat = array.reshape(len(array), -1) if array.ndim > 2 and array.size else array
    source = ArraySource(as_table(flat), name=str(path))
    source.shape_of_rows = _shape_of_rows(array.shape)
    return source


def _shape_of_rows(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    return tuple(shape[1:]) if len(shape) > 2 else None


def _read_sparse(path: Path, arrays: Any) -> Any:
    shape = tuple(map(int, arrays["shape"]))
    if "format" in arrays.files:
        kind = str(np.asarray(arrays["format"]).astype(str))
    else:  # one pointer more than there are rows, or columns
        kind = "csr" if len(shape) == 2 and len(arrays["indptr"]) == shape[0] + 1 else "csc"
    make = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}.get(kind)
    if make is None:
        raise BadFile(f"{path}: a sparse matrix in format {kind!r}; write it as CSR or CSC.")
    matrix = make((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)  # untrusted pointers must not lead out of the arrays
    refuse_dtype(matrix.dtype)
    refuse_shape(matrix.shape)
    return matrix


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether it lies column by column, and type of the array in an open file."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    return read(file)


def _refuse_claims(where: str, shape: tuple[int, ...], dtype: np.dtype[Any], there: int) -> None:
    """Raise an error unless a header says what is there: numbers, and as many bytes of them as follow it."""
    if dtype.hasobject:
        raise BadFile(f"{where}: holds Python objects, which are never loaded; write numbers with numpy.save.")
    needed = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or there != needed:
        raise BadFile(f"{where}: says shape {shape} of {dtype}, {needed:,} bytes in all, but has {there:,}: damaged.")
