"""What holds of every honest record: marks for its fields, and sentences for what no fit can have found.

The codec checks types, shapes and that numbers are finite; these say what the numbers mean. Where something can be
computed again from what the record holds, it is, and what the record says may differ by rounding alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from lowdim.errors import FormatError
from lowdim.results.fields import Holds
from lowdim.types import EPS, Array, Floats

ROUNDED = 1e-9
"""Share by which a number of a file may differ from the same number computed again: sums of up to 10⁶ numbers in
another order differ by 10⁶ × 2⁻⁵³ = 1e-10 of the sum of their sizes, and no forgery that matters is smaller."""

SQUARE = 1e-4
"""Largest entry of V Vᵀ − I of axes that are orthonormal: what float32 leaves of them, 1e-7 for each entry, times the
root of 10⁶ columns. The certificate says how orthonormal they are; that is compared too."""


MOST = 1e154
"""Sums of squares of larger numbers leave the range."""

LEAST = 1e-290
"""Sums of squares below this have lost digits to the end of the range."""


def _is_triangle(values: Array) -> bool:
    size = values.diagonal()
    used = bool(len(size) == 0 or size.min() > EPS**2 * size.max())
    return used and bool((np.triu(values, 1) == 0).all())


def _is_covariance(values: Array) -> bool:
    if not values.size:
        return True
    size = float(np.abs(values).max())
    if size == 0:
        return True
    scaled = np.asarray(values, dtype=np.float64) / size
    even = float(np.abs(scaled - scaled.T).max()) <= 1e-6  # of float32 networks: 10 roundings
    return even and float(np.linalg.eigvalsh((scaled + scaled.T) / 2)[0]) >= -1e-6


Squarable: Holds = Holds("numbers whose squares are numbers", lambda values: (values <= MOST) & (values >= -MOST))
Weight: Holds = Holds("0, or above 1e-290", lambda weight: (weight == 0) | (weight > LEAST))
Falling: Holds = Holds("ordered, the largest first", lambda values: np.diff(values) <= ROUNDED * values[:-1])
Angle: Holds = Holds("angles from 0 to 90 degrees", lambda values: (values >= 0) & (values <= np.pi / 2 + ROUNDED))
AddUpToOne: Holds = Holds("shares that add up to one", lambda values: abs(values.sum() - 1) <= ROUNDED)
Shares: Holds = Holds("shares from 0 to 1", lambda ends: all(-ROUNDED <= end <= 1 + ROUNDED for end in ends))
Triangle: Holds = Holds("a lower triangle with an inverse", _is_triangle)
Covariance: Holds = Holds("a covariance, which no direction has less than nothing of", _is_covariance)
Distinct: Holds = Holds("all different", lambda texts: len(set(texts)) == len(texts))
Rising: Holds = Holds("ordered, each once", lambda numbers: all(a < b for a, b in itertools.pairwise(numbers)))
Invertible: Holds = Holds("above 0, with an inverse", lambda values: values >= np.finfo(float).tiny)
"""Not so small that one over it is beyond all numbers."""


Untold: Holds = Holds("numbers", lambda values: True)
"""Whatever they are: a history, or what is only compared."""


def refuse(wrong: object, words: str) -> None:
    """Raise an error if something is wrong with a record that was read."""
    if wrong:
        raise FormatError(f"The model file says {words}, which no fit can have.")


def agree(one: Floats | float, other: Floats | float, slack: Floats | float = 0.0) -> bool:
    """Whether numbers are the same but for rounding, or for so much."""
    size = np.maximum(np.abs(one), np.abs(other))
    near = np.abs(np.subtract(one, other)) <= ROUNDED * size + slack
    return bool((near & np.isfinite(size)).all())


def orthogonality(axes: Floats) -> float:
    """Largest entry of |V Vᵀ − I| of axes (k, p)."""
    off = np.abs(axes @ axes.T - np.eye(len(axes)))
    return float(np.nan_to_num(off, nan=np.inf).max(initial=0.0))


def refuse_skew(axes: Floats, what: str = "axes") -> None:
    """Raise an error for axes (k, p) that are not orthonormal."""
    refuse(orthogonality(axes) > SQUARE, f"that {what} are at right angles and of length one, and they are not")


def refuse_worse(left: float, of: float) -> None:
    """Raise an error for a loss whose ratio to that of no model at all is no number."""
    refuse(of > 0 and left > of * min(1e300, 1e307 / of), f"a loss of {left:.6g}, beyond all measure of {of:.6g}")


def is_run(numbers: Iterable[int]) -> bool:
    """Whether these are neighbours, in order."""
    listed = list(numbers)
    return bool(listed) and listed == list(range(listed[0], listed[0] + len(listed)))
