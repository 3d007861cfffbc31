"""What one reading of the rows tells before anything is fitted: means, limits, and the likelihood of a perfect fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.observed import PIECE_BYTES, Observed, observe_block
from lowdim.matrices.preparation import dense
from lowdim.solvers.families import FAMILIES, Family
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Overview:
    """Of a set of rows."""

    observed: Observed
    least: Floats
    """(p,) smallest entry; infinite where nothing was observed."""
    most: Floats
    """(p,) largest entry."""
    saturated: float
    """Σ of the smallest A(θ) − x θ of every entry, by weight."""

    def merge(self, other: Overview) -> Overview:
        """Of both sets of rows."""
        return Overview(
            self.observed.merge(other.observed),
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.saturated + other.saturated,
        )

    def still(self) -> NDArray[np.bool_]:
        """(p,) columns that say nothing of loadings: all entries are the same, or none was observed."""
        found: NDArray[np.bool_] = ~(self.least < self.most)
        return found

    def bias(self, family: Family) -> Floats:
        """(p,) θ of the columns' means: the best model without axes. 0 where nothing was observed."""
        seen = self.observed.seen
        mean = np.where(seen > 0, self.observed.mean, 0.0 if family.least < 0 else 0.5)
        return family.link(family.inner_mean(mean, seen))

    def null_loss(self, family: Family) -> float:
        """Σ A(θ) − x θ of that model."""
        seen = self.observed
        return family.null_loss(self.bias(family), seen.mean, seen.squares, seen.seen)


def overview(source: Source, family: Family) -> Overview:
    """Read all rows once."""
    return source.reduce(partial(_overview_of_block, name=family.name), Overview.merge)


def _overview_of_block(block: Block, name: str) -> Overview:
    family = FAMILIES[name]
    n, p = block.rows.shape
    least, most, saturated = np.full(p, np.inf), np.full(p, -np.inf), 0.0
    step = max(1, PIECE_BYTES // (8 * p))
    for at in range(0, n, step):
        x = dense(block.rows[at : at + step]).astype(np.float64, copy=False)
        least = np.fmin(least, np.fmin.reduce(x, axis=0, initial=np.inf))
        most = np.fmax(most, np.fmax.reduce(x, axis=0, initial=-np.inf))
        inside = np.where(np.isnan(x), max(family.least, 0.0), np.clip(x, family.least, family.most))
        with np.errstate(over="ignore", invalid="ignore"):  # infinite entries are refused afterwards
            of_rows = np.where(np.isnan(x), 0.0, family.saturated(inside)).sum(axis=1)
        saturated += float(of_rows.sum() if block.weight is None else of_rows @ block.weight[at : at + step])
    return Overview(observe_block(block), least, most, saturated)
