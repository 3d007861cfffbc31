"""Answers as frames and arrays of the user's own library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.results.table import Table
from lowdim.sources.arrays import as_numpy, in_kind, is_other_array, kind_of

# Answers as frames of the user's own kind.


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
        from lowdim.sources.dask.source import lazy_frame

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


# Answers as arrays of the user's own library: torch in, torch out.
#
# Whatever a method gives for rows X is an array of X's own library and device, or a frame if that was asked for. With
# scikit-learn's `set_config(array_api_dispatch=True)` the learnt attributes are so too, in the type of the data:
# arrays of the library that `fit` was given, as scikit-learn has it. Records, `fit_`, are always NumPy and float64.


class OwnKind:
    """A model whose methods and read-outs answer in kind; those that a subclass defines are wrapped when it is."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in list(vars(cls).items()):
            if name.startswith(("_", "fit", "partial_fit")):  # fits give the model itself; fit_transform, transform's
                continue
            if isinstance(member, FunctionType):
                setattr(cls, name, _answering_in_kind(member))
            elif name.endswith("_") and hasattr(type(member), "__set__"):
                setattr(cls, name, ReadOut(member))

    def _remember_kind(self, X: Any) -> None:
        """What attributes are to be, from now on: NumPy unless X is another library's and dispatch was asked for."""
        dispatched = is_other_array(X) and sklearn.get_config()["array_api_dispatch"]
        self._kind_of_fit = kind_of(X) if dispatched else None


class ReadOut:
    """A property, or whatever else reads an attribute of a fit, whose arrays are of the kind of the fit."""

    def __init__(self, inner: Any):
        self._inner = inner
        self.__doc__ = inner.__doc__

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        value = self._inner.__get__(model, owner)
        kind = model.__dict__.get("_kind_of_fit")
        return value if kind is None else in_kind(value, kind, floats=True)

    def __set__(self, model: Any, value: Any) -> None:
        self._inner.__set__(model, as_numpy(value))


def _answering_in_kind(method: FunctionType) -> Callable[..., Any]:
    """The method, which then sees NumPy arrays only, and gives arrays of the kind of X; without rows, of the fit's."""
    names = method.__code__.co_varnames[: method.__code__.co_argcount]
    place = names.index("X") - 1 if "X" in names else None

    @wraps(method)
    def in_the_kind_of_rows(self: Any, *args: Any, **kwargs: Any) -> Any:
        if place is None:
            kind = self.__dict__.get("_kind_of_fit")
            answer = method(self, *args, **kwargs)
            return answer if kind is None else in_kind(answer, kind, floats=True)
        X = args[place] if len(args) > place else kwargs.get("X")
        if not is_other_array(X):
            return method(self, *args, **kwargs)
        given = {name: as_numpy(value) for name, value in kwargs.items()}
        return in_kind(method(self, *map(as_numpy, args), **given), kind_of(X))

    return in_the_kind_of_rows


def table_by_name(model: Any, tables: Mapping[str, Callable[[Any, Any], Any]], name: Any, X: Any, known: str) -> Any:
    """What the function of this name makes of a model and rows; an error with the `known` names if it makes nothing."""
    make = tables.get(name) if isinstance(name, str) else None
    found = None if make is None else make(model, X)
    if found is None:
        raise BadParameter.no_table(type(model).__name__, name, known)
    return found
