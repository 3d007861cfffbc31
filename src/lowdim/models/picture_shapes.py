"""Of which shape the pictures are that rows hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from lowdim.errors import BadParameter
from lowdim.sources.source import Source


def picture_shape_of(source: Source) -> tuple[int, ...] | None:
    """The shape of the pictures that a source's rows are; None where they are none that can be drawn."""
    shape = source.shape_of_rows
    if shape is None or not is_picture(shape) or math.prod(shape) != source.n_columns:
        return None  # volumes, spectra of pixels, or some columns of pictures: lists of numbers
    return tuple(shape)


def is_picture(shape: Sequence[int]) -> bool:
    """Whether this is (height, width), or the same with one or three colours."""
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def checked_shape(owner: str, shape: Any) -> tuple[int, ...]:
    """The shape of a picture, or an error that says what one is."""
    needed = "(height, width) or (height, width, 3)"
    if not isinstance(shape, (tuple, list)) or not is_picture(shape):
        raise BadParameter.of(owner, "picture_shape", shape, needed)
    if not all(isinstance(side, Integral) and int(side) >= 1 for side in shape):
        raise BadParameter.of(owner, "picture_shape", shape, needed)
    return tuple(int(side) for side in shape)


def refuse_other_size(owner: str, shape: tuple[int, ...], n_columns: int) -> None:
    """Raise an error if pictures of this shape have not as many numbers as rows have."""
    if math.prod(shape) != n_columns:
        size = " × ".join(map(str, shape))
        raise BadParameter(
            f"{owner}(picture_shape={shape}): pictures of {size} have {math.prod(shape):,} numbers, but the rows "
            f"have {n_columns:,}; give the height and the width of a row."
        )
