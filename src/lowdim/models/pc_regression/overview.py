"""What card, screen, JSON and page show of a regression on components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.models.base.output import overview_of
from lowdim.models.base.report import PageRequest, ReportRows
from lowdim.models.linear.overview import linear_payload, spectrum_choice
from lowdim.models.pc_regression import figures
from lowdim.models.pc_regression.record import RegressionFit, Rival, Validation
from lowdim.models.pc_regression.tables import coefficient_columns
from lowdim.types import Floats
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, MOST_BARS, Bar, Bars, Block, Fact, Number, Overview
from lowdim.views.report import encode
from lowdim.views.report.page import replace_head
from lowdim.views.report.payload import Payload, RowColour, Section, colour_column
from lowdim.views.text.lines import percent, shortened
from lowdim.words import column_names, plural


def overview(fit: RegressionFit) -> Overview:
    """What is said of a regression; it can be trusted as far as its components."""
    space, names = overview_of(fit.axes), ", ".join(fit.names)
    components, predicts = plural(fit.k, "component"), "predicts" if fit.k == 1 else "predict"
    held = "nothing was held out" if fit.validation is None else f"Q² {numbers(fit.validation.q2)}"
    short = shortened(names, 30)
    return Overview(
        fit=fit,
        model="Principal component regression",
        trust=space.trust,
        kept=f"{shortened(names, 40)} from {picked_in_words(fit)}",
        finding=f"{components} {predicts} {short}" if fit.k else f"no component predicts {short}: its mean does",
        lead=f"{components} {predicts} {names}." if fit.k else f"No component predicts {names}: its mean does.",
        in_file=f"regression of {short} on {components}",
        axes=space.axes,
        glance=view.shares_glance(explained_of_responses(fit), fit.k, "explained of y, by component"),
        facts=(Fact("fit", f"R² {numbers(fit.r2)} in the rows fitted"), Fact("held out", held)),
        notes=() if fit.k else ("no component helps to predict: the model is the mean",),
        screen=partial(_screen, fit),
        grows=None,
        story=partial(_story, fit, space.trust.sentence),
        numbers=(
            Number("used", f"{fit.k:,}", picked_in_words(fit)),
            Number("R²", _digits(fit.r2), "in the fit"),
            *(() if fit.validation is None else (Number("Q²", _digits(fit.validation.q2), "of rows held out"),)),
        ),
        scaling=space.scaling,
        details=partial(_details, fit),
    )


def _digits(values: Any) -> str:
    return ", ".join(f"{value:.3f}" for value in np.asarray(values))


ALONE = "nothing: PCRegression(compare=True) judges least squares, ridge and PLS on the same folds"


def picked_in_words(fit: RegressionFit) -> str:
    """The components that are used."""
    if not fit.k:
        return "no component: the mean alone"
    share = percent(float(fit.axes.shares[fit.picked].sum()))
    names = plural(fit.k, "component")
    if list(fit.picked) != list(range(fit.k)):
        names += f" ({', '.join(f'PC{i + 1}' for i in fit.picked)})"
    return f"{names}, {share} of the variance of the columns"


def validation_in_words(found: Validation | None) -> str:
    """What held-out rows said, and whether they had a part in the choice."""
    if found is None:
        return "nothing was held out (cv=None)"
    how = "the rule chose within each fold" if found.nested else "the same folds chose, so a little too good"
    return f"Q² {numbers(found.q2)}, PRESS {numbers(found.press)} ({found.words}; {how})"


def _story(fit: RegressionFit, accuracy: str) -> tuple[Fact, ...]:
    every = fit.n_rows * fit.n_columns
    missing = Fact("missing", f"{fit.missing:,} of {every:,} values, filled by probabilistic PCA")
    return (
        Fact("data", fit.provenance.data),
        *((missing,) if fit.missing else ()),
        Fact("response", ", ".join(fit.names)),
        Fact("kept", picked_in_words(fit)),
        Fact("because", fit.reason),
        Fact("fit", f"R² {numbers(fit.r2)} in the rows fitted{_noise(fit)}"),
        Fact("held out", validation_in_words(fit.validation)),
        Fact("beside", "\n".join([*_table(fit.rivals), fit.rivals_words] if fit.rivals else [ALONE])),
        Fact("errors", f"of coefficients: {fit.basis}"),
        Fact("solver", fit.provenance.solver),
        Fact("accuracy", accuracy),
    )


def _screen(fit: RegressionFit) -> tuple[Block, ...]:
    title, *rivals = _table(fit.rivals) or [""]
    context = Bars(title, tuple(Bar((), text=text) for text in rivals))
    return (
        *_components(fit),
        Fact("because", fit.reason),
        Fact("fit", f"R² {numbers(fit.r2)} in the rows fitted{_noise(fit)}"),
        Fact("held out", validation_in_words(fit.validation)),
        *((BLANK, context, Fact("judged by", fit.rivals_words, part="faint")) if rivals else ()),
    )


def _components(fit: RegressionFit) -> tuple[Bars, ...]:
    """What each component says of the responses, and how much of the columns' variance it has."""
    if not fit.k:
        return ()
    said = explained_of_responses(fit)
    few = MOST_BARS - 1 if fit.rivals else MOST_BARS
    shown = np.sort(np.argsort(-said, kind="stable")[:few])
    lines = [
        Bar(
            (f"PC{fit.picked[i] + 1}", percent(float(said[i]))),
            float(said[i]),
            text=percent(float(fit.axes.shares[fit.picked[i]])),
        )
        for i in shown
    ]
    if fit.k > len(shown):
        rest, more = percent(float(np.delete(said, shown).sum())), plural(fit.k - len(shown), "more component")
        lines.append(Bar((), text=f"{'more':<8}{rest:<9} {more}", part="faint"))
    return (Bars(f"{'':8}{'explains of y':<24}of the columns", tuple(lines), "{:<8}{:<9} {bar:10}    ", 10),)


