"""The table of columns that took no part in a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, WrongShape
from lowdim.models.frames import frame_kind, make_table, named_columns
from lowdim.models.table_rows import PIECE, Rows, opened, read_rows, refuse_one_pass
from lowdim.results.supplementary import categories, correlations
from lowdim.sources.source import Block

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel

Floats = NDArray[np.float64]

MOST_CATEGORIES = 1000


def supplementary(model: LinearModel, X: Any, extra: Any = None, sample_weight: Any = None) -> Any:
    """Columns of `extra`, a frame or a mapping with a row for each row of X, beside the components.

    Numbers: "correlation" and "cos2", its square. Categories (texts, flags): "barycentre", "v_test" and "cos2" for
    each, and "eta2" for the column. Missing values are left out, which "weight", that of the rows used, shows.
    """
    if extra is None:
        raise BadParameter(
            "table('supplementary', X) needs columns that took no part in the fit: extra=frame, with a row for each "
            "row of X; scores of supplementary rows are table('scores', X)."
        )
    refuse_one_pass(model, "supplementary", X)
    found = read_rows(model, "supplementary", X, sample_weight)
    lines: list[tuple[str, str, float, str, Floats]] = []
    for name, values in named_columns(extra).items():
        if len(values) != len(found.scores):
            raise WrongShape(
                f"Column {name!r} of extra has {len(values):,} rows, but X has {len(found.scores):,}: they must be the "
                "same rows, in the same order."
            )
        numbers = values.dtype.kind == "f"
        lines += _of_numbers(name, values, found) if numbers else _of_texts(model, X, name, values, found)
    names, groups, weights, statistics, points = (list(part) for part in zip(*lines, strict=True))
    named = {"column": names, "category": groups, "weight": np.array(weights), "statistic": statistics}
    kind = frame_kind(extra) or frame_kind(X) or model._kind
    return make_table(kind, named | dict(zip(model._axes, np.array(points).T, strict=True)))


def _of_numbers(name: str, values: Floats, found: Rows) -> list[tuple[str, str, float, str, Floats]]:
    known = np.isfinite(values)
    if not known.any():
        raise BadInput(f"Column {name!r} of extra holds no finite number: leave it out.")
    weight = float(found.weights[known].sum())
    r = correlations(values, found.scores, found.weights)
    return [(name, "", weight, "correlation", r), (name, "", weight, "cos2", r**2)]


def _of_texts(
    model: LinearModel, X: Any, name: str, values: NDArray[Any], found: Rows
) -> list[tuple[str, str, float, str, Floats]]:
    known = np.array([value is not None and value == value for value in values])  # None and NaN are no categories
    listed, inside = np.unique(np.array([str(value) for value in values[known]]), return_inverse=True)
    if not 1 <= len(listed) <= MOST_CATEGORIES:
        raise BadInput(
            f"Column {name!r} of extra holds {len(listed):,} categories, but 1 to {MOST_CATEGORIES:,} can be shown: "
            "leave it out, or join some."
        )
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[known] = inside
    codes[found.weights == 0] = -1
    used = np.bincount(codes[codes >= 0], minlength=len(listed)) > 0
    codes[codes >= 0] = (np.cumsum(used) - 1)[codes[codes >= 0]]
    names = [str(one) for one in listed[used]]
    made = categories(names, codes, found.scores, found.weights, _lengths(model, X, codes, found.weights, len(names)))
    statistics = (("barycentre", made.barycentres), ("v_test", made.v_tests), ("cos2", made.cosines))
    lines = [
        (name, group, float(made.weight[i]), statistic, numbers[i])
        for i, group in enumerate(names)
        for statistic, numbers in statistics
    ]
    return [*lines, (name, "", float(made.weight.sum()), "eta2", made.eta2)]


def _lengths(model: LinearModel, X: Any, codes: NDArray[np.intp], weight: Floats, count: int) -> Floats:
    """(count,) squared distances of the barycentres from the centre in all dimensions; reads the rows once more."""
    sums, inside = np.zeros((count, model.fit_.n_columns)), np.zeros(count)
    for block in opened(model, "supplementary", X).blocks():
        start = block.start
        for piece in model._preparation.pieces(Block(start, block.rows), np.float64, PIECE):
            here = slice(start, start + len(piece))
            known = np.flatnonzero(codes[here] >= 0)
            member = np.zeros((count, len(piece)))
            member[codes[here][known], known] = weight[here][known]
            sums += member @ piece
            inside += member.sum(axis=1)
            start += len(piece)
    return np.asarray(((sums / inside[:, None]) ** 2).sum(axis=1))
