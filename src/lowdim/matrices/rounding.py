"""What rounding errors in the entries of a symmetric matrix do to its eigenvalues and axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rounding:
    """Probable errors that no residual can show, because the matrix itself carries them."""

    value: float
    """Of an eigenvalue."""
    vector: float
    """Length of the error in the product with a unit vector."""

    @classmethod
    def of_entries(cls, relative: float, diagonal: NDArray[np.float64]) -> Rounding:
        """For independent errors E_ij of size relative · s_i s_j, where s² is the diagonal.

        vᵀ E v is then about relative · Σ v_i² s_i² ≤ relative · max(s²), and ‖E v‖ ≤ relative · max(s) ‖s‖.
        Factors 4 and 2 leave room for chance.
        """
        largest = float(diagonal.max(initial=0.0))
        total = float(diagonal.sum())
        return cls(4 * relative * largest, 2 * relative * float(np.sqrt(largest * total)))
