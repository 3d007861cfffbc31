"""Answers as frames of the user's own kind."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.results.table import Table
from lowdim.sources.array_api import is_other_array


def frame_kind(data: Any) -> str | None:
    """The library that a frame belongs to ("pandas", "polars", "pyarrow", …), or None if it is no frame."""
    root = type(data).__module__.partition(".")[0]
    if isinstance(data, np.ndarray) or root not in sys.modules or root in ("numpy", "scipy", "builtins", "lowdim"):
        return None
    if root == "dask":  # its frames are made of pandas frames
        return "pandas" if hasattr(data, "to_dask_array") else None
    if is_other_array(data):
        return None
    from lowdim.sources.frames import as_frame

    frame = as_frame(data)
    return None if frame is None else str(frame.implementation.value)


def make_table(kind: str | None, columns: Mapping[str, Any], like: Any = None) -> Any:
    """A frame of that library, or a Table; pandas frames made from rows of `like` keep its index."""
    if kind is None:
        return Table(columns)
    import narwhals as nw

    backend: Any = kind
    frame = nw.to_native(nw.from_dict(dict(columns), backend=backend))
    if kind == "pandas" and like is not None and hasattr(like, "index"):
        frame.index = _index(like)
    return frame


def scores_table(kind: str | None, names: list[str], scores: Any, like: Any) -> Any:
    """Scores as a frame with the rows' own index; a lazy dask frame for one of dask's."""
    if type(like).__module__.startswith("dask.") and hasattr(like, "to_dask_array"):
        from lowdim.sources.dask import lazy_frame

        return lazy_frame(scores, names, like)
    return make_table(kind, dict(zip(names, np.asarray(scores).T, strict=True)), like=like)


def named_columns(data: Any) -> dict[str, NDArray[Any]]:
    """Columns of a frame or a mapping by name: numbers as float64, all else as objects; missing are NaN, or None."""
    from lowdim.sources.frames import as_frame, refuse_repeated

    frame = None if isinstance(data, Mapping) else as_frame(data)
    if frame is None and not isinstance(data, Mapping):
        raise BadInput(
            f"A {type(data).__name__} has no column names: pass a frame, or a mapping such as {{'kind': kinds}}."
        )
    found = dict(data) if frame is None else {name: frame[name].to_list() for name in frame.columns}
    refuse_repeated(found)
    if not found:
        raise BadInput("There are no columns: pass a frame, or a mapping such as {'kind': kinds}.")
    return {str(name): _numbers_or_objects(values) for name, values in found.items()}


def only_columns(data: Any, names: tuple[str, ...] | None) -> Any:
    """A frame without columns that are not among the names; all other data, and frames that lack some, as they are."""
    from lowdim.sources.frames import as_frame

    frame = None if names is None or frame_kind(data) is None else as_frame(data)
    if frame is None or names is None:
        return data
    listed = {str(name): name for name in frame.columns}
    if len(listed) == len(names) or not set(names) <= set(listed):
        return data
    return frame.select([listed[name] for name in names]).to_native()


def _index(data: Any) -> Any:
    """The index of a pandas frame; of dask's, which is lazy, computed."""
    return data.index.compute() if hasattr(data.index, "compute") else data.index


def row_labels(data: Any, n: int) -> list[str]:
    """Names of n rows: the index of a pandas frame, else their places from 0."""
    index = _index(data) if frame_kind(data) == "pandas" else None
    return [str(i) for i in (range(n) if index is None else index)]


def _numbers_or_objects(values: Any) -> NDArray[Any]:
    listed = np.asarray(values)
    if listed.dtype == object or listed.dtype.kind in "US":
        # pandas' own sign for a missing value: comparisons with it are neither true nor false
        sign = getattr(sys.modules.get("pandas"), "NA", None)
        texts = values if listed.dtype.kind in "US" else listed  # NumPy makes a text of a NaN among texts
        given = [None if value is sign else value for value in texts]
        if any(map(_is_number, given)) and all(value is None or _is_number(value) for value in given):
            return np.array([np.nan if value is None else float(value) for value in given])
        return np.array(given, dtype=object)
    return listed.astype(np.float64) if listed.dtype.kind in "iuf" else listed.astype(object)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def frame_columns(data: Any) -> list[str]:
    """Names of the columns of a frame; none if it is no frame, or a lazy one of dask's."""
    if frame_kind(data) is None or type(data).__module__.startswith("dask"):
        return []
    from lowdim.sources.frames import as_frame

    frame = as_frame(data)
    return [] if frame is None else list(map(str, frame.columns))


def frame_column(data: Any, name: str) -> NDArray[Any]:
    """(n,) a column of a frame: numbers as float64, all else as objects."""
    from lowdim.sources.frames import as_frame

    frame = as_frame(data)
    assert frame is not None
    return _numbers_or_objects(frame[name].to_list())
