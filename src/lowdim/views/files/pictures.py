"""Pictures to files, whole or not at all; the ending says the kind. Like sources/formats/pictures.py loads Pillow."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, NeedsExtra
from lowdim.runtime.files import atomic_write

ENDINGS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF"}

TYPES = {"PNG": ("uint8", "uint16"), "JPEG": ("uint8",), "TIFF": ("uint8", "uint16", "int32", "float32")}
"""Kind of file → types of pixels that it holds; beyond uint8 in grey alone, as Pillow has no deeper colours."""

SETTINGS: dict[str, dict[str, Any]] = {
    "PNG": {},
    "JPEG": {"quality": 95, "subsampling": 0},
    "TIFF": {"compression": "tiff_lzw"},
}


def picture_kind(path: str | os.PathLike[str]) -> str:
    """Kind of picture that the ending of a path asks for; an error if it is none that is written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise BadParameter(f"{os.fspath(path)}: pictures ending in {ending or 'nothing'} are not written; {known} are.")
    return ENDINGS[ending]


def check_picture(path: str | os.PathLike[str], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """An error, before any work, if pixels of this type and shape cannot be written to a file of this name."""
    kind = picture_kind(path)
    channels = shape[2] if len(shape) > 2 else 1
    if dtype.name not in TYPES[kind] or (channels > 1 and dtype != np.uint8):
        what = f"{dtype.name} pixels{f' in {channels} channels' if channels > 1 else ''}"
        better = "a .tif" if channels == 1 and dtype.name in TYPES["TIFF"] else "a NumPy file, or make them uint8"
        raise BadInput(f"{os.fspath(path)}: {kind} files do not take {what} here; write {better}.")
    if kind == "JPEG" and channels in (2, 4):
        raise BadInput(f"{os.fspath(path)}: JPEG files have no alpha channel, but the picture does; write a .png.")


def write_picture(path: str | os.PathLike[str], pixels: NDArray[Any]) -> None:
    """Write pixels of the shapes and types that `sources.pictures.read_picture` gives.

    PNG and TIFF keep every bit; JPEG loses some, at quality 95 and with colours at full resolution.
    """
    check_picture(path, pixels.dtype, pixels.shape)
    try:
        from PIL import Image
    except ImportError as error:
        raise NeedsExtra.package("pillow", "Writing pictures", "images") from error
    kind, encoded = picture_kind(path), io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(encoded, kind, **SETTINGS[kind])
    with atomic_write(path) as file:
        file.write(encoded.getbuffer())
