"""The rows of a regression with their responses: a sample of them, and whether they are the training data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Words, WrongShape
from lowdim.matrices.missing import count_holes, missing_values, refuse_block_holes
from lowdim.matrices.preparation import dense
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.settings import OWNER
from lowdim.models.pc_regression.solvers import Rows
from lowdim.models.probabilistic_pca.rows import RowModel, filled_rows
from lowdim.results.certificate import counted
from lowdim.sources.source import Block, Source
from lowdim.sources.views_of_rows import as_counts, checked_weights
from lowdim.types import Floats, Indices

# Rows to scores and predictions of a regression, block by block, so that files and clusters are read as arrays are.


def scores_of_block(block: Block, fit: RegressionFit) -> Floats:
    """(n, k); holes are filled where the model was fitted on rows with holes."""
    rows = np.asarray(dense(block.rows), dtype=np.float64)
    if not np.isfinite(rows).all():
        if fit.filler is None:
            refuse_block_holes(block, fit.columns)
        else:
            rows = np.nan_to_num(filled_rows(Block(block.start, rows), RowModel.of(fit.filler)))
    return np.asarray((rows - fit.axes.mean) @ fit.axes_used.T)


def predictions_of_block(block: Block, fit: RegressionFit, deviations: bool) -> Floats:
    """(n, m) predictions, and after them the standard deviations, if asked for."""
    scores = scores_of_block(block, fit)
    found = fit.predictions(scores)
    return np.concatenate([found, fit.deviations(scores)], axis=1) if deviations else found


# Rows and responses of a regression, in memory and checked: those that came, and those that count.


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
            Words(f"n_samples={n}", f"{n} rows have a target"),
            ": a regression needs at least 3 rows with a weight above 0, so that something can be held "
            "out and a line is not drawn through two points.",
        )
    holes = count_holes(rows.X)
    if holes is not None and (holes[1].any() or not fills):
        if not holes[1].any():
            raise BadInput(f"{str(missing_values(holes, n, source.columns)).partition(', but every')[0]}, {MEND}")
        raise missing_values(holes, n, source.columns)


MEND = "but every value must be known; PCRegression(missing='ppca') fills NaN, or leave those rows or columns out."


# Whether rows that come again are those of the fit: a bootstrap of others would answer another question.

SAME = 1e-10
"""Means of the same numbers, summed in another order, differ by less than this share of the largest."""

SAME_SQUARES = 1e-6
"""Residuals of the same rows, as a share of the sum of squares; axes have errors of their own."""

AGAIN = "pass the X, y, sample_weight and groups that the model was fitted on"


def check_same_rows(sample: Sample, fit: RegressionFit) -> None:
    """Refuse rows that cannot be those of the fit: by their number, weight, means, and what the model leaves of y."""
    rows = sample.rows
    n, m = rows.Y.shape
    total = float(rows.weight.sum())
    if (n, m) != (fit.n_rows, fit.m) or abs(total - fit.axes.weight) > SAME * total:
        raise BadInput(
            f"{n:,} rows of weight {total:g} and {counted(m, 'response')} came, but the model was fitted on "
            f"{fit.n_rows:,} rows of weight {fit.axes.weight:g} and {counted(fit.m, 'response')}: {AGAIN}."
        )
    if fit.groups is not None and sample.groups is None:
        raise BadInput(
            f"The model was fitted with {fit.groups:,} groups of rows that belong together, and rows drawn one by one "
            "would make it look too sure: pass groups=, so that whole groups are drawn."
        )
    if fit.groups is not None and sample.n_groups != fit.groups:
        raise BadInput(f"groups holds {sample.n_groups} groups, but the model was fitted with {fit.groups}: {AGAIN}.")
    if not _same_numbers(sample, fit):
        raise BadInput(
            f"X and y are not the rows of the fit: their means, or what the model leaves of y, differ; {AGAIN}."
        )


def _same_numbers(sample: Sample, fit: RegressionFit) -> bool:
    rows = sample.rows
    total = rows.weight.sum()
    if np.isnan(rows.X).sum() != fit.missing:
        return False
    pairs = [(rows.Y, fit.y_mean)] + ([] if fit.missing else [(rows.X, fit.axes.mean)])
    for values, mean in pairs:
        if (np.abs(rows.weight @ values / total - mean) > SAME * np.abs(values).max(axis=0)).any():
            return False
    left = rows.weight @ (rows.Y - fit.predictions(scores_of_block(Block(0, rows.X), fit))) ** 2
    return bool((np.abs(left - fit.residual_squares) <= SAME_SQUARES * fit.squares + total * _rounding(sample)).all())


def _rounding(sample: Sample) -> NDArray[np.float64]:
    """(m,) mean square of a constant response about its rounded mean."""
    return np.asarray((4 * np.finfo(float).eps * np.abs(sample.rows.Y).max(axis=0)) ** 2)
