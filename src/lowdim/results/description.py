"""What the columns of a table hold, before any model: the record of one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Description:
    """Counts and ranges of n rows × p columns."""

    n_rows: int
    complete_rows: int
    """Rows of which every entry is finite."""
    columns: tuple[str, ...]
    missing: NDArray[np.int64]
    """(p,) entries that are NaN."""
    infinite: NDArray[np.int64]
    """(p,) entries that are infinite."""
    least: NDArray[np.float64]
    """(p,) smallest finite entry; NaN for a column without any."""
    most: NDArray[np.float64]
    """(p,) largest finite entry; NaN for a column without any."""

    @property
    def holes(self) -> NDArray[np.int64]:
        """(p,) entries that are not finite, whatever the reason."""
        return self.missing + self.infinite

    @property
    def complete(self) -> bool:
        """Whether every entry is finite."""
        return not self.holes.any()

    @property
    def constant(self) -> NDArray[np.bool_]:
        """(p,) whether a column has one value only, or none."""
        return ~(self.least < self.most)
