"""Rows by how far they are from the centre within the components, and from the components."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OutlierMap:
    """T² and Q of rows, and their limits."""

    t2: Floats
    """(n,)"""
    q: Floats
    """(n,)"""
    t2_limit: float
    q_limit: float
    level: float = 0.95
    names: tuple[str, ...] | None = None
    """Of the rows; None: elsewhere."""

    def of(self, rows: NDArray[np.intp] | slice) -> OutlierMap:
        """The same for some rows, without names."""
        return replace(self, t2=self.t2[rows], q=self.q[rows], names=None)

    @property
    def beyond(self) -> NDArray[np.int64]:
        """Places of rows beyond a limit, the farthest, in units of the limits, first."""
        far = np.maximum(_over(self.t2, self.t2_limit), _over(self.q, self.q_limit))
        order = np.argsort(-far, kind="stable")
        return np.asarray(order[far[order] > 1], dtype=np.int64)


def _over(values: Floats, limit: float) -> Floats:
    """Values over their limit; where that is 0, nothing was left out, and nothing is beyond it but rounding."""
    return values / limit if limit > 0 else np.zeros_like(values)
