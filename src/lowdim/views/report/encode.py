"""Arrays and small pictures inside JSON: base64 of little-endian bytes, and data URIs of PNG files."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats

# Arrays inside JSON: base64 of little-endian bytes, so that a page decodes a million numbers at once.
#
# JSON has no NaN. A number that is not there is null as a scalar, NaN in float32, and the largest code in uint16.

Json = dict[str, Any]

MOST_FLOATS = 2_000_000
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
    return float32(values) if values.size <= MOST_FLOATS else uint16(values)


def _blob(kind: str, values: NDArray[Any]) -> Json:
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
    return {"type": kind, "shape": list(values.shape), "data": data}


# Small pictures inside a page, as data URIs of PNG files; nothing but zlib is needed.

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, COLOUR, COLOUR_ALPHA = 0, 2, 6


def data_uri(pixels: NDArray[Any]) -> str:
    """A picture (height, width), or with 3 or 4 channels, of uint8 as an address that an <img> takes.

    >>> data_uri(np.zeros((2, 2), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")


def png(pixels: NDArray[Any]) -> bytes:
    """The file (ISO/IEC 15948): lines of pixels, each as its difference from the one above, which packs well."""
    shown = np.ascontiguousarray(pixels, dtype=np.uint8)
    height, width = shown.shape[:2]
    kind = GREY if shown.ndim == 2 else {3: COLOUR, 4: COLOUR_ALPHA}[shown.shape[2]]
    lines = shown.reshape(height, -1)
    above = np.vstack([np.zeros_like(lines[:1]), lines[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, dtype=np.uint8), lines - above])  # 2: the filter "up"
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    body = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9)) + _chunk(b"IEND", b"")
    return SIGNATURE + body


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def picture_uri(pixels: Floats) -> str:
    """The same of a picture (height, width, 3) of numbers from 0 to 1, as figures have it."""
    levels = np.rint(255 * pixels).astype(np.uint8)
    grey = (levels == levels[:, :, :1]).all()
    return data_uri(levels[:, :, 0] if grey else levels)


def grey_levels(values: Floats, ends: tuple[float, float] | None = None) -> NDArray[np.uint8]:
    """Numbers as 256 levels between their ends, or those that are given; what is missing is black."""
    known = values[np.isfinite(values)]
    least, most = ends or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
    width = most - least if most > least else 1.0
    return np.rint(255 * np.clip((np.nan_to_num(values, nan=least) - least) / width, 0.0, 1.0)).astype(np.uint8)
