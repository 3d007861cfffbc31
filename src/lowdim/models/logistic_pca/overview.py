"""A logistic PCA in words, and on one screen."""

from __future__ import annotations

from typing import Any

from lowdim.models.logistic_pca.record import LINEAR, OPTIMAL, LogisticFit
from lowdim.results.certificate import counted
from lowdim.views.plots.representations import leading
from lowdim.views.text.explain import size
from lowdim.views.text.lines import Line, bar, fitting, percent, signed_name, wrapped
from lowdim.views.text.screen import MOST_COMPONENTS, About, fit_screen, model_screen
from lowdim.words import column_names

BAR = 10

MOST_COLUMNS = 4
"""Columns at most that are named for an axis, …"""

FAINT = 0.4
"""… if their entry is more than this share of the largest."""

FAMILIES = {
    "bernoulli": "coins: each entry is 1 with a chance of its own",
    "poisson": "counts: each entry has a mean of its own",
    "gaussian": "numbers with the same noise in every entry, which is PCA",
}


def explain_logistic(fit: LogisticFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    lines = [f"data       {made.data}"]
    if fit.missing:
        lines.append(f"missing    {fit.missing:,} of {fit.n_rows * fit.n_columns:,} values")
    lines += [
        f"family     {FAMILIES[fit.family]}",
        f"codes      {codes_in_words(fit)}",
        f"solver     {made.solver}",
        f"because    {made.reason}",
        f"read       {counted(made.passes, 'pass', 'es')} over the rows",
        f"memory     about {size(made.memory)} beside the data",
        f"kept       {counted(fit.k, 'component')}, {percent(fit.explained)} of the deviance explained",
        f"accuracy   {descent_in_words(fit)}",
    ]
    return "\n".join(lines)


def codes_in_words(fit: LogisticFit) -> str:
    """How rows get their codes."""
    if fit.encoder_name == OPTIMAL:
        return "the best ones of every row, by a convex problem"
    return "one product with a matrix learnt for it" if fit.encoder_name == LINEAR else "one product: a projection"


def descent_in_words(fit: LogisticFit) -> str:
    """How far the search came."""
    down = fit.descent
    word = "reached" if down.converged else "NOT reached"
    made = counted(down.passes, "pass", "es") if fit.encoder_name == OPTIMAL else counted(down.passes, "step")
    local = "" if fit.family == "gaussian" and not fit.missing else "; a local solution, as all are"
    return f"{word}: after {made} the last gained {down.change:.1e} of the deviance (asked {down.tol:g}){local}"


def loading(fit: LogisticFit, axis: int) -> list[tuple[str, float]]:
    """Names of the columns that an axis is made of, largest first, with their entries."""
    return leading(fit.components[axis], column_names(fit), MOST_COLUMNS, FAINT).pairs


def logistic_summary(fit: LogisticFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters."""
    explain = "explains" if fit.k == 1 else "explain"
    title = f"{counted(fit.k, 'component')} {explain} {percent(fit.explained)} of the deviance"
    return fit_screen(fit, about, title, _body(fit, width), width)


def logistic_model_lines(name: str, fit: LogisticFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"logistic PCA, {counted(fit.k, 'component')} that explain {percent(fit.explained)}"
    return model_screen(name, fit, kept, _body(fit, width), width)


def logistic_facts(fit: LogisticFit) -> dict[str, Any]:
    """The same as plain facts."""
    down = fit.descent
    return {
        "rows": fit.n_rows,
        "columns": list(column_names(fit)),
        "missing": fit.missing,
        "family": fit.family,
        "encoder": fit.encoder_name,
        "kept": {"components": fit.k, "explained_deviance": fit.explained},
        "deviance": {"value": fit.deviance, "without_axes": fit.null_deviance},
        "components": [
            {
                "name": f"PC{i + 1}",
                "spread": float(fit.spreads[i]),
                "share": float(fit.shares[i]),
                "driven_by": [{"column": name, "entry": entry} for name, entry in loading(fit, i)],
            }
            for i in range(fit.k)
        ],
        "certificate": {
            "reached": fit.reached,
            "sentence": descent_in_words(fit),
            "change": down.change,
            "tol": down.tol,
            "passes": down.passes,
        },
    }


def _body(fit: LogisticFit, width: int) -> list[Line]:
    return [
        *_axes(fit, width),
        Line(""),
        *wrapped("family    ", FAMILIES[fit.family], width),
        *wrapped("codes     ", codes_in_words(fit), width),
        *wrapped("accuracy  ", descent_in_words(fit), width),
    ]


def _axes(fit: LogisticFit, width: int) -> list[Line]:
    shown = min(fit.k, MOST_COMPONENTS)
    largest = max(float(fit.spreads.max(initial=0.0)), 1e-300)
    lines = [Line(f"{'':8}{'spread':<21}driven by", "faint")]
    for i in range(shown):
        spread = float(fit.spreads[i])
        head = f"{f'PC{i + 1}':<8}{spread:<8.3g} {bar(spread / largest, BAR):<{BAR}}  "
        lines.append(Line(head + _driven_by(fit, i, max(10, width - len(head))), "bar"))
    if fit.k > shown:
        lines.append(Line(f"{'more':<8}{counted(fit.k - shown, 'more component')}", "faint"))
    return lines


def _driven_by(fit: LogisticFit, axis: int, room: int) -> str:
    return fitting((signed_name(name, entry) for name, entry in loading(fit, axis)), room)
