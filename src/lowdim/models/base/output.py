"""What models give: frames and arrays of the user's own library, tables by name, what is said of a fit, ONNX graphs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from inspect import signature
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Words
from lowdim.models.base.parameters import FloatType
from lowdim.models.base.scikit_learn import check_is_fitted, dispatches
from lowdim.models.registry import part_of
from lowdim.results.record import Provenance
from lowdim.results.table import Table
from lowdim.sources.arrays import as_numpy, empty_like, is_foreign_array, to_library_of
from lowdim.sources.files import Wish, open_paths
from lowdim.sources.source import Source
from lowdim.views.overview import Overview

# Answers as frames of the user's own kind.


def frame_kind(data: Any) -> str | None:
    """The library that a frame belongs to ("pandas", "polars", "pyarrow", …), or None if it is no frame."""
    root = type(data).__module__.partition(".")[0]
    if isinstance(data, np.ndarray) or root not in sys.modules or root in ("numpy", "scipy", "builtins", "lowdim"):
        return None
    if root == "dask":  # its frames are made of pandas frames
        return "pandas" if hasattr(data, "to_dask_array") else None
    if is_foreign_array(data):
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
    """Names of n rows: those that the data have, the index of a pandas frame, else their places from 0."""
    found = names_of_rows(data)
    if found is None and frame_kind(data) == "pandas":
        found = [str(one) for one in _index(data)]
    return found if found is not None and len(found) == n else [str(i) for i in range(n)]


def names_of_rows(data: Any) -> list[str] | None:
    """What the data call their rows: a column of names in a file; None where they have no names."""
    if isinstance(data, (str, os.PathLike)):
        data = open_paths(data, Wish())
    return data.row_names() if isinstance(data, Source) else None


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


def answer_in_kind(cls: type) -> None:
    """Wrap the public methods and fitted attributes that a class of models defines, so that they answer in kind."""
    for name, member in list(vars(cls).items()):
        if name.startswith(("_", "fit", "partial_fit")):  # fits give the model itself; fit_transform, transform's
            continue
        if isinstance(member, FunctionType):
            setattr(cls, name, _answering_in_kind(member))
        elif name.endswith("_") and hasattr(type(member), "__set__"):
            setattr(cls, name, ReadOut(member))


def kind_of_fit(X: Any) -> Any:
    """What attributes of a fit of X are to be: that of X if dispatch was asked for; None: NumPy."""
    return empty_like(X) if is_foreign_array(X) and dispatches() else None


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
        return value if kind is None else to_library_of(value, kind, floats=True)

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
            return answer if kind is None else to_library_of(answer, kind, floats=True)
        X = args[place] if len(args) > place else kwargs.get("X")
        if not is_foreign_array(X):
            return method(self, *args, **kwargs)
        given = {name: as_numpy(value) for name, value in kwargs.items()}
        return to_library_of(method(self, *map(as_numpy, args), **given), empty_like(X))

    return in_the_kind_of_rows


# Tables by name: a model lists functions of itself, rows X (or None) and settings.

Tables = Mapping[str, Callable[..., Any]]

OF_ROWS = ("sample_weight", "extra", "reference", "reference_weight")
"""Settings of tables that are a value for each row, which cannot be typed at the prompt."""


def table_by_name(model: Any, tables: Tables, name: Any, X: Any, **settings: Any) -> Any:
    """What the function of this name makes of a model, rows and settings; an error that lists those there are."""
    check_is_fitted(model)
    make = tables.get(name) if isinstance(name, str) else None
    if make is None:
        *first, last = map(repr, tables)
        raise BadParameter.no_table(type(model).__name__, name, f"{', '.join(first)} or {last}")
    known = list(signature(make).parameters)[2:]
    unknown = [setting for setting in settings if setting not in known]
    if unknown:
        typed = [setting for setting in known if setting not in OF_ROWS]
        raise BadParameter.no_setting("table", name, unknown[0], known, typed)
    return make(model, X, **settings)


def refuse_no_rows(table: str, X: Any) -> None:
    """Raise an error if a table about rows is asked for without any."""
    if X is None:
        raise BadParameter(
            Words(f"table({table!r})", f"the table {table}"),
            " is about rows, and a model does not keep them: ",
            Words(f"table({table!r}, X).", "name the data after it."),
        )


def scores(model: Any, X: Any) -> Any:
    """The table "scores": those of rows, a column for each axis."""
    refuse_no_rows("scores", X)
    return scores_table(frame_kind(X) or model._frame_kind, model._axes, model._scores(X), like=X)


# What is said of any record: found by its kind, so that nothing shared names a model.


def overview_file(record: Any) -> ModuleType:
    """The `overview.py` that knows a record: of the folder that defines it, or that of all linear fits."""
    return part_of(type(record), "overview") or import_module("lowdim.models.linear.overview")


def overview_of(record: Any) -> Overview:
    """What is said of the record of a fit."""
    seen: Overview = overview_file(record).overview(record)
    return seen


def made_from(
    source: Source, solver: str, reason: str, passes: int, memory: int, seed: object, *packages: tuple[str, str]
) -> Provenance:
    """Where a fit of a source comes from; `packages` did part of the work."""
    levels = tuple((column, tuple(values)) for column, values in source.levels.items())
    return Provenance(source.describe(), solver, reason, passes, memory, repr(seed), (*versions(), *packages), levels)


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Of the packages that a result depends on."""
    import scipy

    from lowdim import __version__

    return (("lowdim", __version__), ("numpy", np.__version__), ("scipy", scipy.__version__))


