"""Arrays by what they hold, as nearly every signature says it; what counts as a number, and its rounding."""

from __future__ import annotations

import sys
from numbers import Integral, Number, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]
Places = NDArray[np.intp]
"""Numbers of rows or columns, as NumPy counts places."""
Array = NDArray[Any]

EPS = float(np.finfo(float).eps)
"""Spacing of float64 numbers at 1."""


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number of Python or NumPy, of a size that float64 has; True and False are none."""
    # a class that is only registered as a kind of number takes ten times as long to be asked
    if type(value) is int:
        return value.bit_length() < 1024
    return isinstance(value, Integral) and is_number(value)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number of Python or NumPy that float64 has room for; True and False are none."""
    if type(value) is float:
        return True
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:  # whole numbers of Python have no end
        return False
    return True


def is_scalar(value: object) -> bool:
    """Whether it is nothing, a word, or a number of any kind: what can be compared with another."""
    return type(value) in (int, float, str) or value is None or isinstance(value, (str, bool, Number, np.bool_))


def is_sparse(data: object) -> bool:
    """Whether it is a sparse matrix of SciPy, whose package is not loaded for the answer: without it there is none."""
    loaded = sys.modules.get("scipy.sparse")
    return loaded is not None and bool(loaded.issparse(data))
