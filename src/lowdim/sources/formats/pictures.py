"""Pictures of one size, each a row: a folder of them, a pattern, or a single one; and one picture as it is.

Beside views/files/pictures.py, which writes them, alone in loading Pillow.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadFile, NeedsExtra, Setting, TableNote
from lowdim.sources.columns import Selection, choose_beside, name_columns_of_files
from lowdim.sources.formats.stored import Rows, StoredSource, refuse_unreadable
from lowdim.sources.source import Source
from lowdim.types import Array

if TYPE_CHECKING:
    from lowdim.sources.isolated.process import Isolated

try:
    from PIL import Image, ImageOps
except ImportError as error:
    raise NeedsExtra.package("pillow", "Reading pictures", "images") from error

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
"""What a file must be, whatever its ending says. Pillow's other formats start other programs or are rarely tested."""

MAX_PIXELS = 89_478_485
"""Pillow's own limit, from which on it warns; here it is an error."""

DEEP_MODES = {"I;16": np.uint16, "I;16B": np.uint16, "I": np.int32, "F": np.float32}
"""Grey pictures of more than 8 bits: Pillow's mode → type of the pixels."""


def open_pictures(
    paths: Sequence[Path], text: str, selection: Selection, size: tuple[int, int] | None = None
) -> Source:
    """The pictures in the order of their names, brought to a size (height, width) if one is given.

    A row has height × width numbers, × 3 if all are in colour.
    """
    beside = name_columns_of_files(paths, Path(text))
    choose_beside(text, selection, beside)
    looks = [_read_header(path) for path in paths]
    sizes = Counter(look[1] for look in looks)
    if size is None and len(sizes) > 1:
        raise _sizes_differ(paths, [look[1] for look in looks], sizes)
    width, height = looks[0][1] if size is None else (size[1], size[0])
    changed = sum(count for one, count in sizes.items() if one != (width, height))
    mode = _choose_mode(paths, [look[0] for look in looks])
    dtype = np.dtype(DEEP_MODES.get(mode, np.uint8))
    shape = (len(paths), height, width, *((3,) if mode == "RGB" else ()))
    title = f"{text}, pictures of {height} × {width}{' in colour' if mode == 'RGB' else ''}"
    opened = partial(_open_rows, tuple(paths), mode, shape[1:], dtype, resize=size is not None)
    source = StoredSource(
        opened, shape, dtype, title, beside=beside, notes=_say_resized(changed, len(paths), sizes, height, width)
    )
    source.label, source.names = selection.label, selection.names or "name"
    return source


def _sizes_differ(paths: Sequence[Path], each: Sequence[tuple[int, int]], sizes: Counter[tuple[int, int]]) -> BadFile:
    (width, height), often = sizes.most_common(1)[0]
    odd = next(i for i, one in enumerate(each) if one != (width, height))
    return BadFile(
        f"{paths[odd]}: is {each[odd][1]} × {each[odd][0]}, but {often:,} of {len(paths):,} pictures are {height} × "
        f"{width} (height × width), and those read together need one size: ",
        Setting("size", (height, width)),
        " brings all to it.",
    )


def _say_resized(
    changed: int, total: int, sizes: Counter[tuple[int, int]], height: int, width: int
) -> tuple[TableNote, ...]:
    if not changed:
        return ()
    shapes = {round(one[0] / one[1], 3) for one in sizes}
    bent = ", also where their sides are in another ratio" if shapes != {round(width / height, 3)} else ""
    return (TableNote("", f"{changed:,} of {total:,} pictures are brought to {height} × {width}{bent}."),)


def read_picture(path: str | Path, isolated: Isolated = "auto") -> Array:
    """The pixels of one picture in the type they are stored in, upright; decoded by a child, unless "never" is said.

    Returns
    -------
    array (height, width), or (height, width, channels) with 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha) channels
        uint8; grey ones of more bits uint16, int32 or float32.
    """
    if isolated == "never":
        return decode_picture(Path(path))
    from lowdim.sources.isolated.tables import isolated_picture

    return isolated_picture(Path(path))


def decode_picture(path: Path) -> Array:
    """The same, in this process."""
    mode, _ = _read_header(path)
    with _open_picture(path) as picture:
        _refuse_reduced(path, picture)
        if mode in ("1", "P", "PA"):
            clear = mode == "PA" or "transparency" in picture.info
            picture = picture.convert("L" if mode == "1" else "RGBA" if clear else "RGB")
        elif mode not in ("L", "LA", "RGB", "RGBA", *DEEP_MODES):
            raise BadFile(f"{path}: its colours are {mode}, but grey or RGB is needed; save it so.")
        pixels: Array = np.array(ImageOps.exif_transpose(picture))
    return pixels


def _refuse_reduced(path: Path, picture: Any) -> None:
    """Pillow opens colours of 16 bits, but throws half of the bits away without a word."""
    if picture.mode not in DEEP_MODES and any(";16" in str(tile.args) for tile in picture.tile):
        raise BadFile(
            f"{path}: has 16 bits a colour, of which only 8 would be read; save it with 8 bits, or give the array "
            "that another package reads."
        )


def _read_header(path: Path) -> tuple[str, tuple[int, int]]:
    """The mode and the size (width, height) of a picture, from its first bytes."""
    with _open_picture(path) as picture:
        mode, size = picture.mode, picture.size
        try:
            picture.seek(1)
        except EOFError:
            return mode, size
    raise BadFile(f"{path}: holds several frames; save them as separate pictures.")


def _choose_mode(paths: Sequence[Path], modes: Sequence[str]) -> str:
    """The mode that all are turned into: colour if all have it, else grey; more than 8 bits only if all have them."""
    if set(modes) <= {"RGB", "RGBA"}:
        return "RGB"
    kinds = [DEEP_MODES.get(mode) for mode in modes]
    if not any(kinds):
        return "L"
    for path, kind in zip(paths, kinds, strict=True):
        if kind != kinds[0]:
            names = [np.dtype(one or np.uint8).name for one in (kind, kinds[0])]
            raise BadFile(f"{path}: has {names[0]} pixels, but {paths[0].name} has {names[1]}; save them alike.")
    return modes[0]


@contextmanager
def _open_rows(
    paths: Sequence[Path], mode: str, shape: tuple[int, ...], dtype: np.dtype[Any], resize: bool
) -> Iterator[Rows]:
    def read(start: int, stop: int) -> Array:
        rows = np.empty((stop - start, *shape), dtype=dtype)
        for row, path in zip(rows, paths[start:stop], strict=True):
            with _open_picture(path) as picture:
                ready = picture if mode in DEEP_MODES else picture.convert(mode)
                if resize and ready.size != (shape[1], shape[0]):
                    ready = ready.resize((shape[1], shape[0]), Image.Resampling.LANCZOS, reducing_gap=3.0)
                pixels = np.asarray(ready)
            if pixels.shape != shape:
                raise BadFile(f"{path}: was {shape} when it was opened and is {pixels.shape} now; it was changed.")
            row[...] = pixels
        return rows

    yield read


@contextmanager
def _open_picture(path: Path) -> Iterator[Any]:
    with refuse_unreadable(path, "picture", "save it anew as PNG"):  # decoders end in errors of every kind
        if not path.exists():
            raise BadFile(f"{path}: no such file; check the path.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # an error below
            picture = Image.open(path, formats=FORMATS)
        with picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise BadFile(
                    f"{path}: {picture.height:,} × {picture.width:,} pixels are more than the {MAX_PIXELS:,} that are "
                    "read; make it smaller first."
                )
            yield picture