def explained_of_responses(fit: RegressionFit) -> NDArray[np.float64]:
    """(k,) share of the responses' squares that each component explains, the mean over those that vary."""
    total = np.where(fit.squares > 0, fit.squares, 1.0)
    varying = max(1, np.count_nonzero(fit.squares))
    return np.asarray((fit.loads**2 * fit.score_squares[:, None] / total).sum(axis=1) / varying)


def _table(rivals: tuple[Rival, ...]) -> list[str]:
    """Methods line by line; worse or better only where the difference is more than two standard errors."""
    if not rivals:
        return []
    lines = [f"{'':15}{'Q²':>7}  {'RMSE':>9}  chosen in the folds"]
    for one in rivals:
        sure = abs(one.difference) > 2 * one.difference_error
        told = "" if one.difference == 0 or not sure else f" ({'worse' if one.difference > 0 else 'better'})"
        errors = ", ".join(f"{value:.4g}" for value in one.rmse[:2])
        lines.append(f"{one.name:<15}{1 - one.error:>7.4f}  {errors:>9}  {one.chosen}{told}")
    return lines


def _noise(fit: RegressionFit) -> str:
    return f", residual deviation {numbers(np.sqrt(fit.residual_variance))}" if fit.freedom > 0 else ""


def numbers(values: Any) -> str:
    """Of the first responses."""
    shown = ", ".join(f"{value:.4g}" for value in values[:4])
    return shown if len(values) <= 4 else f"{shown}, …"


def _details(fit: RegressionFit) -> dict[str, Any]:
    found, columns = fit.validation, column_names(fit)
    return {
        "targets": list(fit.names),
        "missing": fit.missing,
        "kept": {"components": fit.k, "picked": [f"PC{i + 1}" for i in fit.picked], "rule": fit.rule},
        "because": fit.reason,
        "r2": fit.r2,
        "residual_std": np.sqrt(fit.residual_variance),
        "validation": None
        if found is None
        else {
            "q2": found.q2,
            "press": found.press,
            "folds": found.words,
            "chose_within_folds": found.nested,
            "error": found.error,
            "std_error": found.std_error,
            "rmse": found.rmse,
            "best": found.best,
            "within_one_std_error": found.within,
        },
        "rivals": [
            {
                "method": one.name,
                "q2": one.q2,
                "rmse": one.rmse,
                "chosen": one.chosen,
                "difference": one.difference,
                "difference_std_error": one.difference_error,
            }
            for one in fit.rivals
        ],
        "rivals_judged_by": fit.rivals_words,
        "intercept": fit.intercept,
        "coefficients": [dict(zip(columns, row, strict=True)) for row in fit.coefficients.tolist()],
        "standard_errors": _by_column(columns, None if fit.errors is None else fit.errors[:, 1:], fit),
        "standard_errors_basis": fit.basis,
        "standard_errors_given_axes": _by_column(columns, fit.coefficient_errors, fit),
    }


def _by_column(
    columns: Sequence[str], errors: NDArray[np.float64] | None, fit: RegressionFit
) -> list[dict[str, float]]:
    known = np.full((fit.m, len(columns)), np.nan) if errors is None else errors
    return [dict(zip(columns, row, strict=True)) for row in known.tolist()]


# The page.

# The page of a regression on components: that of the components, and what they predict.

LEVEL = 0.95
"""Of intervals."""


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of components, with scores (n, components) of rows, and of what they predict."""
    fit, context, rows = model.fit_, asked.context, asked.rows
    predicted = _predictions(model, asked.read, asked.y)
    section = regression_section(fit, coefficient_columns(fit, LEVEL), LEVEL, predicted)
    context = replace(
        context,
        choice=context.choice or spectrum_choice(fit.axes),
        colours=() if rows is None else (*rows.colours, *_predicted(model, rows)),
        sections=(section, *context.sections),
    )
    scores = None if rows is None else _all_scores(model, rows)
    return replace_head(overview(fit), linear_payload(fit.axes, scores, context))


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


def _predictions(model: Any, rows: ReportRows | None, y: Any) -> tuple[figures.Predictions, ...]:
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
    return figures.predictions_of(fit, measured, predicted, aside)


# Coefficients, how many components predict best, predictions of held-out rows, and other methods.

MOST_COLUMNS = 40
"""Columns whose coefficients are drawn one by one: those clearest of zero."""

MOST_POINTS = 5_000
"""Rows whose predictions are drawn."""


def regression_section(
    fit: RegressionFit, table: Mapping[str, Any], level: float, predictions: Sequence[figures.Predictions]
) -> Section:
    """One card for each response, from the table of coefficients with their intervals."""
    return Section(
        "regression",
        "What is predicted",
        {
            "level": level,
            "reason": fit.reason,
            "basis": figures.fit_coefficients(fit, 0, table, level, MOST_COLUMNS).basis,
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
    fit: RegressionFit, j: int, table: Mapping[str, Any], level: float, found: figures.Predictions | None
) -> dict[str, Any]:
    """Coefficients are those of the table, the intercept first; `drawn` are places among them."""
    head = "" if fit.m == 1 else f"{fit.names[j]} "
    drawn, spreads = figures.fit_coefficients(fit, j, table, level, MOST_COLUMNS), figures.column_spreads(fit)
    _, lower, upper, _ = figures.shown_ends(fit, j, table, level)
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


def _points(found: figures.Predictions) -> dict[str, Any]:
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
    found = figures.validation_curve(fit)
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
