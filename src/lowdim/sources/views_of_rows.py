"""Sources made of another: some of its rows, prepared, or with unknown in place of zero; and weights of rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.errors import BadInput
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Block, ConvertibleSource, Source
from lowdim.types import Floats, Indices

# Some rows of a source, by their numbers, as a source of their own.


@final
class ChosenRows(Source):
    """Another source with some of its rows alone; the others are read and passed over, block by block."""

    def __init__(self, source: Source, places: NDArray[np.intp]):
        self.take_after(source)
        self._source, self._places = source, places
        """(m,) numbers of the rows, from 0, rising."""
        self.n_rows, self.remote = len(places), False  # its blocks are cut here
        self.beside = {name: column[places] for name, column in source.beside.items()}

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give those rows of each block that were chosen, if there are some."""
        done = 0
        for block in self._source.blocks(least_rows):
            first, last = np.searchsorted(self._places, [block.start, block.start + block.rows.shape[0]])
            if first < last:
                chosen = self._places[first:last] - block.start
                yield Block(done, block.rows[chosen], None if block.weight is None else block.weight[chosen])
                done += int(last - first)

    def describe(self) -> str:
        """Say how many of which rows."""
        return f"{len(self._places):,} rows of {self._source.describe()}"


# Rows of a source with columns shifted and divided, so that those in different units count alike.


@final
class PreparedSource(ConvertibleSource):
    """Another source as dense rows (x − shift) / scale, made as they are read."""

    def __init__(self, source: Source, shift: Floats, scale: Floats):
        self.take_after(source)
        self.source, self.shift, self.scale = source, shift, scale
        self.dtype, self.sparse, self.density, self.remote = np.dtype(np.float64), False, 1.0, False

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows, as many at a time as a block may hold."""
        step = self.rows_per_block(least_rows)
        for block in self.source.blocks(least_rows):
            for start in range(0, block.rows.shape[0], step):
                weight = None if block.weight is None else block.weight[start : start + step]
                yield Block(block.start + start, self.prepared(block.rows[start : start + step]), weight)

    def prepared(self, rows: Any) -> Floats:
        """Rows of the other source as this one gives them."""
        values = np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64, order="C")
        values -= self.shift
        values /= self.scale
        return values

    def limited(self, block_bytes: int) -> Self:
        """The same rows in blocks of at most so many bytes."""
        twin = super().limited(block_bytes)
        twin.source = self.source.limited(block_bytes)
        return twin

    def describe(self) -> str:
        """Say what the rows are."""
        return self.source.describe()


# Rows of a source by their numbers.


def rows_at(source: Source, places: Indices) -> Floats:
    """(m, p) rows in the order of their numbers (m,), which may repeat; one pass, unless they lie in memory."""
    if isinstance(source, PreparedSource):
        return source.prepared(rows_at(source.source, places))
    if isinstance(source, ArraySource):
        return np.asarray(source.array[places], dtype=np.float64, order="C")
    if isinstance(source, SparseSource):
        return _dense(source.matrix[places])
    wanted, back = np.unique(places, return_inverse=True)
    found: Floats = source.reduce(partial(_picked, wanted=wanted), _beneath)
    return found[back]


def passes_to_pick(source: Source) -> int:
    """How often all rows are gone through for that."""
    source = source.source if isinstance(source, PreparedSource) else source
    return 0 if isinstance(source, (ArraySource, SparseSource)) else 1


def _picked(block: Block, wanted: Indices) -> Floats:
    first, last = np.searchsorted(wanted, [block.start, block.start + block.rows.shape[0]])
    return _dense(block.rows[wanted[first:last] - block.start])


def _beneath(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])


def _dense(rows: Any) -> Floats:
    return np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64, order="C")


# Sparse rows whose entries that are not stored are not zeros but unknown: ratings that nobody gave, say.


@final
class UnstoredMissing(Source):
    """Another source, sparse, as dense rows with NaN where nothing is stored; stored zeros are zeros."""

    def __init__(self, source: Source):
        self.take_after(source)
        self._source = source
        self.dtype, self.sparse, self.density, self.remote = np.dtype(np.float64), False, 1.0, False

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows, as many at a time as a block may hold."""
        step = self.rows_per_block(least_rows)
        for block in self._source.blocks():
            for start in range(0, block.rows.shape[0], step):
                stored = block.rows[start : start + step].tocoo()
                rows = np.full(stored.shape, np.nan)
                rows[stored.row, stored.col] = stored.data
                weight = None if block.weight is None else block.weight[start : start + step]
                yield Block(block.start + start, rows, weight)

    def unweighted(self) -> Source:
        """The same rows, each counted once."""
        return UnstoredMissing(self._source.unweighted()) if self.weighted else self

    def describe(self) -> str:
        """Say what the rows are."""
        return f"{self._source.describe()}, of which what is not stored is missing"


# Row weights.

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
