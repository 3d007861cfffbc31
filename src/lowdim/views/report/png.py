"""Small pictures inside a page, as data URIs of PNG files; nothing but zlib is needed."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, COLOUR, COLOUR_ALPHA = 0, 2, 6

Floats = NDArray[np.float64]


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
