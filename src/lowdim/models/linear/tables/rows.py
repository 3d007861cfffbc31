"""Tables about rows: contributions to the components, and how well these show each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, MissingValues, NeedsAnotherPass, Setting, Words
from lowdim.matrices.convert import read_weights
from lowdim.matrices.missing import naming_all_missing, refuse_missing_in_block
from lowdim.matrices.preparation import Preparation
from lowdim.models.base import parameters
from lowdim.models.base.output import frame_kind, make_table, refuse_no_rows, row_labels
from lowdim.results.record import LinearFit
from lowdim.sources.source import Block, Source
from lowdim.types import Floats
from lowdim.views.plots.rows import Biplot, biplot

if TYPE_CHECKING:
    from lowdim.models.linear.model import LinearModel


# What a linear fit says about rows: their contributions to the components, and how well these show them.
#
# Rows come as scores t (n, k) and squared lengths ‖y‖² (n,) of what was centred, scaled and weighted by column.


def contributions(scores: Floats, weight: Floats | None) -> Floats:
    """(n, k) w t² / Σ w t²: the share of each row in the variance along each axis; NaN where nothing varies."""
    squares = scores**2 if weight is None else weight[:, None] * scores**2
    total = squares.sum(axis=0)
    return np.asarray(np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0))


def sums_of_squares(fit: LinearFit) -> Floats:
    """(k,) Σ w t² over the rows of the fit."""
    return fit.variances * (fit.weight - fit.ddof)


def squared_cosines(scores: Floats, lengths: Floats) -> Floats:
    """(n, k) t² / ‖y‖²: of the squared distance of a row from the centre, the share along each axis.

    NaN for a row at the centre, which has no direction.
    """
    squares = scores**2
    there = lengths[:, None] > 0
    return np.divide(squares, lengths[:, None], out=np.full_like(squares, np.nan), where=there)


def t_squared(scores: Floats, variances: Floats) -> Floats:
    """(n,) Σ t²/λ over the components given: the squared distance from the centre in standard deviations."""
    return np.asarray((scores**2 / variances).sum(axis=1))


def squared_residuals(scores: Floats, lengths: Floats) -> Floats:
    """(n,) ‖y − ŷ‖²: the squared distance from the space of the components."""
    return np.asarray(np.maximum(lengths - (scores**2).sum(axis=1), 0.0))


# What tables about rows need of them: scores, squared lengths and weights, read once, block by block.

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
    weight = None if sample_weight is None else read_weights(source, sample_weight)
    fit = model.fit_
    work = partial(_scores_and_lengths, preparation=model._preparation, V=fit.components, columns=source.columns)
    try:
        with naming_all_missing(source):
            found = np.asarray(source.map_rows(work, fit.k + 1, np.float64))
    except MissingValues as error:
        raise _with_holes(model, table, error) from error
    return Rows(found[:, : fit.k], found[:, fit.k], weight)


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
            refuse_missing_in_block(block, columns)
        parts.append(np.column_stack([rows @ V.T, lengths]))
    return np.concatenate(parts)


def _with_holes(model: LinearModel, table: str, error: MissingValues) -> MissingValues:
    if not model._takes.missing:
        return error
    found = str(error).partition(", but every value")[0]
    return MissingValues(
        f"{found}: ",
        Words(repr(table), table),
        " is not offered for rows with holes, as distances within them are not known; leave those rows out, or fill "
        "them ",
        Words("first (transform, score_samples and plot.scores reckon with holes).", "with lowdim impute."),
    )


# Tables about rows: scores, contributions, squared cosines, and biplots of rows and columns.

CONVENTIONS = ("singular", "prcomp", "prcomp_pc")


def row_contributions(model: LinearModel, X: Any, sample_weight: Any = None) -> Any:
    """Share of each row of the fit in the variance of each component; over the rows they add up to one.

    The last column is what a row would have if all of its weight contributed alike.
    """
    shares, average = contribution_values(model, X, sample_weight)
    return by_row(model, X, shares, average=average)


def contribution_values(model: LinearModel, X: Any, sample_weight: Any = None) -> tuple[Floats, Floats]:
    """(n, k) shares of the rows of the fit, NaN along axes without variance, and (n,) what they would have alike."""
    found = read_rows(model, "row_contributions", X, sample_weight)
    if getattr(model.fit_, "ascent", None) is None and not are_those_of_the_fit(model, found):
        raise BadInput(
            f"These {len(found.scores):,} rows are not those of the fit, or without its ",
            Setting("sample_weight"),
            f": the squares of their scores do not add up to its {model.fit_.n_rows:,} rows'; rows that took no part "
            "contribute nothing (take ",
            Words("'row_cos2'", "the table row_cos2"),
            ").",
        )
    shares = contributions(found.scores, found.weight)
    shares[:, model.fit_.whitening <= 0] = np.nan  # nothing varies along these: what is there is rounding
    return shares, found.weights / found.weights.sum()


def row_cos2(model: LinearModel, X: Any) -> Any:
    """Share of each row's squared distance from the centre along each component; any rows will do."""
    return by_row(model, X, cos2_values(model, X))


def cos2_values(model: LinearModel, X: Any) -> Floats:
    """(n, k) squared cosines; NaN for rows at the centre."""
    found = read_rows(model, "row_cos2", X)
    return squared_cosines(found.scores, found.lengths)


def biplot_record(model: LinearModel, X: Any, k: int = 2, alpha: float = 0.5, convention: str = "singular") -> Biplot:
    """Points of rows and columns in k components, for a figure or a table."""
    k = model._checked_k(k)
    parameters.real("table", "alpha", alpha, 0.0)
    if alpha > 1:
        raise BadParameter.of("table", "alpha", alpha, "from 0 (columns as they are) to 1 (rows as they are)")
    if convention not in CONVENTIONS:
        raise BadParameter.of("table", "convention", convention, f"one of {', '.join(map(repr, CONVENTIONS))}")
    return biplot(model.fit_, read_rows(model, "biplot", X).scores[:, :k], float(alpha), convention)


def biplot_table(model: LinearModel, X: Any, k: int = 2, alpha: float = 0.5, convention: str = "singular") -> Any:
    """The same as a table: rows first, then columns."""
    k = min(k, model.fit_.k) if k == 2 else k
    found = biplot_record(model, X, k, alpha, convention)
    n, p = len(found.rows), len(found.columns)
    named: dict[str, Any] = {"kind": ["row"] * n + ["column"] * p, "name": [*row_labels(X, n), *found.names]}
    points = np.concatenate([found.rows, found.columns])
    return make_table(frame_kind(X) or model._frame_kind, named | dict(zip(model._axes[:k], points.T, strict=True)))


def by_row(model: LinearModel, X: Any, values: Floats, **more: Any) -> Any:
    """A table with a row for each row of the data, from values (n, k); a pandas frame keeps its index."""
    named = dict(zip(model._axes[: values.shape[1]], values.T, strict=True)) | more
    return make_table(frame_kind(X) or model._frame_kind, named, like=X)
