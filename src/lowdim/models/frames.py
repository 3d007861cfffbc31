"""Answers as frames of the user's own kind."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.results.table import Table


def frame_kind(data: Any) -> str | None:
    """The library that a frame belongs to ("pandas", "polars", "pyarrow", …), or None if it is no frame."""
    root = type(data).__module__.partition(".")[0]
    if isinstance(data, np.ndarray) or root not in sys.modules or root in ("numpy", "scipy", "builtins", "lowdim"):
        return None
    if root == "dask":  # its frames are made of pandas frames
        return "pandas" if hasattr(data, "to_dask_array") else None
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
        frame.index = like.index
    return frame


def scores_table(kind: str | None, names: list[str], scores: Any, like: Any) -> Any:
    """Scores as a frame with the rows' own index; a lazy dask frame for one of dask's."""
    if type(like).__module__.startswith("dask.") and hasattr(like, "to_dask_array"):
        from lowdim.sources.dask import lazy_frame

        return lazy_frame(scores, names, like)
    return make_table(kind, dict(zip(names, np.asarray(scores).T, strict=True)), like=like)
