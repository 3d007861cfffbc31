"""Tables of a regression on components."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats

from lowdim.errors import BadParameter
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.words import column_names


def regression_table(fit: RegressionFit, name: str, level: float) -> dict[str, Any]:
    """Columns of the table of that name."""
    if name == "coefficients":
        return _coefficients(fit, level)
    if name == "components":
        return _components(fit)
    if name == "cv":
        if fit.validation is None:
            raise BadParameter("PCRegression.table('cv'): the model was fitted with cv=None, so nothing was held out.")
        return _path(fit)
    if name == "rivals":
        if not fit.rivals:
            raise BadParameter("PCRegression.table('rivals'): fit with compare=True, so that others are judged too.")
        return _rivals(fit)
    known = "'coefficients', 'components', 'cv', 'rivals' or 'predictions'"
    raise BadParameter.no_table("PCRegression", name, known)


def _coefficients(fit: RegressionFit, level: float) -> dict[str, Any]:
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


def _components(fit: RegressionFit) -> dict[str, Any]:
    """Of the components that are used: variance, and of each response γ, its t-test and what it explains."""
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
    return found


def _path(fit: RegressionFit) -> dict[str, Any]:
    checked = fit.validation
    assert checked is not None
    found: dict[str, Any] = {"components": np.arange(len(checked.error))}
    for j, target in enumerate(fit.names):
        found["rmse" if fit.m == 1 else f"{target} rmse"] = checked.rmse[:, j]
    return found | {"error": checked.error, "std_error": checked.std_error, "q2": 1 - checked.error}


def _rivals(fit: RegressionFit) -> dict[str, Any]:
    found: dict[str, Any] = {"method": [one.name for one in fit.rivals]}
    for j, target in enumerate(fit.names):
        head = "" if fit.m == 1 else f"{target} "
        found |= {f"{head}rmse": np.array([one.rmse[j] for one in fit.rivals])}
        found |= {f"{head}q2": np.array([one.q2[j] for one in fit.rivals])}
    return found | {
        "difference": np.array([one.difference for one in fit.rivals]),
        "difference_std_err": np.array([one.difference_error for one in fit.rivals]),
        "chosen": [one.chosen for one in fit.rivals],
    }
