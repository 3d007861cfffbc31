"""The page of a regression on components: coefficients, predictions of held-out rows, and other methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.models.linear.report import linear_payload
from lowdim.models.pc_regression.figures import (
    Predictions,
    column_spreads,
    fit_coefficients,
    shown_ends,
    validation_curve,
)
from lowdim.models.pc_regression.overview import which
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.report import encode
from lowdim.views.report.payload import Beside, Fact, Payload, Section

# The page of a regression on components: that of the components, and what they predict.


def regression_payload(fit: RegressionFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of components, with scores (n, components) of rows, and of what they predict."""
    page = linear_payload(fit.axes, scores, beside)
    what = ", ".join(fit.names)
    held = () if fit.validation is None else (Fact("Q²", _numbers(fit.validation.q2), "of rows held out"),)
    return replace(
        page,
        model="Principal component regression",
        lead=f"{counted(fit.k, 'component')} {'predicts' if fit.k == 1 else 'predict'} {what}."
        if fit.k
        else f"No component predicts {what}: its mean does.",
        facts=(
            *page.facts[:2],
            Fact("used", f"{fit.k:,}", which(fit)),
            Fact("R²", _numbers(fit.r2), "in the fit"),
            *held,
        ),
    )


def _numbers(values: Floats) -> str:
    return ", ".join(f"{value:.3f}" for value in np.asarray(values))


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
