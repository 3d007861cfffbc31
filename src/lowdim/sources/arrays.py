"""Rows that are already an array, of NumPy, SciPy or another library, and what such a table must be."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, final

import numpy as np
import scipy

from lowdim.errors import BadInput, NotNumeric, Words, WrongShape
from lowdim.runtime.native import is_compiled
from lowdim.sources.compiled_structure import has_repeats, lie_within
from lowdim.sources.source import BLOCK_BYTES, Block, Source
from lowdim.types import Array, Floats, is_sparse

# Arrays of other libraries (torch, jax, array-api-strict, …): read where they lie, and made of answers.
#
# By what they say of themselves, DLPack and the Array API standard, so that none of these libraries is ever imported:
# an array of theirs is there only if its user has loaded it.

IN_MAIN_MEMORY = {1, 3, 11}
"""DLPack's numbers of the kinds of memory that NumPy can read: a machine's own, also where CUDA or ROCm pinned it."""


def is_foreign_array(data: Any) -> bool:
    """Whether this is an array, but none of NumPy's, whose library can also make one of NumPy's."""
    kind = type(data)
    if issubclass(kind, (np.ndarray, np.generic)) or not hasattr(kind, "__dlpack__"):
        return False
    return hasattr(kind, "__array_namespace__") or _library(data) == "torch"


def as_numpy(data: Any) -> Any:
    """The same numbers as a NumPy array, in the same memory; what is no array of another library, as it is."""
    if not is_foreign_array(data):
        return data
    if _memory(data) not in IN_MAIN_MEMORY:
        raise BadInput(
            f"The {_library(data)} array lies on the device {str(getattr(data, 'device', '?'))!r}, but rows are read "
            "from main memory: pass X.cpu() (torch), cupy.asnumpy(X) or jax.device_get(X)."
        )
    try:
        return np.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BadInput(
            f"The {_library(data)} array of {getattr(data, 'dtype', 'unknown type')} cannot be read where it lies "
            f"({error}): of torch pass X.detach() if it has a gradient, X.float() if its numbers are bfloat16, "
            "X.to_dense() if it is sparse; of another library a NumPy array."
        ) from error


def empty_like(data: Any) -> Any:
    """An empty array of the same library on the same device, of the float type in which rows of `data` are computed."""
    name = as_numpy(data).dtype.name
    library = _namespace(data)
    floating = getattr(library, name if name in ("float32", "float64") else "float64")
    return library.zeros((0,), dtype=floating, device=data.device)


def to_library_of(answer: Any, kind: Any, floats: bool = False) -> Any:
    """A NumPy array of numbers, or each of a tuple, as an array of the library and device of `kind`; all else as it is.

    With `floats`, real numbers have the type of `kind` too, as libraries that do not mix types need it. The memory is
    shared where it may be written.
    """
    if isinstance(answer, tuple) and type(answer) is tuple:
        return tuple(to_library_of(part, kind, floats) for part in answer)
    if type(answer) is not np.ndarray or answer.dtype.kind not in "biuf":
        return answer
    type_of_kind = {"dtype": kind.dtype} if floats and answer.dtype.kind == "f" else {}
    return _namespace(kind).asarray(np.require(answer, requirements=["C", "W"]), device=kind.device, **type_of_kind)


def _namespace(data: Any) -> Any:
    """The module whose functions make such arrays; torch has them, but no `__array_namespace__`."""
    return data.__array_namespace__() if hasattr(data, "__array_namespace__") else sys.modules["torch"]


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _memory(data: Any) -> int | None:
    """DLPack's number of the kind of memory; None of a device that it does not know, such as torch's "meta"."""
    try:
        return int(data.__dlpack_device__()[0])
    except (ValueError, RuntimeError, TypeError, BufferError):
        return None


# What a table of numbers must be, whatever it came in as.


def as_array(data: Any) -> Array:
    """What NumPy makes of an object that is no array: a list of rows, or something that knows how to become one."""
    try:
        return np.asarray(data)
    except MemoryError:
        raise
    except Exception as error:  # whatever an object's own __array__ or __getitem__ raises
        raise WrongShape(
            f"The {type(data).__name__} cannot be made an array ({error}): rows × columns of numbers are needed; give "
            "every row as many numbers as the others, or pass a NumPy array, a frame or the path of a file."
        ) from error


def as_table(array: Array) -> Array:
    """A two-dimensional array of real numbers, or an error that says what it is instead. Copies only objects."""
    if array.dtype.kind == "c":
        raise BadInput(
            f"Complex data not supported: the array has dtype {array.dtype}, but real numbers are needed; pass the "
            "real and imaginary parts as separate columns."
        )
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(float), np.nan) if np.ma.is_masked(array) else array.data
    if array.dtype.kind in "OU":
        array = as_numbers(array)
    refuse_dtype(array.dtype)
    refuse_shape(array.shape)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        _refuse_beyond_doubles(array)
    return np.asarray(array)


def _refuse_beyond_doubles(array: Array) -> None:
    """Raise an error if numbers of a type with a wider range than float64 use it.

    They stay of their type: what is lost of their digits, when blocks of them are read, is counted in bounds.
    """
    largest = np.abs(array[np.isfinite(array)]).max(initial=0)
    if largest > np.finfo(np.float64).max:
        reached = np.format_float_scientific(largest, precision=1, trim="-")
        raise BadInput(
            f"Values of the {array.dtype} array reach {reached}, but rows are computed in float64, which ends at "
            f"{np.finfo(np.float64).max:.3g}: divide the data by a power of ten first."
        )


def as_numbers(array: Array) -> Floats:
    """Objects or texts as the numbers that they are; missing ones, None and pandas' NA, are NaN."""
    absent = getattr(sys.modules.get("pandas"), "NA", None)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        known = [np.nan if one is None or one is absent else one for one in array.ravel().tolist()]
        return np.array(known, dtype=object).astype(np.float64).reshape(array.shape)
    except OverflowError:
        raise BadInput(
            f"An entry is a whole number beyond {np.finfo(np.float64).max:.3g}, where float64 ends, in which rows are "
            "computed: divide the data by a power of ten first."
        ) from None
    except (TypeError, ValueError) as error:
        raise NotNumeric(
            f"An entry is not a number: {error}; argument must be a string-free table of real numbers (float() "
            "argument must be a string or a real number): leave text columns out."
        ) from error


