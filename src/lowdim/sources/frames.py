"""Data frames of any kind, through narwhals: names in, blocks of numbers out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lowdim.errors import NotNumeric, WrongColumns
from lowdim.sources.memory import ArraySource
from lowdim.sources.source import Block, ConvertibleSource, Source


def as_frame(data: object) -> nw.DataFrame[Any] | None:
    """Give the data as a narwhals frame, or None if they are no frame; an error if its columns share names."""
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise WrongColumns.repeated(_repeated(_names(data))) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def refuse_repeated(names: Iterable[Any]) -> None:
    """Raise an error if columns share names, which are compared as texts: 1 and "1" are one name."""
    repeated = _repeated(names)
    if repeated:
        raise WrongColumns.repeated(repeated)


def frame_source(frame: nw.DataFrame[Any]) -> Source:
    """Rows of a frame of numbers; without a copy where its columns already lie in one array."""
    names = [str(name) for name in frame.columns]
    refuse_repeated(names)
    _refuse_text(frame)
    array = _one_array(frame)
    if array is not None:
        return ArraySource(array, tuple(names), name="the frame")
    return FrameSource(frame)


@final
class FrameSource(ConvertibleSource):
    """A frame whose columns are separate arrays; each block is put together when it is read."""

    repeatable = True
    title = "the frame"

    def __init__(self, frame: nw.DataFrame[Any]):
        self._frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.columns = tuple(str(name) for name in frame.columns)
        single = all(dtype == nw.Float32 for dtype in frame.schema.values())
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give consecutive rows as arrays."""
        step = self.rows_per_block(least_rows)
        for start in range(0, len(self._frame), step):
            yield Block(start, self._numbers(self._frame[start : start + step]))

    def to_array(self) -> NDArray[Any]:
        """All rows as one array: a copy."""
        return self._numbers(self._frame)

    def describe(self) -> str:
        """Say the shape."""
        return f"the frame of {self.n_rows:,} rows × {self.n_columns:,} columns"

    def _numbers(self, rows: nw.DataFrame[Any]) -> NDArray[Any]:
        array = np.empty(rows.shape, dtype=self.dtype)
        for j, name in enumerate(rows.columns):
            column = rows[name]
            if column.dtype == nw.Boolean or column.dtype.is_decimal():
                column = column.cast(nw.Float64)
            array[:, j] = column.to_numpy()
        return array


def _repeated(names: Iterable[Any]) -> dict[str, int]:
    """Names that stand more than once, and how often."""
    return {name: count for name, count in Counter(map(str, names)).items() if count > 1}


def _names(data: Any) -> list[Any]:
    """Column names of a frame that narwhals does not take: Arrow's `columns` are the columns themselves."""
    return list(data.column_names if hasattr(data, "column_names") else data.columns)


def _refuse_text(frame: nw.DataFrame[Any]) -> None:
    kinds = {
        str(name): str(dtype) for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == nw.Boolean)
    }
    if kinds:
        raise NotNumeric.columns(kinds)


def _one_array(frame: nw.DataFrame[Any]) -> NDArray[Any] | None:
    """The array behind a pandas frame of one NumPy type, if pandas can show it without a copy."""
    native = nw.to_native(frame)
    if not frame.implementation.is_pandas() or frame.shape[1] == 0:
        return None
    array = native.to_numpy()
    shared = array.dtype.kind in "fiub" and np.shares_memory(array, native.iloc[:, 0].to_numpy())
    return array if shared else None
