"""Arrays inside JSON: base64 of little-endian bytes, so that a page decodes a million numbers at once.

JSON has no NaN. A number that is not there is null as a scalar, NaN in float32, and the largest code in uint16.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Json = dict[str, Any]

FEW = 2_000_000
"""Entries up to which float32 is used; beyond, codes of two bytes are as good as a screen and half the size."""

MISSING = 65535
"""Code of an entry that is not there; 0 … 65,534 are the steps from the least to the largest."""


def number(value: float | None) -> float | None:
    """A scalar that JSON can hold: None for what is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def float32(values: Any) -> Json:
    """Any shape, seven digits; NaN stays NaN, and what is beyond float32 becomes infinite."""
    with np.errstate(over="ignore"):
        return _blob("f4", np.asarray(values, dtype="<f4"))


def uint8(values: Any) -> Json:
    """Whole numbers from 0 to 255: pictures, short codes."""
    return _blob("u1", np.asarray(values, dtype="u1"))


def uint32(values: Any) -> Json:
    """Whole numbers: places of rows."""
    return _blob("u4", np.asarray(values, dtype="<u4"))


def uint16(values: Any) -> Json:
    """(n, k) numbers as 65,535 steps between the least and the largest of each column."""
    table = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(table)
    low = np.where(finite, table, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, table, -np.inf).max(axis=0, initial=-np.inf)
    low, high = (np.where(low <= high, edge, 0.0) for edge in (low, high))
    # halves, as the range of a column may be beyond the largest float
    width = np.where(high > low, high / 2 - low / 2, 1.0)
    with np.errstate(invalid="ignore"):
        steps = (table / 2 - low / 2) / width * (MISSING - 1)
    codes = np.where(finite, np.rint(np.where(finite, steps, 0.0)), MISSING)
    return {**_blob("u2", codes.astype("<u2")), "lo": low.tolist(), "hi": high.tolist()}


def table(values: NDArray[Any]) -> Json:
    """(n, k) numbers in the fewest bytes that a screen does not show: grey values, float32, or steps."""
    if np.issubdtype(values.dtype, np.floating) or np.issubdtype(values.dtype, np.integer):
        whole = np.isfinite(values).all() and (values == np.rint(values)).all() and values.size > 0
        if whole and values.min() >= 0 and values.max() <= 255:
            return uint8(values)
    return float32(values) if values.size <= FEW else uint16(values)


def _blob(kind: str, values: NDArray[Any]) -> Json:
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
    return {"type": kind, "shape": list(values.shape), "data": data}
