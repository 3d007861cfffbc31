"""What a table of numbers must be, whatever it came in as."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, NotNumeric, WrongShape


def as_table(array: NDArray[Any]) -> NDArray[Any]:
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
    return np.asarray(array)


def as_numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Objects or texts as the numbers that they are; missing ones, None and pandas' NA, are NaN."""
    absent = getattr(sys.modules.get("pandas"), "NA", None)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    try:
        known = [np.nan if one is None or one is absent else one for one in array.ravel().tolist()]
        return np.array(known, dtype=object).astype(np.float64).reshape(array.shape)
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
        raise WrongShape(
            f"Expected 2D array, got {len(shape)}D array instead, of shape {shape}: rows × columns are needed. "
            "Reshape your data: X.reshape(-1, 1) for a single column, X.reshape(1, -1) for a single row, "
            "X.reshape(len(X), -1) for a stack of pictures; or pass iter(blocks) for a list of row blocks."
        )
    if 0 in shape:
        what = "sample(s)" if shape[0] == 0 else "feature(s)"
        raise WrongShape(
            f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required: check how the data "
            "were read or filtered."
        )
