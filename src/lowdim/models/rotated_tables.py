"""Rotated loadings, and the tables of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadInput, BadParameter
from lowdim.models import settings
from lowdim.models.column_tables import by_column
from lowdim.models.frames import frame_kind, make_table, scores_table
from lowdim.models.table_rows import refuse_no_rows
from lowdim.results.certificate import counted
from lowdim.results.names import column_names
from lowdim.results.rotation import Rotation, in_order
from lowdim.solvers.rotation import promax, varimax

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel

METHODS = ("varimax", "promax")


def rotate(
    model: LinearModel, k: int | None = None, method: str = "varimax", normalize: bool = True, power: float = 4.0
) -> Rotation:
    """The first k components, rotated."""
    k = model._checked_k(k)
    if method not in METHODS:
        raise BadParameter.of("rotated", "method", method, "'varimax' or 'promax'")
    settings.flag("rotated", "normalize", normalize)
    settings.real("rotated", "power", power, 1.0)
    fit = model.fit_
    loadings = fit.components[:k].T * fit.strengths[:k]
    empty = int((fit.whitening[:k] <= 0).sum())
    if empty:
        raise BadInput(
            f"{empty} of the {counted(k, 'component')} {'has' if empty == 1 else 'have'} no variance, and so no "
            f"direction to rotate: take k={k - empty}."
        )
    matrix = varimax(loadings, normalize) if method == "varimax" else promax(loadings, normalize, float(power))
    return in_order(method, bool(normalize), loadings, matrix, fit.total_variance, column_names(fit))


def rotated(
    model: LinearModel,
    X: Any,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Any:
    """Rotated loadings, with how much of each column's variance the factors hold."""
    found = rotate(model, k, method, normalize, power)
    return by_column(model, found.loadings, communality=found.communalities)


def rotated_shares(
    model: LinearModel,
    X: Any,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Any:
    """Variance of each factor, its share, sums of squared loadings, and correlations of the factors."""
    found = rotate(model, k, method, normalize, power)
    axes = model._axes[: len(found.matrix)]
    named = {
        "component": axes,
        "variance": found.variances,
        "share": found.shares,
        "cumulative": np.cumsum(found.shares),
        "squared_loadings": found.squares,
    }
    with_each = {f"r_{axis}": column for axis, column in zip(axes, found.correlations.T, strict=True)}
    return make_table(model._kind, named | (with_each if method == "promax" else {}))


def rotated_scores(
    model: LinearModel,
    X: Any,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Any:
    """Scores on the rotated factors, of variance one over the rows of the fit; any rows will do.

    Of a probabilistic model they are turned expected hidden values, whose variance is below one.
    """
    refuse_no_rows("rotated_scores", X)
    found = rotate(model, k, method, normalize, power)
    whitening = 1.0 if model.whiten else model.fit_.whitening
    standardized = (np.asarray(model._scores(X), dtype=np.float64) * whitening)[:, : len(found.matrix)]
    kind = frame_kind(X) or model._kind
    return scores_table(kind, model._axes[: len(found.matrix)], found.scores(standardized), like=X)
