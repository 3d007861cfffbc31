"""Arrays by what they hold, as nearly every signature says it; and what counts as a number."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]
Array = NDArray[Any]


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number of Python or NumPy; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number of Python or NumPy; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)
