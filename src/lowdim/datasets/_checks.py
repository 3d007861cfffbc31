"""Parameters of the generators: checked, with messages that say what is needed."""

from __future__ import annotations

import operator

import numpy as np

from lowdim.errors import BadParameter

Seed = int | np.random.Generator


def numbered(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}{number}" for number in range(1, count + 1))


def whole(owner: str, name: str, given: int, least: int, most: int | None = None) -> int:
    needed = f"a whole number from {least}" + ("" if most is None else f" to {most}")
    try:
        number = operator.index(given)
    except TypeError:
        raise BadParameter.of(owner, name, given, needed) from None
    if number < least or (most is not None and number > most):
        raise BadParameter.of(owner, name, given, needed)
    return number


def number(
    owner: str,
    name: str,
    given: float,
    needed: str,
    low: float,
    high: float = np.inf,
    *,
    open_ends: bool = False,
) -> float:
    inside = low < given < high if open_ends else low <= given <= high
    if not inside or not np.isfinite(given):  # NaN is not inside either
        raise BadParameter.of(owner, name, given, needed)
    return float(given)
