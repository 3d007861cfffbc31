"""Columns on their way to a file: NumPy's, or Arrow's where a reader has them so, which are never made objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = Any
"""An array of NumPy of one axis (numbers, flags, times, masked where they are missing; objects), or one of Arrow."""


def is_arrow(column: Any) -> bool:
    """Whether an array is one of Arrow, whose package is loaded then."""
    return type(column).__module__.partition(".")[0] == "pyarrow"


def as_column(values: Any) -> Column:
    """A column as writers take it: numbers, flags and times as they are, everything else as objects."""
    if is_arrow(values) or isinstance(values, np.ma.MaskedArray):
        return values
    column = np.asarray(values)
    if column.dtype.kind == "U" and column is not values:
        column = np.asarray(values, dtype=object)  # NumPy's own texts lose NULs at their end
    if column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8):
        return column.astype(np.float32 if column.dtype.itemsize < 4 else np.float64)
    if column.dtype.kind in "fiu":
        return column.astype(column.dtype.newbyteorder("="), copy=False)
    if column.dtype.kind == "m":
        times = column.astype(str).astype(object)
        times[np.isnat(column)] = None
        return times
    return column if column.dtype.kind in "bM" else column.astype(object)


def as_numpy(column: Column) -> NDArray[Any]:
    """A column as NumPy has it; whole numbers and flags of Arrow are masked where they are missing."""
    if not is_arrow(column):
        found: NDArray[Any] = column
        return found
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_date64(kind):
        column = column.cast(pa.date32())
    if (pa.types.is_integer(kind) or pa.types.is_boolean(kind)) and column.null_count:
        gone = column.is_null().to_numpy(zero_copy_only=False)
        there = column.fill_null(False if pa.types.is_boolean(kind) else 0).to_numpy(zero_copy_only=False)
        return np.ma.MaskedArray(there, gone)
    if pa.types.is_float16(kind):
        column = column.cast(pa.float32())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.string())
    if pa.types.is_null(kind):
        return np.full(len(column), None, dtype=object)
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return array if not pa.types.is_duration(kind) else as_column(array)


def is_float(column: Column) -> bool:
    """Whether a column holds floats."""
    return str(column.type) in ("float", "double", "halffloat") if is_arrow(column) else column.dtype.kind == "f"


def is_text(column: NDArray[Any]) -> bool:
    """Whether a column of NumPy holds no numbers: texts, times."""
    return column.dtype.kind in "OM"


def is_missing(values: Any) -> Any:
    """Whether a value, or each value of a column of NumPy, is missing: None, NaN, NaT, masked, pandas' own marks."""
    if not isinstance(values, np.ndarray):
        # NaN and pandas' own marks are told by what they print, as pandas.NA cannot be compared
        return values is None or (not isinstance(values, str) and str(values) in ("nan", "NaT", "<NA>"))
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    if values.dtype.kind == "M":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def as_floats(column: NDArray[Any]) -> NDArray[Any]:
    """Numbers and flags as floats, float32 if they are; NaN where they are missing."""
    kind = np.float32 if column.dtype == np.float32 else np.float64
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(kind), np.nan)
    return column.astype(kind, copy=False)