# Models that other programs can run: `transform` as an ONNX graph, alone or in a pipeline.


class Exported:
    """A model whose `transform` is a few operations."""

    def export_onnx(self, path: str | os.PathLike[str], *, inverse: bool = False, dtype: FloatType = "float32") -> None:
        """Write `transform` (or `inverse_transform`) as an ONNX graph, which runs where Python is not.

        It takes any number of rows without missing values, and of an autoencoder gives codes without refinement. Needs
        the package onnx. Pipelines with such a model are converted by skl2onnx itself.

        Parameters
        ----------
        path : path
            Of the file, which is replaced whole, or not at all.
        inverse : bool
            Write `inverse_transform` instead.
        dtype : {"float32", "float64"}
            Of the numbers that the graph takes and gives.
        """
        from lowdim.views.files.onnx import write_graph

        check_is_fitted(self)
        if dtype not in ("float32", "float64"):
            raise BadParameter.of("export_onnx", "dtype", dtype, "'float32' or 'float64'")
        write_graph(path, self._fit, self._graph(inverse, dtype), dtype)

    # -- what skl2onnx asks of a model in a pipeline ------------------------------------------------------------------

    def onnx_parser(self) -> Callable[..., list[str]]:
        """What skl2onnx asks first: a function that names what comes out."""
        from lowdim.views.files.onnx_graphs import parse

        return parse

    def onnx_shape_calculator(self) -> Callable[[Any], None]:
        """What skl2onnx asks then: a function that sets the shape of what comes out."""
        from lowdim.views.files.onnx_graphs import set_shape

        check_is_fitted(self)
        return lambda operator: set_shape(operator, self._fit.k)

    def onnx_converter(self) -> Callable[[Any, Any, Any], None]:
        """What skl2onnx asks last: a function that adds the operations of `transform` to its graph."""
        from lowdim.views.files.onnx_graphs import add_graph, float_type

        def convert(scope: Any, operator: Any, container: Any) -> None:
            add_graph(self._graph(False, float_type(operator)), scope, operator, container)

        return convert

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _fit(self) -> Any:
        return cast("Any", self).fit_

    def _graph(self, inverse: bool, dtype: str) -> Any:
        """Operations from rows to scores, or back with `inverse`; an error if this fit has no such graph."""
        raise NotImplementedError
