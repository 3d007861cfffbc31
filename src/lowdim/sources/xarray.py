"""DataArrays and Datasets of xarray: rows along the first dimension, columns named by the second one's labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadInput
from lowdim.sources.arrays import ArraySource, as_table
from lowdim.sources.frames import are_texts, refuse_repeated
from lowdim.sources.source import Source


def xarray_source(data: Any) -> Source:
    """Rows of a DataArray (n, p), named by the coordinate of its second dimension, or of a Dataset of columns."""
    if hasattr(data, "data_vars"):
        return _columns_of(data)
    if data.ndim == 2 and data.dims[1] in data.coords:
        names = data.coords[data.dims[1]].values.tolist()
        refuse_repeated(names)
    else:
        names = None
    source = _rows_of(data)
    if names is not None:
        source.columns, source.numbered = tuple(map(str, names)), not are_texts(names)
    return source


def _rows_of(data: Any) -> Source:
    if data.chunks is None:
        return ArraySource(as_table(np.asarray(data)), name="the DataArray")
    from lowdim.sources.dask.source import dask_source

    return dask_source(data.data)


def _columns_of(data: Any) -> Source:
    """A Dataset whose variables all run along one dimension."""
    columns = {str(name): variable for name, variable in data.data_vars.items()}
    along = {variable.dims for variable in columns.values()}
    if len(along) != 1 or len(next(iter(along))) != 1:
        listed = ", ".join(f"{name} ({' × '.join(map(str, one.dims)) or 'a number'})" for name, one in columns.items())
        raise BadInput(
            f"The Dataset holds {listed or 'no variables'}, but columns that all run along one dimension are needed: "
            "choose such variables, or pass one DataArray of rows × columns."
        )
    source = ArraySource(as_table(np.column_stack([np.asarray(one) for one in columns.values()])), name="the Dataset")
    source.columns, source.numbered = tuple(columns), not are_texts(list(data.data_vars))
    return source
