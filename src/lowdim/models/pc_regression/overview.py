"""A regression on components in words, and on one screen, with least squares, ridge and PLS beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.pc_regression.record import RegressionFit, Rival, Validation
from lowdim.results.certificate import counted
from lowdim.views.text.lines import Line, bar, percent, shortened, wrapped
from lowdim.views.text.screen import MOST_COMPONENTS, About, accuracy, fit_screen, model_screen
from lowdim.words import column_names

BAR = 10


def explain_regression(fit: RegressionFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    lines = [f"data       {made.data}"]
    if fit.missing:
        every = fit.n_rows * fit.n_columns
        lines.append(f"missing    {fit.missing:,} of {every:,} values, filled by probabilistic PCA")
    lines += [
        f"response   {', '.join(fit.names)}",
        f"kept       {which(fit)}",
        f"because    {fit.reason}",
        f"fit        R² {numbers(fit.r2)} in the rows fitted{_noise(fit)}",
        f"held out   {validation_in_words(fit.validation)}",
        "beside     " + "\n           ".join([*_table(fit.rivals), fit.rivals_words] if fit.rivals else [ALONE]),
        f"errors     of coefficients: {fit.basis}",
        f"solver     {made.solver}",
        f"accuracy   {accuracy(fit.axes)}",
    ]
    return "\n".join(lines)


ALONE = "nothing: PCRegression(compare=True) judges least squares, ridge and PLS on the same folds"


def which(fit: RegressionFit) -> str:
    """The components that are used."""
    if not fit.k:
        return "no component: the mean alone"
    share = percent(float(fit.axes.shares[fit.picked].sum()))
    names = counted(fit.k, "component")
    if list(fit.picked) != list(range(fit.k)):
        names += f" ({', '.join(f'PC{i + 1}' for i in fit.picked)})"
    return f"{names}, {share} of the variance of the columns"


def validation_in_words(found: Validation | None) -> str:
    """What held-out rows said, and whether they had a part in the choice."""
    if found is None:
        return "nothing was held out (cv=None)"
    judged = "the rule chose within each fold" if found.nested else "the same folds chose, so a little too good"
    return f"Q² {numbers(found.q2)}, PRESS {numbers(found.press)} ({found.words}; {judged})"


def regression_summary(fit: RegressionFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters."""
    predict = "predicts" if fit.k == 1 else "predict"
    what = shortened(", ".join(fit.names), 30)
    title = (
        f"{counted(fit.k, 'component')} {predict} {what}" if fit.k else f"no component predicts {what}: its mean does"
    )
    return fit_screen(fit, about, title, _body(fit, width), width)


def regression_model_lines(name: str, fit: RegressionFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"regression of {shortened(', '.join(fit.names), 30)} on {counted(fit.k, 'component')}"
    return model_screen(name, fit, kept, _body(fit, width), width)


def regression_facts(fit: RegressionFit) -> dict[str, Any]:
    """The same as plain facts."""
    found = fit.validation
    columns = column_names(fit)
    return {
        "rows": fit.n_rows,
        "columns": list(columns),
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
        "certificate": {"reached": fit.reached, "sentence": accuracy(fit.axes)},
    }


def _by_column(
    columns: Sequence[str], errors: NDArray[np.float64] | None, fit: RegressionFit
) -> list[dict[str, float]]:
    known = np.full((fit.m, len(columns)), np.nan) if errors is None else errors
    return [dict(zip(columns, row, strict=True)) for row in known.tolist()]


def _body(fit: RegressionFit, width: int) -> list[Line]:
    judged = wrapped("judged by ", fit.rivals_words, width, "faint") if fit.rivals else []
    beside = [Line(text, "bar" if i else "faint") for i, text in enumerate(_table(fit.rivals))]
    return [
        *_components(fit),
        *wrapped("because   ", fit.reason, width),
        *wrapped("fit       ", f"R² {numbers(fit.r2)} in the rows fitted{_noise(fit)}", width),
        *wrapped("held out  ", validation_in_words(fit.validation), width),
        *([Line(""), *beside, *judged] if beside else []),
    ]


def said_of_responses(fit: RegressionFit) -> NDArray[np.float64]:
    """(k,) share of the responses' squares that each component explains, the mean over those that vary."""
    total = np.where(fit.squares > 0, fit.squares, 1.0)
    varying = max(1, np.count_nonzero(fit.squares))
    return np.asarray((fit.loads**2 * fit.score_squares[:, None] / total).sum(axis=1) / varying)


def _components(fit: RegressionFit) -> list[Line]:
    """What each component says of the responses, and how much of the columns' variance it has."""
    if not fit.k:
        return []
    said = said_of_responses(fit)
    largest = max(float(said.max()), 1e-300)
    few = MOST_COMPONENTS - 1 if fit.rivals else MOST_COMPONENTS
    shown = np.sort(np.argsort(-said, kind="stable")[:few])
    lines = [Line(f"{'':8}{'explains of y':<24}of the columns", "faint")]
    for i in shown:
        share = percent(float(fit.axes.shares[fit.picked[i]]))
        head = f"{f'PC{fit.picked[i] + 1}':<8}{percent(float(said[i])):<9} {bar(said[i] / largest, BAR):<{BAR}}    "
        lines.append(Line(f"{head}{share}", "bar"))
    if fit.k > len(shown):
        rest = percent(float(np.delete(said, shown).sum()))
        lines.append(Line(f"{'more':<8}{rest:<9} {counted(fit.k - len(shown), 'more component')}", "faint"))
    return lines


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
