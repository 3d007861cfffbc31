"""What rows say of the loadings, given their codes: sums that add up over blocks, as those of probabilistic PCA do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import dense
from lowdim.solvers.logistic_codes import Coded, Decoder, codes, pair_products, rows_at_a_time
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]

Kept = Mapping[int, Floats]
"""Codes (m, k) of pieces of rows, by the number of a piece's first row."""


@dataclass(frozen=True)
class Sums:
    """Over rows, weighted by their weights."""

    rows: float
    loss: float
    """Σ A(θ) − x θ."""
    cost: float
    """The same, with the ridge of the codes."""
    moments: Floats
    """(k + 1, k + 1) Σ (z, 1) (z, 1)ᵀ."""
    slope: Floats
    """(p, k + 1) gradient of the loss by loadings and bias."""
    system: Floats
    """(p, (k + 1) (k + 2) / 2) its Hessian, a block for each column, as upper triangles."""
    codes: Kept
    """Of the rows, if they were to be kept."""

    def add(self, other: Sums) -> Sums:
        """Sums over both sets of rows, in this one's memory."""
        self.moments[:] += other.moments
        self.slope[:] += other.slope
        self.system[:] += other.system
        return replace(
            self,
            rows=self.rows + other.rows,
            loss=self.loss + other.loss,
            cost=self.cost + other.cost,
            codes={**self.codes, **other.codes},
        )


@dataclass(frozen=True)
class SumsOfBlock:
    """What is computed of each block: a function that can be sent to a worker."""

    decoder: Decoder
    start: Kept
    """Codes from which those of the rows are sought; where there are none, from 0."""
    tol: float
    most: int
    """Newton steps for each row, …"""
    most_from_zero: int
    """… and for one whose codes are sought from 0."""
    keep: bool
    """Whether to give the codes too."""
    compiled: bool

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block, a piece at a time."""
        total = None
        n, step = block.rows.shape[0], rows_at_a_time(block.rows.shape[1], len(self.decoder.V))
        for at in range(0, n, step):
            x = dense(block.rows[at : at + step]).astype(np.float64, order="C", copy=False)
            start = self.start.get(block.start + at)
            most = self.most_from_zero if start is None else self.most
            found = codes(self.decoder, x, start, self.tol, most, self.compiled)
            weight = None if block.weight is None else block.weight[at : at + step]
            part = sums_of(found, weight, {block.start + at: found.z} if self.keep else {})
            total = part if total is None else total.add(part)
        assert total is not None  # a block has a row
        return total


def sums_of(found: Coded, weight: Floats | None, kept: Kept) -> Sums:
    """Sums over rows with their codes."""
    n = len(found.z)
    longer = np.append(found.z, np.ones((n, 1)), axis=1)
    count = np.ones(n) if weight is None else weight
    times = longer if weight is None else longer * weight[:, None]
    pairs = pair_products(longer)
    if weight is not None:
        pairs *= weight[:, None].astype(np.float32)
    return Sums(
        rows=float(count.sum()),
        loss=float(count @ found.look.loss),
        cost=float(count @ found.cost),
        moments=longer.T @ times,
        slope=found.look.apart.T @ times,
        system=(found.look.weight.T @ pairs).astype(np.float64),
        codes=kept,
    )


def sums(source: Source, work: SumsOfBlock) -> Sums:
    """Over all rows of a source, in one pass."""
    return source.reduce(work, Sums.add)
