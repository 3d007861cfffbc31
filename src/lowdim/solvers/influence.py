"""What one row changes: standard errors that assume no law, with the degrees of freedom that they have.

A statistic of exchangeable rows moves by I(row) / n if a row counts a little more; the mean square of these influences
over n is its variance (Jaeckel 1972, the infinitesimal jackknife; Efron 1982, "The jackknife, the bootstrap and other
resampling plans", §6: what the bootstrap's variance tends to). A variance made of a few large squares is itself unsure:
it has about ν = 2 (Σ I²)² / (Σ I⁴ − (Σ I²)² / n) degrees of freedom (Satterthwaite 1946), so intervals reach as far as
Student's t with ν does. Of normal rows ν is about n/7 for a variance; of long tails fewer, and intervals wider.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]

MOST = 100.0


@dataclass(frozen=True)
class Errors:
    """Standard errors, and their degrees of freedom."""

    standard_error: Floats
    freedom: Floats

    def reach(self, level: float) -> Floats:
        """Half the width of intervals; at most what an exponential can take."""
        return np.asarray(np.minimum(stdtrit(self.freedom, 0.5 + level / 2) * self.standard_error, MOST))


def errors_of(influences: Floats, times: Floats, freedom: float, more: Floats | float = 0.0) -> Errors:
    """Of statistics (m,) whose influences (n, m) stand `times` (n,) each; `more` is variance that they do not show."""
    n = float(times.sum())
    squares = times @ influences**2
    fourths = times @ influences**4
    variance = squares / (n * freedom)
    tiny = np.finfo(float).tiny
    own = 2 / np.maximum(fourths / np.maximum(squares**2, tiny) - 1 / n, 2 / n)
    whole = variance + more
    # what is added is known exactly: variances add, and so do squares over degrees of freedom
    share = np.divide(whole, variance, out=np.ones_like(whole), where=variance > 0)
    return Errors(np.sqrt(whole), np.minimum(own * share**2, 1e9))
