"""What holds of arrays only as long as they are what they were: a certificate of changed components is none.

Arrays of a record are handed out as they are, so that whoever flips a sign in place changes what `transform` uses, as
with scikit-learn. The record notices by checksums, which are compared when what depends on the arrays is asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value")


class Held(Generic[Value]):
    """A field of a frozen dataclass that holds while some of its arrays, which come before it, are unchanged.

    `withdrawn(record, value, changed)` says what stands in its place once arrays of these names have changed.
    """

    def __init__(self, *arrays: str, withdrawn: Callable[[Any, Value, tuple[str, ...]], Value]):
        self.arrays = arrays
        self._withdrawn = withdrawn

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type) -> Held[Value]: ...

    @overload
    def __get__(self, record: object, owner: type) -> Value: ...

    def __get__(self, record: object | None, owner: type) -> Held[Value] | Value:
        if record is None:
            raise AttributeError(self._name)  # the dataclass asks for a default, and there is none
        changed = self.changed(record)
        value = self.given(record)
        return self._withdrawn(record, value, changed) if changed else value

    def __set__(self, record: object, value: Value) -> None:
        vars(record)[self._name] = value, {name: checksum(getattr(record, name)) for name in self.arrays}

    def given(self, record: object) -> Value:
        """What was given, whether it still holds or not."""
        value: Value = vars(record)[self._name][0]
        return value

    def changed(self, record: object) -> tuple[str, ...]:
        """Names of the arrays that are not what they were."""
        sums = vars(record)[self._name][1]
        return tuple(name for name in self.arrays if checksum(getattr(record, name)) != sums[name])


def checksum(array: NDArray[Any]) -> int:
    """A number that hardly any change leaves as it is: 3 GB of numbers a second."""
    by_rows = array if array.flags.c_contiguous else array.T
    return zlib.crc32(np.ascontiguousarray(by_rows).data)


def said_of(attributes: tuple[str, ...], done: str) -> str:
    """A sentence about attributes that somebody changed or assigned after the fit."""
    names = " and ".join(attributes)
    were = "was" if len(attributes) == 1 else "were"
    return f"since the fit {names} {were} {done}, so nothing is certified: fit again for that"
