"""What the numbers of a table of genotypes mean: which are calls, which are missing, which are neither."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def missing_calls(values: NDArray[Any], strict: bool) -> Mask:
    """Entries that are missing: NaN, and −1 where only 0, 1 and 2 are calls (`strict`) or numbers are whole."""
    if values.dtype.kind == "f":
        nothing: Mask = np.isnan(values)
        return nothing | (values == -1) if strict else nothing
    return np.zeros(values.shape, dtype=bool) if values.dtype.kind in "ub" else values == -1


def refuse_others(
    values: NDArray[Any], strict: bool, row: int = 0, column: int = 0, columns: tuple[str, ...] | None = None
) -> None:
    """Raise an error that names the first entry, counted from these, which is no genotype."""
    if not values.size or (_all_calls(values) if strict else not np.isinf(values).any()):
        return
    calls = (values == 0) | (values == 1) | (values == 2) if strict else ~np.isinf(values)
    wrong = ~(calls | missing_calls(values, strict))
    i, j = np.argwhere(wrong)[0]
    name = columns[column + j] if columns else f"column {column + j}"
    found = values[i, j]
    where = f"Individual {row + i + 1:,} has {found:g} at {name}"
    if not strict:
        raise BadInput(f"{where}, but finite numbers are needed, and NaN where one is missing (infinity came).")
    remedy = "round dosages, or take normalisation='center'"
    remedy = "9 is EIGENSTRAT's missing: write it as −1" if found == 9 else remedy
    raise BadInput(
        f"{where}, but a genotype is the number of copies of an allele, 0, 1 or 2, and −1 or NaN where it is missing: "
        f"{remedy}."
    )


def _all_calls(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return bool(values.max() <= 2) and (values.dtype.kind in "ub" or bool(values.min() >= -1))
    there = values[~np.isnan(values)]
    return not len(there) or bool(there.max() <= 2 and there.min() >= -1 and (there == np.rint(there)).all())


def as_calls(values: NDArray[Any]) -> NDArray[np.int8]:
    """Calls that were found to be such, as int8 with −1 where missing."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), -1, values)
    return values.astype(np.int8, copy=False)


@final
class FilledCalls(Source):
    """Another source of genotypes, row by row, with the mean of its SNP wherever a call is missing.

    After centring these are zeros. `used` says which individuals are meant; None: all.
    """

    def __init__(self, source: Source, means: Floats, strict: bool, used: Mask | None = None):
        self._source, self._means, self._strict, self._used = source, means, strict, used
        self.n_rows = source.n_rows if used is None else int(used.sum())
        self.n_columns, self.columns, self.title = source.n_columns, source.columns, source.title
        self.repeatable, self.remote = source.repeatable, source.remote
        self.dtype = np.dtype(np.float64)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows of float64, a few at a time."""
        step, place = self.rows_per_block(least_rows), 0
        for block in self._source.blocks():
            for start in range(0, block.rows.shape[0], step):
                rows = dense_rows(block.rows[start : start + step])
                at = block.start + start
                refuse_others(rows, self._strict, at, 0, self.columns)
                if self._used is not None:
                    rows = rows[self._used[at : at + len(rows)]]
                if len(rows):
                    yield Block(place, np.where(missing_calls(rows, self._strict), self._means, rows))
                    place += len(rows)

    def map_rows(self, function: Any, width: int, dtype: Any) -> Any:
        """What a function makes of each block; where rows are elsewhere, they are filled there."""
        if not self.remote:
            return super().map_rows(function, width, dtype)
        return self._source.map_rows(_Filling(function, self._means, self._strict, self.columns), width, dtype)

    def describe(self) -> str:
        """Name the data as the user knows them."""
        return self._source.describe()


class _Filling:
    """A function of filled rows as one of rows, which can be sent to where they are."""

    def __init__(self, function: Any, means: Floats, strict: bool, columns: tuple[str, ...] | None):
        self._function, self._means, self._strict, self._columns = function, means, strict, columns

    def __call__(self, block: Block) -> Any:
        rows = dense_rows(block.rows)
        refuse_others(rows, self._strict, block.start, 0, self._columns)
        return self._function(Block(block.start, np.where(missing_calls(rows, self._strict), self._means, rows)))


def dense_rows(rows: Any) -> NDArray[Any]:
    """Rows as an array; only sparse ones are copied."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()
