"""The page of a regression on components: coefficients, predictions of held-out rows, and other methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter
from lowdim.models.base.report_rows import Asked, ReportRows
from lowdim.models.linear.report import linear_payload, spectrum_choice
from lowdim.models.pc_regression.figures import (
    Predictions,
    column_spreads,
    fit_coefficients,
    predictions_of,
    shown_ends,
    validation_curve,
)
from lowdim.models.pc_regression.overview import overview
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.tables import regression_table
from lowdim.types import Floats
from lowdim.views.report import encode
from lowdim.views.report.pages import headed_by
from lowdim.views.report.payload import Payload, RowColour, Section, colour_column

# The page of a regression on components: that of the components, and what they predict.

LEVEL = 0.95
"""Of intervals."""


def page(model: Any, asked: Asked) -> Payload:
    """The page of components, with scores (n, components) of rows, and of what they predict."""
    fit, beside, rows = model.fit_, asked.beside, asked.rows
    predicted = _predictions(model, asked.read, asked.y)
    section = regression_section(fit, regression_table(fit, "coefficients", LEVEL), LEVEL, predicted)
    beside = replace(
        beside,
        choice=beside.choice or spectrum_choice(fit.axes),
        colours=() if rows is None else (*rows.colours, *_predicted(model, rows)),
        sections=(section, *beside.sections),
    )
    scores = None if rows is None else _all_scores(model, rows)
    return headed_by(overview(fit), linear_payload(fit.axes, scores, beside))


def _predicted(model: Any, rows: ReportRows) -> list[RowColour]:
    """What the model says of each row, to colour by."""
    fit = model.fit_
    predicted = np.asarray(model.predict(rows.source)).reshape(-1, fit.m)
    return [colour_column(f"predicted {name}", predicted[:, j]) for j, name in enumerate(fit.names)]


def _all_scores(model: Any, rows: ReportRows) -> Floats:
    """(m, components), also along those that the regression does not use."""
    fit = model.fit_
    every = replace(fit, picked=np.arange(fit.axes.k), loads=np.zeros((fit.axes.k, fit.m)))
    return np.asarray(model._scores_by(every, rows.source))


def _predictions(model: Any, rows: ReportRows | None, y: Any) -> tuple[Predictions, ...]:
    """Of rows held out where y are those of the fit, else of the rows that were given; none without both."""
    fit = model.fit_
    if y is None:
        return ()
    measured = np.asarray(y, dtype=np.float64).reshape(len(np.asarray(y)), -1)
    held = model.held_out_
    if measured.shape[1] != fit.m:
        raise BadParameter.of("report", "y", f"shape {np.shape(y)}", f"{fit.m} responses for each row")
    if held is not None and len(held) == len(measured):
        predicted, aside = np.asarray(held).reshape(measured.shape), True
    elif rows is not None and rows.total == len(measured):
        predicted, aside = np.asarray(model.predict(rows.source)).reshape(-1, fit.m), False
        measured = measured if rows.places is None else measured[rows.places]
    else:
        there = 0 if rows is None else rows.total
        raise BadInput(f"report: y has {len(measured):,} rows, but X has {there:,}: pass both of the same rows.")
    return predictions_of(fit, measured, predicted, aside)


# Coefficients, how many components predict best, predictions of held-out rows, and other methods.

MOST_COLUMNS = 40
"""Columns whose coefficients are drawn one by one: those clearest of zero."""

MOST_POINTS = 5_000
"""Rows whose predictions are drawn."""


def regression_section(
    fit: RegressionFit, table: Mapping[str, Any], level: float, predictions: Sequence[Predictions]
) -> Section:
    """One card for each response, from the table of coefficients with their intervals."""
    return Section(
        "regression",
        "What is predicted",
        {
            "level": level,
            "reason": fit.reason,
            "basis": fit_coefficients(fit, 0, table, level, MOST_COLUMNS).basis,
            "columns": list(table["column"]),
            "targets": [_target(fit, j, table, level, predictions[j] if predictions else None) for j in range(fit.m)],
            "curve": _curve(fit),
            "held": "" if fit.validation is None else fit.validation.words,
            "rivals": _rivals(fit),
            "rivalsWords": fit.rivals_words,
        },
        first=True,
    )


def _target(
    fit: RegressionFit, j: int, table: Mapping[str, Any], level: float, found: Predictions | None
) -> dict[str, Any]:
    """Coefficients are those of the table, the intercept first; `drawn` are places among them."""
    head = "" if fit.m == 1 else f"{fit.names[j]} "
    drawn, spreads = fit_coefficients(fit, j, table, level, MOST_COLUMNS), column_spreads(fit)
    _, lower, upper, _ = shown_ends(fit, j, table, level)
    q2 = None if fit.validation is None else encode.number(float(fit.validation.q2[j]))
    return {
        "name": fit.names[j],
        "coefficient": encode.float32(table[f"{head}coefficient"]),
        "lower": encode.float32(lower),
        "upper": encode.float32(upper),
        "drawn": encode.uint32(drawn.columns + 1),
        "places": None if drawn.places is None else encode.float32(drawn.places),
        "spread": None if spreads is None else encode.float32(np.concatenate([[np.nan], spreads])),
        "r2": encode.number(float(fit.r2[j])),
        "q2": q2,
        "residual": encode.number(float(np.sqrt(fit.residual_variance[j]))),
        "points": None if found is None else _points(found),
    }


def _points(found: Predictions) -> dict[str, Any]:
    there = found.known
    if len(there) > MOST_POINTS:
        there = there[np.linspace(0, len(there) - 1, MOST_POINTS).astype(int)]
    return {
        "measured": encode.float32(found.measured[there]),
        "predicted": encode.float32(found.predicted[there]),
        "rows": encode.uint32(there),
        "heldOut": found.held_out,
        "error": encode.number(found.error),
    }


def _curve(fit: RegressionFit) -> dict[str, Any] | None:
    if fit.validation is None:
        return None
    found = validation_curve(fit)
    return {
        "error": encode.float32(found.error),
        "lower": encode.float32(found.lower),
        "upper": encode.float32(found.upper),
        "best": found.best,
        "limit": encode.number(found.limit),
        "used": found.used,
        "unit": "root mean squared error" if fit.m == 1 else "error as a share of the variance",
    }


def _rivals(fit: RegressionFit) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "chosen": one.chosen,
            "rmse": [encode.number(float(value)) for value in one.rmse],
            "q2": [encode.number(float(value)) for value in one.q2],
            "difference": encode.number(one.difference),
            "error": encode.number(one.difference_error),
        }
        for one in fit.rivals
    ]
