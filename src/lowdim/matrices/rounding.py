"""What rounding errors in the entries of a symmetric matrix do to its eigenvalues and axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.types import EPS, Floats

UNIT_ROUNDOFF = EPS / 2


@dataclass(frozen=True)
class Rounding:
    """Errors that no residual can show, because the matrix itself carries them."""

    value: float
    """Probable error of an eigenvalue, if errors of entries are independent of each other."""
    vector: float
    """Probable length of the error in the product with a unit vector, likewise."""
    entries: Floats | None = None
    """(p,) e with |E_ij| ≤ √(e_i e_j), whatever the data: what bounds are made of. None: the errors above are all."""
    relative: float = 0.0
    """Relative error of every entry beside that: of what the columns were divided by."""

    @classmethod
    def of_entries(cls, relative: float, diagonal: Floats) -> Rounding:
        """For independent errors E_ij of size relative · s_i s_j, where s² is the diagonal.

        vᵀ E v is then about relative · Σ v_i² s_i² ≤ relative · max(s²), and ‖E v‖ ≤ relative · max(s) ‖s‖.
        Factors 4 and 2 leave room for chance.
        """
        largest = float(diagonal.max(initial=0.0))
        total = float(diagonal.sum())
        return cls(probable_error(relative, largest), 2 * relative * float(np.sqrt(largest * total)))

    @classmethod
    def within(cls, entries: Floats, diagonal: Floats, relative: float = 0.0) -> Rounding:
        """For errors that are bounded, |E_ij| ≤ √(e_i e_j), in a matrix with this diagonal."""
        probable = cls.of_entries(USUAL_ERROR, diagonal)
        return cls(probable.value, probable.vector, entries, relative)

    @property
    def norm(self) -> float:
        """Bound on ‖E‖, and by Weyl's theorem on the error of every eigenvalue."""
        return self.vector if self.entries is None else float(self.entries.sum())

    def of_values(self, V: Floats, values: Floats) -> Floats:
        """(k,) bound on |vᵀ E v| for unit vectors in the rows of V, (k, p), with eigenvalues (k,)."""
        if self.entries is None:
            return np.full(len(V), self.value)
        bound: Floats = (np.abs(V) @ np.sqrt(self.entries)) ** 2 + self.relative * values
        return bound

    def of_products(self, V: Floats, values: Floats) -> Floats:
        """(k,) bound on ‖E v‖ for the same vectors."""
        if self.entries is None:
            return np.full(len(V), self.vector)
        root = np.sqrt(self.entries)
        bound: Floats = (np.abs(V) @ root) * float(np.linalg.norm(root))
        return bound + self.relative * float(np.max(values, initial=0.0))


def probable_error(relative: float, largest: float) -> float:
    """Of an eigenvalue, if entries of the matrix err by this share of at most the largest of its diagonal."""
    return 4 * relative * largest


USUAL_ERROR = 8 * EPS
"""Relative error of a sum of products as it usually comes out, of a few hundred rows or of a million."""
