"""Rows and responses of a regression, in memory and checked: those that came, and those that count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, WrongShape
from lowdim.matrices.holes import count_holes, missing_values
from lowdim.models.regression_settings import OWNER
from lowdim.solvers.principal_regression import Rows
from lowdim.sources.source import Source
from lowdim.sources.weighted import as_counts, checked_weights

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """Rows as they came, some perhaps of weight 0: splits may name their places, so splitters see all of them."""

    given: Rows
    """(n rows) weights may be 0."""
    every_group: Any
    """(n,) which rows belong together; None: none do."""
    kept: Indices
    """(r,) places of rows whose weight is above 0."""

    @classmethod
    def of(cls, given: Rows, groups: Any = None) -> Sample:
        """Of rows and their groups."""
        return cls(given, groups, np.flatnonzero(given.weight > 0))

    def weighing(self, weight: Floats) -> Sample:
        """The same rows with other weights (n,)."""
        return Sample.of(Rows(self.given.X, self.given.Y, weight), self.every_group)

    @cached_property
    def rows(self) -> Rows:
        """The r rows that count."""
        return self.given if len(self.kept) == len(self.given.X) else self.given.some(self.kept)

    @cached_property
    def groups(self) -> Any:
        """(r,) of the rows that count; None: there are none."""
        return None if self.every_group is None else self.every_group[self.kept]

    @property
    def n_groups(self) -> int | None:
        """How many groups the rows that count are of; None: there are none."""
        return None if self.groups is None else len(np.unique(self.groups))


def read_sample(source: Source, y: Any, sample_weight: Any, groups: Any, fills: bool) -> tuple[Sample, bool]:
    """Rows in memory, and whether y is (n,). Weights that add up to less than the rows are shares, and scaled up."""
    if source.sparse:
        raise _sparse(source)
    blocks = list(source.blocks())
    X = np.concatenate([np.asarray(block.rows, dtype=np.float64) for block in blocks])
    given = [np.ones(len(block.rows)) if block.weight is None else block.weight for block in blocks]
    weight = np.concatenate(given)
    if sample_weight is not None:
        weight = weight * checked_weights(sample_weight, len(X))
    Y, flat = responses(y, len(X))
    sample = Sample.of(Rows(X, Y, as_counts(weight)), _checked_groups(groups, len(X)))
    _refuse(sample.rows, source, fills)
    return sample, flat


def responses(y: Any, n: int) -> tuple[Floats, bool]:
    """y as (n, m), and whether it came as (n,)."""
    if y is None:
        raise BadInput("PCRegression requires y to be passed, but the target y is None: call fit(X, y).")
    values = np.asarray(y)
    if values.dtype.kind == "c":
        raise BadInput("Complex data not supported: y is complex, but real numbers are needed.")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"y holds what is no number ({error}): give one number per row and response.") from error
    if values.ndim not in (1, 2) or values.shape[0] != n or 0 in values.shape:
        raise WrongShape(
            f"y has shape {values.shape}, but X has {n:,} rows: y should be a 1d array of {n:,} numbers, or 2d with a "
            "column for each response."
        )
    holes = int((~np.isfinite(values)).sum())
    if holes:
        raise BadInput(
            f"Input y contains NaN or infinity in {holes:,} of {values.size:,} entries: leave those rows out of the "
            "fit, and predict them."
        )
    return values.reshape(n, -1), values.ndim == 1


def target_names(y: Any) -> tuple[str, ...] | None:
    """Names of the responses, if they came with any; each must be another, as tables have a column for each."""
    columns = getattr(y, "columns", None)
    if columns is None:
        columns = getattr(y, "column_names", None)  # Arrow
    if columns is None or getattr(y, "ndim", 2) != 2:
        name = getattr(y, "name", None)
        return (name,) if isinstance(name, str) and name else None
    names = tuple(map(str, columns))
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise BadInput(
            f"{times} of the {len(names)} responses are called {name!r}: give each a name of its own, as tables have a "
            "column for each."
        )
    return names


def _checked_groups(groups: Any, n: int) -> Any:
    if groups is None:
        return None
    found = np.asarray(groups)
    if found.shape != (n,):
        needed = f"one group for each of the {n:,} rows"
        raise BadParameter.of(OWNER, "groups", f"an array of shape {found.shape}", needed)
    try:
        np.unique(found)
    except TypeError as error:
        raise BadParameter.of(
            OWNER, "groups", error, "all texts or all numbers, so that equal ones are found"
        ) from error
    return found


def _sparse(source: Source) -> BadInput:
    rows = "many" if source.n_rows is None else f"{source.n_rows:,}"
    size = "" if source.n_rows is None else f" ({source.n_rows * source.n_columns * 8 / 1e6:,.1f} MB)"
    return BadInput(
        f"X is a sparse matrix of {rows} rows × {source.n_columns:,} columns, but PCRegression decomposes its rows "
        f"fold by fold, zeros and all: pass X.toarray(){size} if that fits into memory; else regress on the scores of "
        "PCA, which keeps it sparse: make_pipeline(lowdim.PCA(10), LinearRegression())."
    )


def _refuse(rows: Rows, source: Source, fills: bool) -> None:
    n = len(rows.X)
    if n < 3:
        raise BadInput(
            f"n_samples={n}: a regression needs at least 3 rows with a weight above 0, so that something can be held "
            "out and a line is not drawn through two points."
        )
    holes = count_holes(rows.X)
    if holes is not None and (holes[1].any() or not fills):
        if not holes[1].any():
            raise BadInput(f"{str(missing_values(holes, n, source.columns)).partition(', but every')[0]}, {MEND}")
        raise missing_values(holes, n, source.columns)


MEND = "but every value must be known; PCRegression(missing='ppca') fills NaN, or leave those rows or columns out."
