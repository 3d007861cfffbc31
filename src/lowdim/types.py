"""Arrays by what they hold: names for the types that are written in nearly every signature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]
Array = NDArray[Any]