def may_be_frame(data: Any) -> bool:
    """Whether the object comes from a library that is loaded and may have made a frame; spares an import if not."""
    root = type(data).__module__.partition(".")[0]
    return root in sys.modules and root not in ("numpy", "scipy", "builtins", "array")


def refuse_dtype(dtype: np.dtype[Any]) -> None:
    """Raise an error unless numbers of this type are real."""
    if dtype.kind == "c":
        raise BadInput(f"Complex data not supported: dtype {dtype}, but real numbers are needed.")
    if dtype.kind not in "fiub":
        raise NotNumeric.dtype(dtype)


def refuse_shape(shape: tuple[int, ...]) -> None:
    """Raise an error unless this is the shape of a table with at least one row and one column."""
    if len(shape) != 2:
        sides = " × ".join(f"{side:,}" for side in shape) or "no"
        raise WrongShape(
            Words(
                f"Expected 2D array, got {len(shape)}D array instead, of shape {shape}: rows × columns are needed. "
                "Reshape your data: X.reshape(-1, 1) for a single column, X.reshape(1, -1) for a single row, "
                "X.reshape(len(X), -1) for a stack of pictures; or pass iter(blocks) for a list of row blocks.",
                f"an array of {sides} numbers, but rows × columns are needed: write it as a table.",
            )
        )
    if 0 in shape:
        what, said = ("sample(s)", "rows") if shape[0] == 0 else ("feature(s)", "columns")
        raise WrongShape(
            Words(
                f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required",
                f"has no {said}, but at least one is needed",
            ),
            ": check how the data were read or filtered.",
        )


