"""Checking facts and arrays of a model file: exactly the names that are expected, each of the expected kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError

Check = Callable[[Any], bool]

MOST = 2**62
"""Counts beyond this are no counts."""


def facts(given: Any, what: str, kinds: Mapping[str, Check]) -> dict[str, Any]:
    """The same facts, if they are those named by `kinds` and each passes its check."""
    if not isinstance(given, dict) or set(given) != set(kinds):
        raise FormatError(f"The {what} of the model file has other entries than it must have.")
    for name, check in kinds.items():
        if not check(given[name]):
            raise FormatError(f"The {what} of the model file has no valid {name!r}.")
    return given


def array(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], dtype: type = np.float64
) -> NDArray[Any]:
    """The array of that name, if it has that shape and type and every number is finite: a copy of its own."""
    found = arrays.get(name)
    if found is None or found.shape != shape or found.dtype != dtype:
        raise FormatError(f"The model file has no array {name!r} of shape {shape}.")
    if not np.isfinite(found).all():
        raise FormatError(f"Array {name!r} of the model file holds numbers that are not finite.")
    return found.copy()


def text(value: Any) -> bool:
    """Any text."""
    return isinstance(value, str)


def flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def whole(value: Any) -> bool:
    """A count."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def number(value: Any) -> bool:
    """A real number; the reader has refused those that are not finite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e308


def mapping(value: Any) -> bool:
    """Facts that are checked by themselves."""
    return isinstance(value, dict)


def optional(check: Check) -> Check:
    """That, or nothing."""
    return lambda value: value is None or check(value)


def each(check: Check) -> Check:
    """A list of such values."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def pair(check: Check) -> Check:
    """Two such values."""
    return lambda value: isinstance(value, list) and len(value) == 2 and all(map(check, value))


def one_of(*allowed: Any) -> Check:
    """One of these."""
    return lambda value: any(value == other and type(value) is type(other) for other in allowed)
