"""What the colour of points says: their group, or a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, WrongShape
from lowdim.types import Floats

MOST_WHOLE_NUMBERS = 12
"""Whole numbers with at most so many different values are names of groups."""

MOST_GROUPS = 24
"""Groups that are told apart; the smallest of more are one."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Points that belong together."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]
    """(n,) places in `names`; −1 where nothing is known."""
    title: str | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def of(self, places: NDArray[np.intp] | slice) -> Groups:
        """The same for some points, as often as they are named."""
        return replace(self, codes=self.codes[places])

    def rows(self, code: int) -> NDArray[np.int64]:
        """Places of the points of a group."""
        return np.flatnonzero(self.codes == code)


@dataclass(frozen=True, eq=False)
class Shades:
    """Points with a number each."""

    values: Floats
    """(n,) NaN where nothing is known."""
    title: str | None = None
    dates: bool = False
    """Whether the numbers are days since 1970."""

    def __len__(self) -> int:
        return len(self.values)

    def of(self, places: NDArray[np.intp] | slice) -> Shades:
        """The same for some points, as often as they are named."""
        return replace(self, values=self.values[places])


@dataclass(frozen=True, eq=False)
class Painted:
    """Points with colours of their own."""

    rgb: Floats
    """(n, 3) or (n, 4), from 0 to 1."""

    def of(self, places: NDArray[np.intp] | slice) -> Painted:
        """The same for some points, as often as they are named."""
        return replace(self, rgb=self.rgb[places])


Colour = Groups | Shades | Painted


def colour_of(values: Any, n: int, title: str | None = None, most: int | None = MOST_GROUPS) -> Colour:
    """What n values say: texts and flags are groups, and so are whole numbers and dates if there are few.

    An array (n, 3) or (n, 4) of numbers from 0 to 1 has the colours themselves. Of more groups than `most` the smallest
    are joined.
    """
    given = _as_dates(np.asarray(values))
    if given.shape[:1] != (n,):
        raise WrongShape(
            f"color has {len(given) if given.ndim else 1:,} values, but there are {n:,} rows: one for each."
        )
    if given.ndim == 2 and given.shape[1] in (3, 4) and given.dtype.kind == "f":
        if not ((given >= 0) & (given <= 1)).all():
            raise BadParameter("color has colours as rows of numbers, which must lie between 0 and 1.")
        return Painted(given)
    if given.ndim != 1:
        raise WrongShape(f"color has shape {given.shape}, but one value for each of {n:,} rows is needed.")
    if given.dtype.kind == "M":
        return _days(given, title, most)
    if given.dtype.kind in "iuf":
        numbers = given.astype(np.float64)
        known = numbers[np.isfinite(numbers)]
        whole = bool(len(known)) and bool((known == np.round(known)).all())
        if not whole or len(np.unique(known)) > MOST_WHOLE_NUMBERS:
            return Shades(np.where(np.isfinite(numbers), numbers, np.nan), title)
        return _groups([None if np.isnan(one) else int(one) for one in numbers], title, most)
    return _groups(given.tolist(), title, most)


def _as_dates(given: NDArray[Any]) -> NDArray[Any]:
    """Python's dates as numpy's; all else as it is."""
    known = [one for one in given.ravel() if one is not None and one == one] if given.dtype.kind == "O" else []
    if not known or not all(isinstance(one, date) and getattr(one, "tzinfo", None) is None for one in known):
        return given
    return np.array([one if isinstance(one, date) and one == one else "NaT" for one in given], dtype="datetime64[us]")


def _days(times: NDArray[Any], title: str | None, most: int | None) -> Colour:
    """Dates are numbers, and groups where they are few."""
    known = ~np.isnat(times)
    if len(np.unique(times[known])) > MOST_WHOLE_NUMBERS:
        days = times.astype("datetime64[us]").astype(np.float64) / 86_400e6
        return Shades(np.where(known, days, np.nan), title, dates=True)
    midnight = bool((times[known] == times[known].astype("datetime64[D]")).all())
    words = np.datetime_as_string(times, unit="D" if midnight else "s")
    return _groups([word if there else None for word, there in zip(words.tolist(), known, strict=True)], title, most)


def _groups(values: list[Any], title: str | None, most: int | None) -> Groups:
    """Groups in the order of their names, or of their numbers; those that are too many are joined, smallest first."""
    missing = [value is None or value != value for value in values]
    distinct = list(dict.fromkeys(value for value, gone in zip(values, missing, strict=True) if not gone))
    distinct.sort(key=lambda one: (0, float(one), "") if isinstance(one, (int, float)) else (1, 0.0, str(one)))
    code = {value: i for i, value in enumerate(distinct)}
    codes = np.array([-1 if gone else code[value] for value, gone in zip(values, missing, strict=True)], dtype=np.int64)
    names = [str(value) for value in distinct]
    if most is None or len(names) <= most:
        return Groups(tuple(names), codes, title)
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    large = np.sort(np.argsort(-sizes, kind="stable")[: most - 1])
    new = np.full(len(names), most - 1)
    new[large] = np.arange(most - 1)
    joined = f"{len(names) - most + 1:,} others"
    return Groups((*(names[j] for j in large), joined), np.where(codes >= 0, new[codes], -1), title)
