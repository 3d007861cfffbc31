"""What a report says beside the fit itself: the rows, what to colour them by, how many components rules advise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.results.k_choice import KChoice
from lowdim.views.figures.groups import Groups, Painted, Shades, colour_of
from lowdim.views.figures.outliers import OutlierMap

if TYPE_CHECKING:
    from lowdim.views.report.payload import Section

Floats = NDArray[np.float64]

RowColour = Groups | Shades
"""What a column says of rows: their group, or a number."""

COLOURS = 7
"""Groups that can be told apart by their colours; further ones are grey."""


def colour_column(name: str, values: Any) -> RowColour:
    """A column that rows can be coloured by: numbers, or names of groups, as `colour_of` tells them apart.

    >>> colour_column("kind", ["b", "a", "b"]).names
    ('a', 'b')
    >>> colour_column("length", [1.5, 2.0, 2.5]).values
    array([1.5, 2. , 2.5])
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise BadInput(f"The colour column {name!r} has shape {given.shape}, but one value for each row is needed.")
    if given.dtype.kind not in "iufb":
        given = np.array([None if isinstance(one, str) and not one else one for one in given.tolist()], dtype=object)
    found = colour_of(given, len(given), name, most=None)
    assert not isinstance(found, Painted)
    return _largest_first(found) if isinstance(found, Groups) and len(found.names) > COLOURS else found


def _largest_first(found: Groups) -> Groups:
    """Of many groups only the first get a colour of their own."""
    order = np.argsort(-np.bincount(found.codes[found.codes >= 0], minlength=len(found.names)), kind="stable")
    place = np.argsort(order)
    codes = np.where(found.codes >= 0, place[found.codes], -1)
    return replace(found, names=tuple(found.names[j] for j in order), codes=codes)


@dataclass(frozen=True, eq=False)
class Beside:
    """What a report says beside the fit."""

    title: str
    values: NDArray[Any] | None = None
    """(n, p) the rows as they came, or those at `held`; NaN where a value is missing."""
    held: NDArray[np.intp] | None = None
    """(h,) places among the n scored rows of those whose values are here; None: all."""
    total: int | None = None
    """Rows of the data, where those scored are a sample of them …"""
    places: NDArray[np.intp] | None = None
    """… and (n,) their places; None: they are all."""
    row_names: tuple[str, ...] | None = None
    colours: tuple[RowColour, ...] = ()
    choice: KChoice | None = None
    """What rules say about the number of components."""
    limits: OutlierMap | None = None
    """Distances of the rows, and where they become unusual."""
    no_limits: str = ""
    """Why there are no limits, in a sentence; empty where the model has no such thing."""
    picture: tuple[int, ...] | None = None
    """(height, width) or (height, width, 3), if each row is a picture."""
    python: str = ""
    """The lines that make the report again."""
    cli: str = ""
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    """What only this kind of model has to show."""

    def column_means(self, p: int) -> Floats:
        """(p,) of the values that are here; zeros without any."""
        if self.values is None:
            return np.zeros(p)
        known = np.isfinite(self.values)
        counts = known.sum(axis=0)
        return np.asarray(np.where(known, self.values, 0.0).sum(axis=0) / np.maximum(counts, 1))