MIN_BLOCKS = 8
"""Tables are cut into at least this many blocks (if they have the rows), so that every thread has work …"""

MIN_ENTRIES_OF_BLOCK = 2**16
"""… and of at least so many numbers: with fewer, handing a block over takes longer than the work."""

MIN_STORED_OF_BLOCK = 2**18
"""The same of sparse rows: their products take hardly more than a nanosecond for what is stored, and as many sums of
all columns as there are blocks are added up."""


@final
class ArraySource(Source):
    """A dense (n, p) array; blocks are views of it."""

    repeatable = True

    def __init__(self, array: Array, columns: tuple[str, ...] | None = None, name: str | None = None):
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.columns = columns
        self.dtype = array.dtype
        self.title = name

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give views of consecutive rows."""
        n = self.array.shape[0]
        count = -(-n // self.rows_per_block())
        least = max(1, min(MIN_BLOCKS, self.array.size // MIN_ENTRIES_OF_BLOCK))
        count = least * -(-count // least)  # a multiple of blocks: no thread waits at the end
        if self.most_block_bytes is None and n < least_rows * count:
            count = max(1, n // least_rows // 2 * 2)
        step = -(-n // count)
        for start in range(0, n, step):
            yield Block(start, self.array[start : start + step])

    def describe(self) -> str:
        """Say its name, if it has one, and its shape."""
        shape = f"{self.n_rows:,} × {self.n_columns:,} {_name_of(self.dtype)} array"
        return f"{self.title} ({shape})" if self.title else f"the {shape}"


_name_of = cache(str)
"""Of a type of numbers; NumPy puts it together anew each time."""


def rows_of_source(array: Any, source: Source) -> ArraySource | SparseSource:
    """Rows of another source that were loaded, dense or sparse, as a source with what is known of their columns."""
    loaded = (SparseSource if is_sparse(array) else ArraySource)(array, source.columns, name=source.title)
    loaded.levels = source.levels
    return loaded


@final
class SparseSource(Source):
    """A SciPy sparse matrix; blocks share the arrays of a CSR matrix, other formats are converted once."""

    repeatable = True
    sparse = True

    def __init__(self, matrix: Any, columns: tuple[str, ...] | None = None, name: str | None = None):
        self.matrix = as_csr(matrix)
        if not self.matrix.has_canonical_format and _may_repeat(self.matrix):
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()  # entries that stand twice count together
        self.n_rows, self.n_columns = matrix.shape
        self.columns = columns
        self.dtype = matrix.dtype
        self.density = self.matrix.nnz / (matrix.shape[0] * matrix.shape[1])
        self.title = name
        self._cut: list[Block] = []

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give CSR matrices of consecutive rows, each with about BLOCK_BYTES / 4 of stored entries."""
        if not self._cut:  # which takes longer than a product of a few thousand entries
            self._cut = [
                Block(start, slice_rows(self.matrix, start, stop)) for start, stop in cut_rows(self.matrix.indptr)
            ]
        yield from self._cut

    def describe(self) -> str:
        """Say its name, if it has one, its shape and how full it is."""
        shape = f"{self.n_rows:,} × {self.n_columns:,} sparse matrix"
        stored = f"{self.density:.2%} stored"
        return f"{self.title} ({shape}, {stored})" if self.title else f"the {shape} ({stored})"


def as_csr(matrix: Any) -> Any:
    """A sparse matrix of any format as CSR, itself if it is; an error unless its places lie in it.

    SciPy follows them without looking, and lets anybody write into them: a wrong one would end the process.
    """
    try:
        refuse_dtype(matrix.dtype)
        refuse_shape(matrix.shape)
        if matrix.format in ("dia", "dok", "lil"):  # of which SciPy makes other arrays, in Python
            matrix = matrix.tocsr() if matrix.format == "lil" else matrix.tocoo()
        wrong = _misplaced(matrix)
        if not wrong:
            csr = _trimmed(matrix if matrix.format == "csr" else matrix.tocsr())
            if csr.dtype.kind == "f" and csr.dtype.itemsize > 8:
                _refuse_beyond_doubles(csr.data)
            return csr
    except BadInput:
        raise
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        wrong = str(error)
    raise BadInput(
        f"The sparse matrix of {matrix.shape[0]:,} × {matrix.shape[1]:,} is malformed: {wrong}; make it anew, as "
        "scipy.sparse.csr_array((data, (rows, columns)), shape) does, or mend what was written into its arrays."
    )


