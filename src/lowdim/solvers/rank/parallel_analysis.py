"""Parallel analysis (Horn 1965): variances along components against those of the same columns without their relations.

Each column is shuffled by itself (Buja & Eyuboglu 1992), which keeps whatever it is alone: its variance, its tails. So
nothing is assumed of the noise but that it is independent between rows and columns. Strong components raise the bar
for weak ones behind them (Dobriban & Owen 2019 call it shadowing): the answer errs on the side of too few.

Flipping the sign of each entry by itself instead (Hong, Sheng & Dobriban 2020) keeps every entry's size where it is,
and so that of every row and column: noise may be as uneven as it likes, so long as it is independent and symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.solvers.rank.spectrum_rules import count_leading
from lowdim.types import Floats

QUANTILE = 0.95
"""Quantile of the shuffled variances that has to be passed."""


@dataclass(frozen=True)
class Parallel:
    """Sums of squares along leading components, and the bar that shuffled columns set."""

    values: Floats
    bars: Floats

    @property
    def count(self) -> int:
        """Leading components above the bar, up to the first that is not."""
        return count_leading(self.values > self.bars)


def shuffle_columns(Y: Floats, rng: np.random.Generator) -> Floats:
    """Each column in an order of its own."""
    return np.asarray(rng.permuted(Y, axis=0))


def flip_signs(Y: Floats, rng: np.random.Generator) -> Floats:
    """Each entry of centred rows with a sign of its own, and centred anew.

    Rows are given back first what centring took from them: with variances σ_i² of n rows their centred squares are
    σ_i² (1 − 2/n) + mean(σ²)/n on average. One very large row would else stand out by its own mark on the mean.
    """
    n = len(Y)
    squares = np.einsum("ij,ij->i", Y, Y)
    before = np.maximum(squares - squares.mean() / (n - 1), 0.0) / (1 - 2 / n)
    gain = np.sqrt(before / np.where(squares > 0, squares, 1.0))
    anew = np.where(rng.integers(0, 2, Y.shape, dtype=np.int8) == 1, Y, -Y) * gain[:, None]
    return np.asarray(anew - anew.mean(axis=0))


def parallel_analysis(
    Y: Floats,
    times: int,
    most: int,
    rng: np.random.Generator,
    anew: Callable[[Floats, np.random.Generator], Floats] = shuffle_columns,
) -> Parallel:
    """Compare centred rows (n, p) with `times` of the same without relations, in up to `most` components."""
    each = in_order(lambda own: top_squares(anew(Y, own), most), rng.spawn(times))
    without = track(each, "draw", times)
    return Parallel(top_squares(Y, most), np.asarray(np.quantile(list(without), QUANTILE, axis=0)))


def top_squares(Y: Floats, count: int) -> Floats:
    """(count,) largest squared singular values of rows (n, p), by the smaller of the two matrices of products."""
    gram = Y @ Y.T if len(Y) < Y.shape[1] else Y.T @ Y
    values = scipy.linalg.eigvalsh(gram, overwrite_a=True, check_finite=False)
    return np.asarray(np.maximum(values[::-1][:count], 0.0))
