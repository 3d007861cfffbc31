"""Which columns each part of a factorisation is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.names import column_names
from lowdim.results.nmf import NonNegativeFit
from lowdim.views.figures.leading import Leading, leading

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """Parts by their leading columns."""

    parts: tuple[Leading, ...]
    left_out: int
    """Parts for which there is no room."""
    measure: str
    """What the values are."""


def parts(fit: NonNegativeFit, most: int = 10, most_parts: int = 12) -> Parts:
    """Of each part the `most` columns of largest weight; weights that are zero are left out."""
    names = column_names(fit)
    shown = column_shares(fit.components[:most_parts])
    notes = [f"{100 * mass:.3g} % of the sum" for mass in fit.masses]
    found = tuple(leading(row, names, most, title=f"part {t + 1}", note=notes[t]) for t, row in enumerate(shown))
    return Parts(found, max(0, fit.k - most_parts), "share of the part")


def column_shares(parts: Floats) -> Floats:
    """Shares of the columns in the sum of a part (p,), or of several (k, p); 0 in a part that is empty."""
    sums = np.broadcast_to(parts.sum(axis=-1, keepdims=True), parts.shape)
    return np.asarray(np.divide(parts, sums, out=np.zeros_like(parts), where=sums > 0))
