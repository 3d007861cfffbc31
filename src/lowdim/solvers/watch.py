"""A witness of what an iteration from a known start may have missed.

A block Krylov space holds nothing of an axis that its start block is orthogonal to. Random starts are so with
probability zero, but a start from a fixed seed is known to whoever makes the data. So one more vector, drawn anew in
every run and used for nothing else, is multiplied along with each block. What its own Krylov space shows outside of
the components found is a lower bound on the largest eigenvalue left out: above the last one kept, the search was
misled.

How much it can show: after q products, an eigenvalue λ that was missed shows as at least λ (1 − ε) but for a chance of
1.65 √p exp(−√ε (2q − 1)) (Kuczyński & Woźniakowski 1992).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST = 64
"""Products that the witness takes part in at most; its space is then as telling as any."""

EXHAUSTED = 1e-8
"""A new direction this much shorter than the product it came from: the space is complete."""


class Watch:
    """The Krylov space of one vector that nobody can foretell."""

    def __init__(self, n_columns: int):
        start = np.random.default_rng().standard_normal(n_columns)  # of the system's entropy: no seed
        self._rows = [start / np.linalg.norm(start)]
        self._products: list[Floats] = []

    @property
    def vector(self) -> Floats | None:
        """(1, p) what to multiply next; None: no more."""
        return self._rows[-1][None] if len(self._rows) > len(self._products) else None

    def take(self, product: Floats) -> None:
        """Accept the product (p,) of the last vector, and make the next one of it."""
        self._products.append(product)
        basis = np.array(self._rows)
        new = product - (product @ basis.T) @ basis
        new -= (new @ basis.T) @ basis
        length = float(np.linalg.norm(new))
        if len(self._rows) < min(MOST, len(new)) and length > EXHAUSTED * float(np.linalg.norm(product)):
            self._rows.append(new / length)

    def largest_outside(self, V: Floats, products: Floats) -> float:
        """The largest eigenvalue that the space shows outside the rows of V, (k, p), whose products are given too."""
        if not self._products:
            return 0.0
        rows, own = np.array(self._rows[: len(self._products)]), np.array(self._products)
        inside = rows @ V.T
        rows, own = rows - inside @ V, own - inside @ products
        sizes, axes = np.linalg.eigh(rows @ rows.T)
        good = sizes > 1e-8 * max(float(sizes[-1]), 1.0)  # directions of which V holds nearly all show only rounding
        if not good.any():
            return 0.0
        turn = (axes[:, good] / np.sqrt(sizes[good])).T
        small = turn @ (rows @ own.T) @ turn.T
        return float(scipy.linalg.eigvalsh((small + small.T) / 2)[-1])
