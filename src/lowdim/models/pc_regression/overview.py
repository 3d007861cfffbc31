"""A regression on components in words, with least squares, ridge and PLS beside it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.base.overview import overview_of
from lowdim.models.pc_regression.record import RegressionFit, Rival, Validation
from lowdim.results.certificate import counted
from lowdim.views.overview import BLANK, MOST_BARS, Bar, Bars, Block, Fact, Overview, Said, shares_glance
from lowdim.views.text.lines import percent, shortened
from lowdim.words import column_names


def overview(fit: RegressionFit) -> Overview:
    """What is said of a regression; it can be trusted as far as its components."""
    space, names = overview_of(fit.axes), ", ".join(fit.names)
    components, predicts = counted(fit.k, "component"), "predicts" if fit.k == 1 else "predict"
    held = "nothing was held out" if fit.validation is None else f"Q² {numbers(fit.validation.q2)}"
    short = shortened(names, 30)
    return Overview(
        fit=fit,
        model="Principal component regression",
        trust=space.trust,
        kept=f"{shortened(names, 40)} from {which(fit)}",
        finding=f"{components} {predicts} {short}" if fit.k else f"no component predicts {short}: its mean does",
        lead=f"{components} {predicts} {names}." if fit.k else f"No component predicts {names}: its mean does.",
        in_file=f"regression of {short} on {components}",
        axes=space.axes,
        glance=shares_glance(said_of_responses(fit), fit.k, "explained of y, by component"),
        facts=(Said("fit", f"R² {numbers(fit.r2)} in the rows fitted"), Said("held out", held)),
        notes=() if fit.k else ("no component helps to predict: the model is the mean",),
        screen=partial(_screen, fit),
        grows=None,
        story=partial(_story, fit, space.trust.sentence),
        numbers=(
            Fact("used", f"{fit.k:,}", which(fit)),
            Fact("R²", _digits(fit.r2), "in the fit"),
            *(() if fit.validation is None else (Fact("Q²", _digits(fit.validation.q2), "of rows held out"),)),
        ),
        scaling=space.scaling,
        details=partial(_details, fit),
    )


def _digits(values: Any) -> str:
    return ", ".join(f"{value:.3f}" for value in np.asarray(values))


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


def _story(fit: RegressionFit, accuracy: str) -> tuple[Said, ...]:
    every = fit.n_rows * fit.n_columns
    missing = Said("missing", f"{fit.missing:,} of {every:,} values, filled by probabilistic PCA")
    return (
        Said("data", fit.provenance.data),
        *((missing,) if fit.missing else ()),
        Said("response", ", ".join(fit.names)),
        Said("kept", which(fit)),
        Said("because", fit.reason),
        Said("fit", f"R² {numbers(fit.r2)} in the rows fitted{_noise(fit)}"),
        Said("held out", validation_in_words(fit.validation)),
        Said("beside", "\n".join([*_table(fit.rivals), fit.rivals_words] if fit.rivals else [ALONE])),
        Said("errors", f"of coefficients: {fit.basis}"),
        Said("solver", fit.provenance.solver),
        Said("accuracy", accuracy),
    )


def _screen(fit: RegressionFit) -> tuple[Block, ...]:
    title, *rivals = _table(fit.rivals) or [""]
    beside = Bars(title, tuple(Bar((), text=text) for text in rivals))
    return (
        *_components(fit),
        Said("because", fit.reason),
        Said("fit", f"R² {numbers(fit.r2)} in the rows fitted{_noise(fit)}"),
        Said("held out", validation_in_words(fit.validation)),
        *((BLANK, beside, Said("judged by", fit.rivals_words, part="faint")) if rivals else ()),
    )


def _components(fit: RegressionFit) -> tuple[Bars, ...]:
    """What each component says of the responses, and how much of the columns' variance it has."""
    if not fit.k:
        return ()
    said = said_of_responses(fit)
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
        rest, more = percent(float(np.delete(said, shown).sum())), counted(fit.k - len(shown), "more component")
        lines.append(Bar((), text=f"{'more':<8}{rest:<9} {more}", part="faint"))
    return (Bars(f"{'':8}{'explains of y':<24}of the columns", tuple(lines), "{:<8}{:<9} {bar:10}    ", 10),)


def said_of_responses(fit: RegressionFit) -> NDArray[np.float64]:
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
