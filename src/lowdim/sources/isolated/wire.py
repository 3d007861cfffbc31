"""What a child and its parent say to each other: plain values and arrays as bytes, never pickles.

A message is a JSON text, and the bytes of the arrays in it. What JSON does not know stands as {"$": [what, …]}. The
child may be in the hands of the file that it reads, so nothing of it is trusted: of classes only those listed here are
made, and arrays have real numbers, or texts and other plain values, of the sizes that came.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lowdim import errors
from lowdim.sources.columns import Column, Selection
from lowdim.sources.tables.layout import Lines
from lowdim.types import Array

RECORDS = {kind.__name__: kind for kind in (Column, Selection, Lines, errors.Setting, errors.Words, errors.Refusal)}
"""Records that may come, of plain values."""

PLAIN = {str, float, int, bool, type(None)}
"""What JSON knows."""

NUMBERS = "fiubMm"
"""Kinds of NumPy's types whose bytes are sent."""


class Garbled(Exception):
    """A message that says nothing."""


def pack(value: Any) -> tuple[bytes, list[Array]]:
    """A value as a JSON text, and its arrays, each one-dimensional and of bytes."""
    arrays: list[Array] = []
    return json.dumps(_plain(value, arrays), separators=(",", ":")).encode(), arrays


def unpack(text: bytes, arrays: bytes | Array | None = None) -> Any:
    """The value again; `arrays` are the bytes of all of them, one after the other."""
    try:
        return _Unpacked(arrays).value(json.loads(text))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise Garbled(str(error)) from error


def _plain(value: Any, arrays: list[Array]) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return value if set(map(type, value)) <= PLAIN else [_plain(one, arrays) for one in value]
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        return {"$": ["masked", _plain(np.asarray(value.data), arrays), _plain(mask, arrays)]}
    if isinstance(value, np.ndarray):
        return {"$": _plain_array(value, arrays)}
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays)
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and "$" not in value:
            return {key: _plain(one, arrays) for key, one in value.items()}
        return {"$": ["dict", [[_plain(key, arrays), _plain(one, arrays)] for key, one in value.items()]]}
    if isinstance(value, (tuple, frozenset)):
        return {"$": ["tuple", [_plain(one, arrays) for one in value]]}
    if isinstance(value, errors.Told):
        return {"$": ["told", kind.__name__, _plain(list(value.pieces), arrays), _plain(vars(value), arrays)]}
    if is_dataclass(value):
        return {
            "$": [
                "record",
                kind.__name__,
                {one.name: _plain(getattr(value, one.name), arrays) for one in fields(value)},
            ]
        }
    if isinstance(value, datetime.timedelta):
        return {"$": ["timedelta", [value.days, value.seconds, value.microseconds]]}
    if isinstance(value, (datetime.date, datetime.time)):
        return {"$": ["datetime" if isinstance(value, datetime.datetime) else kind.__name__, value.isoformat()]}
    if isinstance(value, (bytes, bytearray)):
        return {"$": ["bytes", _plain_array(np.frombuffer(value, np.uint8), arrays)]}
    if isinstance(value, Path):
        return {"$": ["path", str(value)]}
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        from lowdim.sources.formats.arrow_columns import column_to_bytes

        return {"$": ["arrow", _plain_array(np.frombuffer(column_to_bytes(value), np.uint8), arrays)]}
    for known in (str, int, float):  # of their subclasses
        if isinstance(value, known):
            return known(value)
    return str(value)  # what a table holds beside all that is only ever shown


def _plain_array(array: Array, arrays: list[Array]) -> list[Any]:
    if array.dtype.kind == "O":
        return ["objects", list(array.shape), _plain(array.ravel().tolist(), arrays)]
    if array.dtype.kind not in NUMBERS:
        return ["texts", list(array.shape), array.ravel().astype(str).tolist()]
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    flat = (array if array.flags.forc else np.ascontiguousarray(array)).ravel(order="K")
    arrays.append(flat.view(np.uint8))
    return [
        "array",
        array.dtype.newbyteorder("=").str if array.dtype.isnative else array.dtype.str,
        list(array.shape),
        order,
    ]


class _Unpacked:
    """Values of one message. Nothing refers to itself here: a block of rows is gone with the last array."""

    def __init__(self, arrays: bytes | Array | None):
        self._bytes = np.frombuffer(b"" if arrays is None else arrays, np.uint8)
        self._place = 0

    def value(self, said: Any) -> Any:
        if type(said) is list:
            return said if set(map(type, said)) <= PLAIN else [self.value(one) for one in said]
        if type(said) is not dict:
            return said
        if "$" not in said:
            return {key: self.value(one) for key, one in said.items()}
        what, *parts = said["$"]
        return MAKERS[what](self, *parts)

    def _array(self, dtype: str, shape: Sequence[int], order: Literal["C", "F"]) -> Array:
        kind = np.dtype(dtype)
        if kind.kind not in NUMBERS or kind.subdtype is not None or min(shape, default=0) < 0:
            raise Garbled(dtype)
        size = math.prod(shape) * kind.itemsize
        found = self._bytes[self._place : self._place + size]
        self._place += size
        return found.view(kind).reshape(shape, order=order)

    def _objects(self, shape: Sequence[int], cells: list[Any]) -> Array:
        found = np.empty(len(cells), dtype=object)
        found[:] = self.value(cells)
        return found.reshape(shape)

    def _arrow(self, array: Any) -> Any:
        from lowdim.sources.formats.arrow_columns import column_from_bytes

        return column_from_bytes(self.value({"$": array}))

    def _told(self, name: str, pieces: list[Any], more: dict[str, Any]) -> errors.Told:
        kind = getattr(errors, name)
        if not issubclass(kind, errors.Told):
            raise Garbled(name)
        maker = errors.Told if issubclass(kind, MemoryError) else kind  # Python does not take that of MemoryError
        told: errors.Told = maker.__new__(kind)
        told.__dict__.update(self.value(more))
        return told._of_pieces(tuple(self.value(pieces)))


MAKERS: dict[str, Callable[..., Any]] = {
    "array": _Unpacked._array,
    "texts": lambda _, shape, cells: np.array(cells, dtype=str).reshape(shape),
    "objects": _Unpacked._objects,
    "masked": lambda unpacked, data, mask: np.ma.MaskedArray(unpacked.value(data), unpacked.value(mask)),
    "bytes": lambda unpacked, array: bytes(unpacked.value({"$": array})),
    "arrow": _Unpacked._arrow,
    "tuple": lambda unpacked, parts: tuple(unpacked.value(parts)),
    "dict": lambda unpacked, pairs: {unpacked.value(key): unpacked.value(one) for key, one in pairs},
    "path": lambda _, path: Path(path),
    "timedelta": lambda _, parts: datetime.timedelta(*parts),
    "record": lambda unpacked, name, values: RECORDS[name](**unpacked.value(values)),
    "told": _Unpacked._told,
    "datetime": lambda _, text: datetime.datetime.fromisoformat(text),
    "date": lambda _, text: datetime.date.fromisoformat(text),
    "time": lambda _, text: datetime.time.fromisoformat(text),
}
"""What stands in a message in place of a value → what makes the value again."""
