"""The one door in: whatever holds rows becomes a Source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.errors import BadInput, NotNumeric, WrongShape
from lowdim.sources.memory import ArraySource, SparseSource
from lowdim.sources.source import Source
from lowdim.sources.stream import StreamSource


def open_source(data: Any) -> Source:
    """Turn data into a source of rows that every model takes.

    Parameters
    ----------
    data : array, SciPy sparse matrix, pandas / polars / Arrow frame, path of a ``.npy`` file, iterator or Source
        A ``.npy`` file is memory-mapped, so it may be larger than memory. An iterator gives (rows, p) blocks and
        is read once. A source is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> source = lowdim.open(np.arange(12.0).reshape(6, 2))
    >>> source.n_rows, source.n_columns
    (6, 2)
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, Path)):
        return _open_path(Path(data))
    if scipy.sparse.issparse(data):
        _refuse_dtype(data.dtype)
        _refuse_shape(data.shape)
        return SparseSource(data)
    if isinstance(data, np.ndarray):
        return ArraySource(as_table(data))
    if isinstance(data, Iterator):
        return StreamSource(data)
    if not isinstance(data, (list, tuple)) and _is_loaded_frame_library(data):
        from lowdim.sources.frames import as_frame, frame_source

        frame = as_frame(data)
        if frame is not None:
            _refuse_shape(frame.shape)
            return frame_source(frame)
    return ArraySource(as_table(np.asarray(data)))


def as_table(array: NDArray[Any]) -> NDArray[Any]:
    """A two-dimensional array of real numbers, or an error that says what it is instead. Copies only objects."""
    if array.dtype.kind == "c":
        raise BadInput(
            f"Complex data not supported: the array has dtype {array.dtype}, but real numbers are needed; pass the "
            "real and imaginary parts as separate columns."
        )
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(float), np.nan) if np.ma.is_masked(array) else array.data
    if array.dtype.kind == "O":
        array = _objects_as_numbers(array)
    _refuse_dtype(array.dtype)
    _refuse_shape(array.shape)
    return np.asarray(array)


def _open_path(path: Path) -> Source:
    if not path.exists():
        raise BadInput(f"{path}: no such file; check the path.")
    if path.suffix != ".npy":
        raise BadInput(f"{path}: files ending in {path.suffix or 'nothing'} are not read yet; .npy files are.")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise BadInput(f"{path}: not a readable .npy file ({error}); write it with numpy.save.") from error
    return ArraySource(as_table(array), name=str(path))


def _objects_as_numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise NotNumeric(
            f"An entry is not a number: {error}; argument must be a string-free table of real numbers (float() "
            "argument must be a string or a real number): leave text columns out."
        ) from error


def _refuse_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise BadInput(f"Complex data not supported: dtype {dtype}, but real numbers are needed.")
    if dtype.kind not in "fiub":
        raise NotNumeric.dtype(dtype)


def _refuse_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise WrongShape(
            f"Expected 2D array, got {len(shape)}D array instead, of shape {shape}: rows × columns are needed; use "
            "X.reshape(-1, 1) for a single column, X.reshape(1, -1) for a single row, X.reshape(len(X), -1) for a "
            "stack of pictures, or iter(blocks) for a list of row blocks."
        )
    if 0 in shape:
        what = "sample(s)" if shape[0] == 0 else "feature(s)"
        raise WrongShape(
            f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required: check how the data "
            "were read or filtered."
        )


def _is_loaded_frame_library(data: Any) -> bool:
    """Whether the object comes from a library that is loaded and may have made a frame; spares an import if not."""
    root = type(data).__module__.partition(".")[0]
    return root in sys.modules and root not in ("numpy", "builtins", "array")
