"""Tables of a regression on components."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from lowdim.errors import BadParameter
from lowdim.models.base.output import frame_kind, make_table, refuse_no_rows
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.words import column_names


def coefficients(model: Any, X: Any, level: float) -> Any:
    """Of the columns, with standard errors and intervals of this level."""
    return make_table(model._frame_kind, coefficient_columns(model.fit_, level))


def coefficient_columns(fit: RegressionFit, level: float) -> dict[str, Any]:
    """Columns of that table."""
    columns = column_names(fit)
    found: dict[str, Any] = {"column": ["intercept", *columns]}
    for j, target in enumerate(fit.names):
        head = "" if fit.m == 1 else f"{target} "
        values = np.concatenate([fit.intercept[j : j + 1], fit.coefficients[j]])
        given = np.concatenate([fit.intercept_errors[j : j + 1], fit.coefficient_errors[j]])
        errors, reach = np.full_like(values, np.nan), np.full_like(values, np.nan)
        if fit.errors is not None and fit.errors_freedom is not None:
            errors = fit.errors[j]
            reach = errors * scipy.stats.t.ppf(0.5 + level / 2, fit.errors_freedom[j])
        found |= {f"{head}coefficient": values, f"{head}std_err": errors}
        found |= {f"{head}lower": values - reach, f"{head}upper": values + reach, f"{head}std_err_given_axes": given}
    return found | {"basis": [fit.basis] * (len(columns) + 1)}


def components(model: Any, X: Any, level: float) -> Any:
    """Of the components that are used: variance, and of each response γ, its t-test and what it explains."""
    fit: RegressionFit = model.fit_
    found: dict[str, Any] = {
        "component": [f"PC{i + 1}" for i in fit.picked],
        "variance": fit.axes.variances[fit.picked],
        "share": fit.axes.shares[fit.picked],
    }
    for j, target in enumerate(fit.names):
        head = "" if fit.m == 1 else f"{target} "
        errors = np.sqrt(fit.residual_variance[j] / fit.score_squares)
        with np.errstate(divide="ignore", invalid="ignore"):  # a perfect fit has errors of 0
            t = fit.loads[:, j] / errors
        explained = fit.loads[:, j] ** 2 * fit.score_squares
        found |= {f"{head}coefficient": fit.loads[:, j], f"{head}std_err": errors, f"{head}t": t}
        found[f"{head}p_value"] = 2 * scipy.stats.t.sf(np.abs(t), fit.freedom) if fit.freedom > 0 else np.nan * t
        found[f"{head}r2"] = explained / fit.squares[j] if fit.squares[j] > 0 else np.zeros(fit.k)
    return make_table(model._frame_kind, found)


def cv(model: Any, X: Any, level: float) -> Any:
    """The path of cross-validation."""
    fit: RegressionFit = model.fit_
    checked = fit.validation
    if checked is None:
        raise BadParameter("PCRegression.table('cv'): the model was fitted with cv=None, so nothing was held out.")
    found: dict[str, Any] = {"components": np.arange(len(checked.error))}
    for j, target in enumerate(fit.names):
        found["rmse" if fit.m == 1 else f"{target} rmse"] = checked.rmse[:, j]
    found |= {"error": checked.error, "std_error": checked.std_error, "q2": 1 - checked.error}
    return make_table(model._frame_kind, found)


def rivals(model: Any, X: Any, level: float) -> Any:
    """Least squares, ridge and partial least squares, judged by the same folds."""
    fit: RegressionFit = model.fit_
    if not fit.rivals:
        raise BadParameter("PCRegression.table('rivals'): fit with compare=True, so that others are judged too.")
    found: dict[str, Any] = {"method": [one.name for one in fit.rivals]}
    for j, target in enumerate(fit.names):
        head = "" if fit.m == 1 else f"{target} "
        found |= {f"{head}rmse": np.array([one.rmse[j] for one in fit.rivals])}
        found |= {f"{head}q2": np.array([one.q2[j] for one in fit.rivals])}
    found |= {
        "difference": np.array([one.difference for one in fit.rivals]),
        "difference_std_err": np.array([one.difference_error for one in fit.rivals]),
        "chosen": [one.chosen for one in fit.rivals],
    }
    return make_table(model._frame_kind, found)


def predictions(model: Any, X: Any, level: float) -> Any:
    """Of rows, with intervals of this level."""
    refuse_no_rows("predictions", X)
    fit: RegressionFit = model.fit_
    parts = (model.predict(X), *model.intervals(X, level))
    columns = [np.reshape(np.asarray(part), (-1, fit.m))[:, j] for j in range(fit.m) for part in parts]
    named = dict(zip(fit.interval_names, columns, strict=True))
    return make_table(frame_kind(X) or model._frame_kind, named, like=X)


TABLES = {
    "coefficients": coefficients,
    "components": components,
    "cv": cv,
    "rivals": rivals,
    "predictions": predictions,
}
