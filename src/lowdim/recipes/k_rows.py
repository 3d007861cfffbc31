"""The rows that the number of components is asked of: what they count, and whether a model was fitted on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.models.pca import PCA
from lowdim.models.ppca import ProbabilisticPCA
from lowdim.results.rows import sums_of_squares
from lowdim.sources.source import Block, Source
from lowdim.sources.weighted import WeightedSource, as_counts

Floats = NDArray[np.float64]

PIECE = 1024
"""Rows that are prepared at a time."""


def rows_as_counts(rows: Source) -> Source:
    """The same rows with weights that count them, whether they came beside the rows or among their columns."""
    if not is_weighted(rows) or not rows.repeatable:
        return rows
    weight = np.concatenate([block.weight for block in rows.blocks() if block.weight is not None])
    factor = float((as_counts(weight) / weight)[0])
    return rows if factor == 1 else rows.with_weights(np.full(rows.count_rows() or len(weight), factor))


def is_weighted(rows: Source) -> bool:
    """Whether its blocks carry weights."""
    return rows.weighted or isinstance(rows, WeightedSource)


def refuse_other_rows(model: PCA | ProbabilisticPCA, rows: Source) -> None:
    """An error if these are not the rows that the model was fitted on, with their weights.

    Any other rows have other sums of squares along its axes. Rows that come once cannot be compared, nor are they
    used beside the model; nor rows with holes, which a PCA is fitted on anew.
    """
    fit: Any = model.fit_
    anew = "for its settings alone pass sklearn.base.clone(model)"
    if rows.n_columns != model.n_features_in_:
        raise BadInput(
            f"The rows have {rows.n_columns:,} columns, but those of the model's fit have {model.n_features_in_:,}: "
            f"pass the rows that it was fitted on; {anew}."
        )
    if not rows.repeatable:
        return
    used, weight, squares = _sums(model, rows)
    if used != fit.n_rows or not np.isclose(weight, fit.weight, rtol=1e-9):
        told = f"{fit.n_rows:,} rows" + ("" if fit.weight == fit.n_rows else f" that count {fit.weight:g} together")
        here = f"{used:,}" + ("" if weight == used else f" that count {weight:g}")
        asked = "with the sample_weight of its fit" if fit.weight != weight else "that it was fitted on"
        raise BadInput(f"The model was fitted on {told}, but here are {here}: pass the rows {asked}; {anew}.")
    known = sums_of_squares(fit)
    if not np.isfinite(squares).all() or len(known) != len(squares):
        return
    # float32 rows were multiplied in float32 by the fit, and are in float64 here
    tolerance = max(1e-7, 1e3 * model._data_spacing) * float(known.max(initial=0.0))
    if (np.abs(squares - known) > tolerance).any():
        worst = int(np.argmax(np.abs(squares - known)))
        raise BadInput(
            f"These are not the rows of the model's fit: their sum of squares along component {worst} is "
            f"{squares[worst]:.6g}, not {known[worst]:.6g}. Pass the rows (and the sample_weight) that it was fitted "
            f"on; {anew}."
        )


def _sums(model: PCA | ProbabilisticPCA, rows: Source) -> tuple[int, float, Floats]:
    """Rows that count, their weight, and (k,) weighted sums of squares along the axes."""
    V = model.fit_.components

    def of_block(block: Block) -> tuple[int, float, Floats]:
        weight = np.ones(block.rows.shape[0]) if block.weight is None else block.weight
        total, start = np.zeros(len(V)), 0
        for piece in model._preparation.pieces(Block(block.start, block.rows), np.float64, PIECE):
            total += weight[start : start + len(piece)] @ (piece @ V.T) ** 2
            start += len(piece)
        return len(weight), float(weight.sum()), total

    return rows.reduce(of_block, lambda one, other: (one[0] + other[0], one[1] + other[1], one[2] + other[2]))
