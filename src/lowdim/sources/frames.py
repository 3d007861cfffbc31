"""Data frames of any kind, through narwhals: names in, blocks of numbers out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, final

import narwhals as nw
import numpy as np

from lowdim.errors import NotNumeric, WrongColumns
from lowdim.sources.arrays import ArraySource, SparseSource, as_numbers
from lowdim.sources.columns import NUMERIC, Column, Kind
from lowdim.sources.source import Block, ConvertibleSource, Source
from lowdim.sources.tables.changed import MemoryReader
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array, Floats

MAY_HOLD_NUMBERS = (nw.Object, nw.String, nw.Categorical, nw.Enum, nw.Unknown)
"""Types of columns that may hold numbers nevertheless; dates, durations and nested ones hold none."""


def as_frame(data: object) -> nw.DataFrame[Any] | None:
    """Give the data as a narwhals frame, or None if they are no frame; an error if its columns share names."""
    try:
        frame = nw.from_native(data, pass_through=True)
        if frame is data and hasattr(data, "num_columns"):  # a record batch of Arrow's
            frame = nw.from_arrow(frame, backend="pyarrow")
    except nw.exceptions.DuplicateError:
        raise WrongColumns.repeated(_count_repeated(_names(data))) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def refuse_repeated(names: Iterable[Any]) -> None:
    """Raise an error if columns share names, which are compared as texts: 1 and "1" are one name."""
    repeated = _count_repeated(names)
    if repeated:
        raise WrongColumns.repeated(repeated)


def are_texts(names: Iterable[Any]) -> bool:
    """Whether all names of columns are texts, as scikit-learn wants names to be."""
    return all(isinstance(name, str) for name in names)


def frame_source(frame: nw.DataFrame[Any]) -> Source:
    """Rows of a frame of numbers; without a copy where its columns already lie in one array."""
    refuse_repeated(frame.columns)
    source = _open_frame(frame, tuple(map(str, frame.columns)))
    source.numbered = not are_texts(frame.columns)
    return source


def _open_frame(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> Source:
    disguised = [name for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == nw.Boolean)]
    if disguised:
        stored = _find_sparse_matrix(frame)
        if stored is not None:
            return SparseSource(stored, names, name="the frame")
        return ArraySource(_all_numbers(frame, set(disguised)), names, name="the frame")
    array = _find_shared_array(frame)
    return FrameSource(frame) if array is None else ArraySource(array, names, name="the frame")


def to_array(source: Source) -> Array:
    """All rows of a frame's source as one array."""
    if isinstance(source, ArraySource):
        return source.array
    if isinstance(source, SparseSource):
        return np.asarray(source.matrix.toarray())
    assert isinstance(source, FrameSource)
    return source.to_array()


def read_frame(frame: nw.DataFrame[Any]) -> TableReader:
    """The frame as a table, of which columns and rows can be chosen as of a file's."""
    refuse_repeated(frame.columns)
    columns, values = [], {}
    for name, dtype in frame.schema.items():
        column = frame[name]
        kind = _kind_of(dtype)
        columns.append(Column(str(name), kind, dtype == nw.Float32))
        numeric = kind in NUMERIC
        values[str(name)] = _to_numbers(column) if numeric else np.asarray(column.to_list(), dtype=object)
    return MemoryReader("the frame", columns, values)


def _kind_of(dtype: Any) -> Kind:
    """What a column of a frame holds."""
    if dtype == nw.Boolean:
        return "flag"
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "time"
    return "text" if dtype in MAY_HOLD_NUMBERS else "other"


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

    def to_array(self) -> Array:
        """All rows as one array: a copy."""
        return self._numbers(self._frame)

    def describe(self) -> str:
        """Say the shape."""
        return f"the frame of {self.n_rows:,} rows × {self.n_columns:,} columns"

    def _numbers(self, rows: nw.DataFrame[Any]) -> Array:
        array = np.empty(rows.shape, dtype=self.dtype)
        for j, name in enumerate(rows.columns):
            array[:, j] = _to_numbers(rows[name])
        return array


def _to_numbers(column: nw.Series[Any]) -> Array:
    """(n,) numbers of a column of numbers or flags."""
    if column.dtype == nw.Boolean or column.dtype.is_decimal():
        column = column.cast(nw.Float64)
    return column.to_numpy()


def _all_numbers(frame: nw.DataFrame[Any], disguised: set[Any]) -> Floats:
    """All rows, where some columns hold numbers as objects, texts, categories or sparsely; an error names others."""
    array, others = np.empty(frame.shape), {}
    for j, (name, dtype) in enumerate(frame.schema.items()):
        try:
            refused = name in disguised and not isinstance(dtype, MAY_HOLD_NUMBERS)
            array[:, j] = np.nan if refused else as_numbers(_entries(frame[name], name in disguised))
        except NotNumeric:
            refused = True
        if refused:
            others[str(name)] = str(dtype)
    if others:
        raise NotNumeric.columns(others)
    return array


def _entries(column: nw.Series[Any], disguised: bool) -> Array:
    return np.asarray(column.to_numpy()) if disguised else _to_numbers(column)


def _find_sparse_matrix(frame: nw.DataFrame[Any]) -> Any:
    """The sparse matrix behind a pandas frame that stores all its columns sparsely, zeros apart; None for others."""
    native = nw.to_native(frame)
    if not frame.implementation.is_pandas():
        return None
    sparse = [hasattr(dtype, "fill_value") and dtype.fill_value == 0 for dtype in native.dtypes]
    return native.sparse.to_coo().tocsr() if all(sparse) else None


def _count_repeated(names: Iterable[Any]) -> dict[str, int]:
    """Names that stand more than once, and how often."""
    return {name: count for name, count in Counter(map(str, names)).items() if count > 1}


def _names(data: Any) -> list[Any]:
    """Column names of a frame that narwhals does not take: Arrow's `columns` are the columns themselves."""
    return list(data.column_names if hasattr(data, "column_names") else data.columns)


def _find_shared_array(frame: nw.DataFrame[Any]) -> Array | None:
    """The array behind a pandas frame of one NumPy type, if pandas can show it without a copy."""
    native = nw.to_native(frame)
    if not frame.implementation.is_pandas() or frame.shape[1] == 0:
        return None
    array = native.to_numpy()
    shared = array.dtype.kind in "fiub" and np.shares_memory(array, native.iloc[:, 0].to_numpy())
    return array if shared else None
