"""Row weights: a source whose blocks carry them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.errors import BadInput
from lowdim.sources.source import Block, Source


@final
class WeightedSource(Source):
    """Another source with one weight per row. Rows of weight zero are left out, whatever they hold."""

    def __init__(self, source: Source, weight: NDArray[np.float64]):
        self.inner = source
        self._weight = weight
        self.n_rows = source.n_rows
        self.n_columns = source.n_columns
        self.columns = source.columns
        self.dtype = source.dtype
        self.repeatable = source.repeatable
        self.remote = source.remote
        self.sparse = source.sparse
        self.density = source.density

    @property
    def n_used(self) -> int:
        """Rows that are not left out."""
        return int(np.count_nonzero(self._weight > 0))

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give the blocks with their weights."""
        for block in self.inner.blocks(least_rows):
            weighted = with_weight(block, self._weight[block.start : block.start + block.rows.shape[0]])
            if weighted is not None:
                yield weighted

    def with_weights(self, weight: NDArray[np.float64]) -> Source:
        """The same rows; weights multiply."""
        return WeightedSource(self.inner, self._weight * weight)

    def limited(self, block_bytes: int) -> Self:
        """The same rows in blocks of at most so many bytes."""
        twin = super().limited(block_bytes)
        twin.inner = self.inner.limited(block_bytes)
        return twin

    def describe(self) -> str:
        """Say what the rows are."""
        return self.inner.describe()


def with_weight(block: Block, weight: NDArray[np.float64]) -> Block | None:
    """The rows of a block whose weight is not zero; None if there are none."""
    if block.weight is not None:
        weight = weight * block.weight
    used = weight > 0
    if used.all():
        return Block(block.start, block.rows, weight)
    return Block(block.start, block.rows[used], weight[used]) if used.any() else None


LARGEST_WEIGHT = 1e150


def checked_weights(sample_weight: ArrayLike | float, n_rows: int) -> NDArray[np.float64]:
    """(n,) weights, finite, not negative, not all zero."""
    try:
        weight = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"sample_weight holds what is no number ({error}): give one number per row.") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise BadInput(f"sample_weight has shape {weight.shape}, but there are {n_rows:,} rows: give one per row.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        worst = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise BadInput(
            f"sample_weight holds {weight[worst]} at row {worst}: weights must be finite and not negative; use 0 to "
            "leave a row out."
        )
    if weight.max(initial=0.0) > LARGEST_WEIGHT:
        raise BadInput(
            f"sample_weight reaches {weight.max():.0e}, whose squares leave the range of float64: divide all weights "
            "by their largest one."
        )
    if not weight.any():
        raise BadInput(
            "Every sample_weight is 0: with all weights zero no row is left; give at least one row a positive weight."
        )
    return weight


def as_counts(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (n,) that count rows: shares, which add up to less than the rows, are scaled up to them."""
    used, total = int((weight > 0).sum()), float(weight.sum())
    return weight * (used / total) if total < used else weight
