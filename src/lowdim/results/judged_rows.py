"""What a model loses of each row that it is judged by: how sure a mean over them is, and a difference of two models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Squares of m rows, and of what a model loses of each."""

    lost: Floats
    """(m,) |x − x̂|²"""
    total: Floats
    """(m,) |x|²"""
    sparseness: Floats
    """(m,) of the codes; NaN of a code of zeros."""

    @property
    def error(self) -> float:
        """|X − X̂| / |X| over all of them; 0 where both are zero."""
        lost, total = float(self.lost.sum()), float(self.total.sum())
        if total == 0:
            return 0.0 if lost == 0 else float("inf")
        return float(np.sqrt(lost / total))

    @property
    def error_se(self) -> float:
        """Standard error of `error`; NaN of a single row."""
        return _se(self._moves)

    @property
    def _moves(self) -> Floats:
        """(m,) how much each row moves the error, times m: the derivative of a ratio (delta method)."""
        if not (self.error > 0 and np.isfinite(self.error)):
            return np.zeros(len(self.lost))
        return np.asarray((self.lost - self.error**2 * self.total) / (2 * self.error * self.total.mean()))

    def apart(self, other: JudgedRows, name: str) -> tuple[float, float]:
        """How far two models' "error" or "code_sparseness" of the same rows are apart, and its standard error."""
        if name == "error":
            return self.error - other.error, _se(self._moves - other._moves)
        each = (self.sparseness - other.sparseness)[~np.isnan(self.sparseness + other.sparseness)]
        return (float(each.mean()), _se(each)) if len(each) else (0.0, float("nan"))


def _se(values: Floats) -> float:
    m = len(values)
    return float(values.std(ddof=1) / np.sqrt(m)) if m > 1 else float("nan")
