"""Which rows a page shows: all of them, or a sample that it names as such."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.views.report.beside import Beside
from lowdim.views.report.payload import Rows

Floats = NDArray[np.float64]

MOST_ROWS = 200_000
"""Points of a page."""

MOST_CELLS = 12_000_000
"""Values of a page: about 20 MB as text."""

SEED = 0
"""Of the sample; the same rows each time."""


def shown_rows(scores: Floats, beside: Beside) -> Rows:
    """Scores (n, k) with what is known about their rows."""
    n = len(scores)
    _check(n, beside)
    places = None if beside.held is not None else _sample(n, MOST_ROWS)
    which: NDArray[np.intp] | slice = slice(None) if places is None else places
    shown = n if places is None else len(places)
    values, held, limits, names = beside.values, beside.held, beside.limits, beside.row_names
    if values is not None and held is None:
        held = _sample(shown, max(1, MOST_CELLS // max(1, values.shape[1])))
        values = values[which] if held is None else values[which][held]
    return Rows(
        n if beside.total is None else beside.total,
        scores[which],
        None if names is None else names if places is None else tuple(names[i] for i in places),
        places if beside.places is None else beside.places[which],
        values,
        held,
        tuple(one.of(which) for one in beside.colours),
        None if limits is None else limits.of(which),
        beside.no_limits,
    )


def _sample(n: int, most: int) -> NDArray[np.intp] | None:
    """`most` of n places, in order; None if there are not more."""
    if n <= most:
        return None
    return np.sort(np.random.default_rng(SEED).choice(n, most, replace=False)).astype(np.intp)


def _check(n: int, beside: Beside) -> None:
    """An error if something does not belong to these rows."""
    parts: list[tuple[str, Sized]] = [(f"the colour column {one.title!r}", one) for one in beside.colours]
    if beside.values is not None and beside.held is None:
        parts.append(("values", beside.values))
    if beside.row_names is not None:
        parts.append(("row_names", beside.row_names))
    if beside.limits is not None:
        parts += [("limits.t2", beside.limits.t2), ("limits.q", beside.limits.q)]
    for what, part in parts:
        if len(part) != n:
            raise BadInput(f"A report of {n:,} scored rows got {len(part):,} in {what}: pass those of the same rows.")
