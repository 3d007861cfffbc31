"""Missing values: counted column by column, and means and variances of what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import (
    MissingValues,
)
from lowdim.matrices.preparation import dense
from lowdim.sources.source import Block, Source
from lowdim.types import EPS, Floats, Mask, Places

# NaN and infinite entries: counted column by column, so that an error can name them.


def count_missing(rows: Any) -> NDArray[np.int64] | None:
    """(2, p) numbers of NaN and of infinite entries per column, or None if all are finite."""
    values = dense(rows)
    missing, infinite = np.isnan(values).sum(axis=0), np.isinf(values).sum(axis=0)
    return np.stack([missing, infinite]) if missing.any() or infinite.any() else None


def add_missing(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Holes of two blocks together."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def missing_values_error(holes: NDArray[np.int64], n_rows: int, columns: tuple[str, ...] | None) -> MissingValues:
    """The error that names the columns with holes."""
    names = columns or tuple(f"column {j}" for j in range(holes.shape[1]))
    missing, infinite = ({names[j]: int(counts[j]) for j in np.flatnonzero(counts)} for counts in holes)
    return MissingValues.found(missing, infinite, n_rows, named=columns is not None)


def refuse_missing_in_block(block: Block, columns: tuple[str, ...] | None) -> None:
    """Raise that error if the rows of a block have any; called when their result was not finite."""
    holes = count_missing(block.rows)
    if holes is not None:
        raise missing_values_error(holes, block.rows.shape[0], columns)


def refuse_missing(source: Source) -> None:
    """Raise that error if any of the rows have holes; one pass."""
    n_rows, holes = source.reduce(_count_in_block, _merge)
    if holes is not None:
        raise missing_values_error(holes, n_rows, source.columns)


@contextmanager
def naming_all_missing(source: Source, only_infinite: bool = False) -> Iterator[None]:
    """Where a block is refused for its holes, count those of all rows instead, if they can be read again.

    `only_infinite`: missing values are no error, infinite ones are.
    """
    try:
        yield
    except MissingValues:
        n_rows, holes = source.reduce(_count_in_block, _merge) if source.repeatable else (0, None)
        if holes is None:
            raise
        if only_infinite:
            holes[0] = 0
        raise missing_values_error(holes, n_rows, source.columns) from None


def _count_in_block(block: Block) -> tuple[int, NDArray[np.int64] | None]:
    return block.rows.shape[0], count_missing(block.rows)


def _merge(
    one: tuple[int, NDArray[np.int64] | None], other: tuple[int, NDArray[np.int64] | None]
) -> tuple[int, NDArray[np.int64] | None]:
    return one[0] + other[0], add_missing(one[1], other[1])


# Means and variances of what was observed of each column, mergeable: `Moments` for rows with holes.

PIECE_BYTES = 2**20
"""Of rows that are looked at a time: they should stay in the cache."""


@dataclass(frozen=True)
class Observed:
    """What a set of rows says about each column by itself."""

    n_rows: int
    weight: float
    """Sum of the row weights."""
    seen: Floats
    """(p,) weight of the observed entries."""
    count: NDArray[np.int64]
    """(p,) observed entries."""
    mean: Floats
    """(p,) of the observed entries; 0 where there are none."""
    squares: Floats
    """(p,) Σ w (x − mean)² over the observed entries."""
    infinite: NDArray[np.int64]
    """(p,) entries that are infinite, which nothing is said about."""

    @property
    def variances(self) -> Floats:
        """(p,) mean squares about the mean; 0 where nothing was observed."""
        return np.divide(self.squares, self.seen, out=np.zeros_like(self.squares), where=self.seen > 0)

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return bool((self.count == self.n_rows).all())

    def merge(self, other: Observed) -> Observed:
        """Of both sets of rows together (Chan, Golub & LeVeque 1983)."""
        seen = self.seen + other.seen
        with np.errstate(over="ignore", invalid="ignore"):
            return self._joined(other, seen)

    def _joined(self, other: Observed, seen: Floats) -> Observed:
        share = np.divide(other.seen, seen, out=np.zeros_like(seen), where=seen > 0)
        step = other.mean - self.mean
        return Observed(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            seen,
            self.count + other.count,
            self.mean + share * step,
            self.squares + other.squares + self.seen * share * step**2,
            self.infinite + other.infinite,
        )


def observe(source: Source) -> Observed:
    """Read all rows once."""
    return source.reduce(observe_block, Observed.merge)


def observe_block(block: Block) -> Observed:
    """What the rows of a block say of each column."""
    n, p = block.rows.shape
    step = max(1, PIECE_BYTES // (8 * p))
    weight = np.ones(n) if block.weight is None else block.weight
    total = None
    for start in range(0, n, step):
        rows = dense(block.rows[start : start + step]).astype(np.float64, copy=False)
        part = _observe_rows(rows, weight[start : start + step])
        total = part if total is None else total.merge(part)
    assert total is not None  # a block has a row
    return total


def _observe_rows(rows: Floats, weight: Floats) -> Observed:
    with np.errstate(over="ignore", invalid="ignore"):  # infinite sums say that squares leave the range
        return _sums(rows, weight)


def _settle_constant(rows: Floats, known: Mask, seen: Floats, mean: Floats, squares: Floats) -> None:
    """Give columns of which all values seen are equal that value as their mean, and squares of zero, in place."""
    (suspect,) = np.nonzero((seen > 0) & (squares <= seen * (4 * EPS * mean) ** 2))
    if not len(suspect):
        return
    some, there = rows[:, suspect], known[:, suspect]
    high = np.max(some, axis=0, where=there, initial=-np.inf)
    equal = high == np.min(some, axis=0, where=there, initial=np.inf)
    mean[suspect[equal]], squares[suspect[equal]] = high[equal], 0.0


def _sums(rows: Floats, weight: Floats) -> Observed:
    known = np.isfinite(rows)
    count = known.sum(axis=0)
    whole = bool((count == len(rows)).all())
    seen = np.full(rows.shape[1], weight.sum()) if whole else weight @ known
    values = rows if whole else np.where(known, rows, 0.0)
    mean = np.divide(weight @ values, seen, out=np.zeros(rows.shape[1]), where=seen > 0)
    apart = values - mean
    if not whole:
        apart[~known] = 0.0
    infinite = np.zeros_like(count) if whole else np.isinf(rows).sum(axis=0)
    squares = weight @ np.square(apart)
    _settle_constant(rows, known, seen, mean, squares)
    return Observed(len(rows), float(weight.sum()), seen, count, mean, squares, infinite)


def choose_scales(seen: Observed, scale: bool | Floats) -> Floats:
    """(p,) what each column is divided by; 1 for columns without variance."""
    if isinstance(scale, np.ndarray):
        return scale
    if not scale:
        return np.ones_like(seen.mean)
    return np.where(find_constant(seen), 1.0, np.sqrt(seen.variances))


def find_constant(seen: Observed) -> Mask:
    """(p,) columns of which all values seen are equal."""
    found: Mask = seen.squares <= 0
    return found


def describe_unseen(unseen: Sequence[int] | Places, columns: tuple[str, ...] | None, p: int) -> str:
    """Of which of p columns nothing was observed."""
    names = [columns[j] if columns else f"column {j}" for j in unseen[:5]]
    more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
    return f"Nothing was observed of {len(unseen)} of {p} columns ({', '.join(names)}{more})"