def _trimmed(csr: Any) -> Any:
    """The same matrix without spare room behind its entries, its places and pointers of one type, as slices need."""
    stored = int(csr.indptr[-1])
    same = csr.indices.dtype == csr.indptr.dtype and csr.indices.dtype in (np.int32, np.int64)
    if same and len(csr.data) == len(csr.indices) == stored:
        return csr
    return scipy.sparse.csr_array((csr.data[:stored], csr.indices[:stored], csr.indptr), shape=csr.shape)


def _misplaced(matrix: Any) -> str:
    """What is wrong with the arrays of a sparse matrix; nothing if nothing is."""
    n, p = matrix.shape
    if matrix.format == "coo":
        named: tuple[tuple[str, Any, int], ...] = (("row", matrix.row, n), ("column", matrix.col, p))
        lengths = {len(matrix.data), len(matrix.row), len(matrix.col)}
        if len(lengths) > 1:
            return f"its arrays of rows, columns and values have {_and_each(lengths)} entries"
    else:
        width, depth = (p, n) if matrix.format != "csc" else (n, p)
        if matrix.format == "bsr":
            high, wide = matrix.blocksize
            width, depth = width // wide, depth // high
        starts, stored = matrix.indptr, min(len(matrix.indices), len(matrix.data))
        if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) != depth + 1:
            return f"indptr has shape {starts.shape} of {starts.dtype}, but {depth + 1:,} whole numbers are needed"
        if starts[0] != 0 or starts[-1] > stored or (starts[1:] < starts[:-1]).any():
            return f"indptr does not rise from 0 to the {stored:,} entries that are stored"
        named = (("indices", matrix.indices[: int(starts[-1])], width),)
    for name, places, width in named:
        if places.ndim != 1 or places.dtype.kind not in "iu":
            return f"{name} has shape {places.shape} of {places.dtype}, but one axis of whole numbers is needed"
        if not lie_within(places, width):
            return f"{name} holds numbers from {places.min()} to {places.max()}, outside of 0 to {width - 1:,}"
    if matrix.format != "bsr" and matrix.data.ndim != 1:
        return f"data has shape {matrix.data.shape}, but one axis is needed"
    return ""


def _and_each(lengths: set[int]) -> str:
    return " and ".join(f"{one:,}" for one in sorted(lengths))


def _may_repeat(matrix: Any) -> bool:
    """Whether entries of a CSR matrix may stand twice, which SciPy does not know of rows that are not sorted."""
    return not (is_compiled() and matrix.indices.dtype == matrix.indptr.dtype) or has_repeats(matrix)


def cut_rows(indptr: Array) -> Iterator[tuple[int, int]]:
    """Cut the rows of a CSR matrix into spans of about equally many stored entries."""
    rows = len(indptr) - 1
    stored = max(1, int(indptr[-1]))
    parts = max(min(MIN_BLOCKS, rows, stored // MIN_STORED_OF_BLOCK), -(-stored * 16 // BLOCK_BYTES), 1)
    cuts = np.minimum(np.searchsorted(indptr, np.linspace(0, stored, parts + 1)[1:-1]), rows)
    edges = np.unique(np.concatenate([[0], cuts, [rows]]))
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def slice_rows(matrix: Any, start: int, stop: int) -> Any:
    """Rows of a CSR matrix as one that shares its data; SciPy's own slice would copy."""
    first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
    rows = scipy.sparse.csr_array((stop - start, matrix.shape[1]), dtype=matrix.dtype)
    rows.data, rows.indices = matrix.data[first:last], matrix.indices[first:last]
    rows.indptr = matrix.indptr[start : stop + 1] - first
    return rows
