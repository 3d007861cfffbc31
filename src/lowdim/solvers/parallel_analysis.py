"""Parallel analysis (Horn 1965): variances along components against those of the same columns without their relations.

Each column is shuffled by itself (Buja & Eyuboglu 1992), which keeps whatever it is alone: its variance, its tails. So
nothing is assumed of the noise but that it is independent between rows and columns. Strong components raise the bar
for weak ones behind them (Dobriban & Owen 2019 call it shadowing): the answer errs on the side of too few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.solvers.spectrum_rules import leading
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

LEVEL = 0.95
"""Quantile of the shuffled variances that has to be passed."""


@dataclass(frozen=True)
class Parallel:
    """Sums of squares along leading components, and the bar that shuffled columns set."""

    values: Floats
    bars: Floats

    @property
    def count(self) -> int:
        """Leading components above the bar, up to the first that is not."""
        return leading(self.values > self.bars)


def parallel_analysis(Y: Floats, times: int, most: int, rng: np.random.Generator) -> Parallel:
    """Compare centred rows (n, p) with `times` shuffles of their columns, in up to `most` components."""
    shuffled = in_order(lambda own: top_squares(own.permuted(Y, axis=0), most), rng.spawn(times))
    return Parallel(top_squares(Y, most), np.asarray(np.quantile(list(shuffled), LEVEL, axis=0)))


def top_squares(Y: Floats, count: int) -> Floats:
    """(count,) largest squared singular values of rows (n, p), by the smaller of the two matrices of products."""
    gram = Y @ Y.T if len(Y) < Y.shape[1] else Y.T @ Y
    values = scipy.linalg.eigvalsh(gram, overwrite_a=True, check_finite=False)
    return np.asarray(np.maximum(values[::-1][:count], 0.0))
