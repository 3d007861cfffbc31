"""What tables about rows need of them: scores, squared lengths and weights, read once, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, MissingValues, NeedsAnotherPass
from lowdim.matrices.convert import row_weights
from lowdim.matrices.holes import naming_all_holes, refuse_block_holes
from lowdim.matrices.preparation import Preparation
from lowdim.results.rows import sums_of_squares
from lowdim.sources.source import Block, Source

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel

Floats = NDArray[np.float64]

PIECE = 1024
"""Rows that are prepared at a time."""

COUNTED = 1e-12
"""By what sums of the same weights may differ: rounding."""


@dataclass(frozen=True)
class Rows:
    """Rows as the components see them."""

    scores: Floats
    """(n, k) along the axes, never whitened."""
    lengths: Floats
    """(n,) squared, in all dimensions."""
    weight: Floats | None
    """(n,) or None for one each."""

    @property
    def weights(self) -> Floats:
        """(n,)"""
        return np.ones(len(self.scores)) if self.weight is None else self.weight

    @property
    def used(self) -> int:
        """How many rows count."""
        return len(self.scores) if self.weight is None else int((self.weight > 0).sum())


def read_rows(model: LinearModel, table: str, X: Any, sample_weight: Any = None) -> Rows:
    """Read all rows of X; an error in words if they have holes, or if there are none."""
    source = opened(model, table, X)
    weight = None if sample_weight is None else row_weights(source, sample_weight)
    fit = model.fit_
    work = partial(_scores_and_lengths, preparation=model._preparation, V=fit.components, columns=source.columns)
    try:
        with naming_all_holes(source):
            found = np.asarray(source.map_rows(work, fit.k + 1, np.float64))
    except MissingValues as error:
        raise _with_holes(model, table, error) from error
    return Rows(found[:, : fit.k], found[:, fit.k], weight)


def refuse_no_rows(table: str, X: Any) -> None:
    """Raise an error if a table about rows was asked for without any."""
    if X is None:
        raise BadParameter(f"table({table!r}) is about rows, and a model does not keep them: table({table!r}, X).")


def refuse_one_pass(model: LinearModel, table: str, X: Any) -> None:
    """Raise an error if rows that must be read twice can be read only once."""
    refuse_no_rows(table, X)
    if not model._opened(X, reset=False).repeatable:
        raise NeedsAnotherPass(
            f"table({table!r}) reads the rows twice, but these can be read only once: pass an array, or the path of a "
            "file."
        )


def opened(model: LinearModel, table: str, X: Any) -> Source:
    """The rows behind X, each counted once."""
    refuse_no_rows(table, X)
    source = model._rows(X)
    if source.weighted:
        raise BadInput(
            f"{source.describe()} has a column of weights, which tables do not read: open it without, and pass them as "
            "sample_weight."
        )
    unseen = getattr(model.fit_, "unseen", ())
    if unseen:
        raise BadInput(
            f"Nothing was observed of {len(unseen)} of {source.n_columns} columns when this model was fitted, so rows "
            "have no place in it: leave those columns out and fit again."
        )
    return source


def prepared_rows(model: LinearModel, table: str, X: Any, which: NDArray[np.intp]) -> Floats:
    """(m, p) the rows at these places, centred, scaled and weighted by column."""
    source = opened(model, table, X).unweighted()
    found = np.full((len(which), source.n_columns), np.nan)
    for block in source.blocks():
        here = (which >= block.start) & (which < block.start + block.rows.shape[0])
        if here.any():
            some = Block(0, block.rows[which[here] - block.start])
            found[here] = np.concatenate([piece.copy() for piece in model._preparation.pieces(some, np.float64, PIECE)])
    return found


def are_those_of_the_fit(model: LinearModel, rows: Rows) -> bool:
    """Whether sums of squares of the scores are those that the fit found: any other rows have others."""
    fit = model.fit_
    if rows.used != fit.n_rows or not np.isclose(rows.weights.sum(), fit.weight, rtol=COUNTED):
        return False
    squares, known = rows.weights @ rows.scores**2, sums_of_squares(fit)
    # float32 rows were multiplied in float32 by the fit, and are in float64 here
    tolerance = max(1e-7, 1e3 * model._data_spacing) * float(known.max(initial=0.0))
    return bool((np.abs(squares - known) <= tolerance).all())


def _scores_and_lengths(
    block: Block, preparation: Preparation, V: Floats, columns: tuple[str, ...] | None
) -> NDArray[np.float64]:
    parts = []
    for rows in preparation.pieces(Block(block.start, block.rows), np.float64, PIECE):
        lengths = np.einsum("ij,ij->i", rows, rows)
        if not np.isfinite(lengths).all():
            refuse_block_holes(block, columns)
        parts.append(np.column_stack([rows @ V.T, lengths]))
    return np.concatenate(parts)


def _with_holes(model: LinearModel, table: str, error: MissingValues) -> MissingValues:
    if not model.__sklearn_tags__().input_tags.allow_nan:
        return error
    found = str(error).partition(", but every value")[0]
    return MissingValues(
        f"{found}: {table!r} is not offered for rows with holes, as distances within them are not known; leave those "
        "rows out, or fill them first (transform, score_samples and plot.scores reckon with holes)."
    )
