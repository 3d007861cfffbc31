"""NumPy's own files: `.npy`, read by blocks of rows, and `.npz`, whose sizes are summed before it is opened."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy
from numpy.lib import format as npy

from lowdim.errors import BadFile
from lowdim.sources.arrays import ArraySource, SparseSource, as_table, refuse_dtype, refuse_shape
from lowdim.sources.formats.long_reads import LongReads
from lowdim.sources.formats.stored import choose_array, refuse_unreadable, refuse_zip_bomb
from lowdim.sources.source import Block, ConvertibleSource, Source
from lowdim.types import Array

SPARSE_ARRAYS = {"indices", "indptr", "data", "shape"}
"""Arrays of a compressed sparse matrix, as scipy.sparse.save_npz and others name them."""


@final
class ArrayFile(ConvertibleSource):
    """Rows that lie one after the other in a file, read block by block.

    They are read and not mapped: mapped pages count as memory of the process, and a fault for each of them is slower
    than one long read.
    """

    repeatable = True
    columns = None

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int):
        self.title = str(path)
        self.n_rows, self.n_columns = shape[0], math.prod(shape[1:])
        self.shape_of_rows = _shape_of_rows(shape)
        self.dtype = dtype.newbyteorder("=")
        self._path, self._offset, self._stored = path, offset, dtype
        self._total: int = shape[0]

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Read consecutive rows."""
        step = self.rows_per_block(least_rows)
        with LongReads(self._path) as file:
            for start in range(0, self._total, step):
                yield Block(start, self._read(file, start, min(step, self._total - start)))

    def to_array(self) -> Array:
        """All rows."""
        with LongReads(self._path) as file:
            return self._read(file, 0, self._total)

    def after(self, rows: int) -> Source:
        """The file from a later row on; nothing before it is read."""
        if not 0 <= rows < self._total:
            return super().after(rows)
        a_row = self.n_columns * self._stored.itemsize
        shape = (self._total - rows, *(self.shape_of_rows or (self.n_columns,)))
        return ArrayFile(self._path, shape, self._stored, self._offset + rows * a_row)

    def describe(self) -> str:
        """Say its name and shape."""
        return f"{self.title} ({self.n_rows:,} × {self.n_columns:,} {self.dtype} array)"

    def _read(self, file: LongReads, start: int, rows: int) -> Array:
        a_row = self.n_columns * self._stored.itemsize
        found = file.read_at(self._offset + start * a_row, rows * a_row)
        return found.view(self._stored).reshape(rows, self.n_columns).astype(self.dtype, copy=False)


def open_npy(path: Path) -> Source:
    """A `.npy` file, which may be larger than memory; one that is stored column by column is mapped."""
    shape, by_columns, dtype, offset = _read_header(path)
    if dtype.hasobject:
        raise BadFile(f"{path}: holds Python objects, which are never loaded; write numbers with numpy.save.")
    needed, there = offset + math.prod(shape) * dtype.itemsize, path.stat().st_size
    if there != needed:
        raise BadFile(f"{path}: says shape {shape} of {dtype}, {needed:,} bytes in all, but has {there:,}: damaged.")
    if 0 in shape:
        raise BadFile(f"{path}: has shape {shape}, but at least one row and one column are needed.")
    refuse_dtype(dtype)
    if by_columns or len(shape) < 2:
        return _open_stack(np.load(path, mmap_mode="r", allow_pickle=False), path)
    return ArrayFile(path, shape, dtype, offset)


def open_npz(path: Path, name: str | None = None) -> Source:
    """One array of an `.npz` archive, or a sparse matrix such as scipy.sparse.save_npz writes."""
    if not zipfile.is_zipfile(path):  # numpy.load would leave such a file open
        raise BadFile(f"{path}: not a readable .npz archive (no zip file); write it with numpy.savez.")
    try:
        refuse_zip_bomb(path)
        with np.load(path, allow_pickle=False) as arrays:
            if name is None and set(arrays.files) >= SPARSE_ARRAYS:
                return SparseSource(_read_sparse(path, arrays))
            return _open_stack(arrays[choose_array(str(path), name, _list_arrays(path))], path)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: not a readable .npz archive ({error}); write it with numpy.savez.") from error


def _list_arrays(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and type of each array, from their headers."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            if entry.endswith(".npy"):
                with archive.open(entry) as file:
                    version = npy.read_magic(file)
                    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                    shape, _, dtype = read(file)
                found[entry.removesuffix(".npy")] = (shape, dtype)
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


def _read_header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    unreadable = refuse_unreadable(path, ".npy file", "write it with numpy.save", (ValueError, OSError, EOFError))
    with unreadable, open(path, "rb") as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        return shape, by_columns, dtype, file.tell()
