"""The one door in: whatever holds rows becomes a Source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from lowdim.errors import BadInput
from lowdim.sources.checks import as_table, refuse_dtype, refuse_shape
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
        refuse_dtype(data.dtype)
        refuse_shape(data.shape)
        return SparseSource(data)
    if isinstance(data, np.ndarray):
        return ArraySource(as_table(data))
    if isinstance(data, Iterator):
        return StreamSource(data)
    if not isinstance(data, (list, tuple)) and _is_loaded_frame_library(data):
        from lowdim.sources.frames import as_frame, frame_source

        frame = as_frame(data)
        if frame is not None:
            refuse_shape(frame.shape)
            return frame_source(frame)
    return ArraySource(as_table(np.asarray(data)))


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


def _is_loaded_frame_library(data: Any) -> bool:
    """Whether the object comes from a library that is loaded and may have made a frame; spares an import if not."""
    root = type(data).__module__.partition(".")[0]
    return root in sys.modules and root not in ("numpy", "builtins", "array")
