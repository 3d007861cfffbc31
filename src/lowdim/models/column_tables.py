"""Tables about the columns of a linear fit, and its components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.matrices.convert import as_matrix
from lowdim.matrices.scaling import Scaling
from lowdim.models import settings
from lowdim.models.frames import make_table
from lowdim.models.table_rows import opened
from lowdim.results import columns
from lowdim.results.names import column_names

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel

Floats = NDArray[np.float64]


def eigenvalues(model: LinearModel, X: Any) -> Any:
    """Variance of each component, its share, and shares added up."""
    fit = model.fit_
    shares = {"share": fit.shares, "cumulative": np.cumsum(fit.shares)}
    return make_table(model._kind, {"component": model._axes, "variance": fit.variances, **shares})


def components(model: LinearModel, X: Any) -> Any:
    """The axes: unit vectors."""
    return by_column(model, model.fit_.components.T)


def loadings(model: LinearModel, X: Any) -> Any:
    """The axes times the standard deviation along them."""
    return by_column(model, model.fit_.components.T * model.fit_.strengths)


def compression(model: LinearModel, X: Any) -> Any:
    """What k components cost and lose."""
    return make_table(model._kind, dict(model.compression()))


def correlations(model: LinearModel, X: Any, sample_weight: Any = None) -> Any:
    """Correlations of columns with components."""
    return by_column(model, correlation_values(model, X, sample_weight))


def correlation_values(model: LinearModel, X: Any, sample_weight: Any = None) -> Floats:
    """(p, k) of columns with components; an error without centring."""
    if not model.center:
        raise BadParameter(
            "table('correlations') is about means, which center=False leaves out: take 'column_cos2', which is about "
            "zero, or fit with center=True."
        )
    return columns.correlations(model.fit_, _variances(model, X, sample_weight))


def column_contributions(model: LinearModel, X: Any) -> Any:
    """Share of each column in the variance of each component; over the columns they add up to one."""
    fit = model.fit_
    average = np.full(fit.n_columns, 1 / fit.n_columns)
    return by_column(model, columns.contributions(fit), average=average)


def column_cos2(model: LinearModel, X: Any, sample_weight: Any = None) -> Any:
    """Share of each column's variance that lies along each component; over all components they add up to one."""
    return by_column(model, cos2_values(model, X, sample_weight))


def cos2_values(model: LinearModel, X: Any, sample_weight: Any = None) -> Floats:
    """(p, k) squared correlations, about zero without centring."""
    return np.asarray(columns.correlations(model.fit_, _variances(model, X, sample_weight)) ** 2)


def drivers(model: LinearModel, X: Any, top: int = 5) -> Any:
    """The columns that contribute most to each component."""
    settings.whole("table", "top", top, 1, None)
    return make_table(model._kind, columns.drivers(model.fit_, model._axes, int(top)))


def by_column(model: LinearModel, values: Floats, **more: Floats) -> Any:
    """A table with a row for each column of the data, from values (p, k)."""
    axes = model._axes[: values.shape[1]]
    named = {"column": list(column_names(model.fit_)), **dict(zip(axes, values.T, strict=True))}
    return make_table(model._kind, named | more)


def _variances(model: LinearModel, X: Any, sample_weight: Any) -> Floats:
    """(p,) of the prepared columns: what the fit knows, or what the rows say."""
    fit = model.fit_
    if X is None or fit.column_variances is not None:
        return columns.prepared_variances(fit)
    source = opened(model, "correlations", X)
    matrix = as_matrix(source, Scaling(bool(model.center), ddof=fit.ddof), sample_weight)
    moments = matrix.moments
    return moments.variances / matrix.unit**2 / matrix.scaling.denominator(moments.weight) * fit.gain**2
