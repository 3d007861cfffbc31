"""Tables about rows: scores, contributions, squared cosines, and biplots of rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.models import settings
from lowdim.models.frames import frame_kind, make_table, row_labels, scores_table
from lowdim.models.table_rows import are_those_of_the_fit, read_rows, refuse_no_rows
from lowdim.results import rows
from lowdim.views.figures.biplot import Biplot, biplot

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel

Floats = NDArray[np.float64]

CONVENTIONS = ("singular", "prcomp", "prcomp_pc")


def scores(model: LinearModel, X: Any) -> Any:
    """What `transform` gives, as a table; any rows will do."""
    refuse_no_rows("scores", X)
    return scores_table(frame_kind(X) or model._kind, model._axes, model._scores(X), like=X)


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
            f"These {len(found.scores):,} rows are not those of the fit, or without its sample_weight: the squares of "
            f"their scores do not add up to its {model.fit_.n_rows:,} rows'; rows that took no part contribute nothing "
            "(take 'row_cos2')."
        )
    shares = rows.contributions(found.scores, found.weight)
    shares[:, model.fit_.whitening <= 0] = np.nan  # nothing varies along these: what is there is rounding
    return shares, found.weights / found.weights.sum()


def row_cos2(model: LinearModel, X: Any) -> Any:
    """Share of each row's squared distance from the centre along each component; any rows will do."""
    return by_row(model, X, cos2_values(model, X))


def cos2_values(model: LinearModel, X: Any) -> Floats:
    """(n, k) squared cosines; NaN for rows at the centre."""
    found = read_rows(model, "row_cos2", X)
    return rows.squared_cosines(found.scores, found.lengths)


def biplot_record(model: LinearModel, X: Any, k: int = 2, alpha: float = 0.5, convention: str = "singular") -> Biplot:
    """Points of rows and columns in k components, for a figure or a table."""
    k = model._checked_k(k)
    settings.real("table", "alpha", alpha, 0.0)
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
    return make_table(frame_kind(X) or model._kind, named | dict(zip(model._axes[:k], points.T, strict=True)))


def by_row(model: LinearModel, X: Any, values: Floats, **more: Any) -> Any:
    """A table with a row for each row of the data, from values (n, k); a pandas frame keeps its index."""
    named = dict(zip(model._axes[: values.shape[1]], values.T, strict=True)) | more
    return make_table(frame_kind(X) or model._kind, named, like=X)
