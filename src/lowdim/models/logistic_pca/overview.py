"""What card, screen, JSON and page show of a logistic PCA."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest
from lowdim.models.logistic_pca.record import LINEAR, OPTIMAL, LogisticFit
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, MOST_BARS, Bar, Bars, Block, Fact, Number, Overview, SearchPath
from lowdim.views.plots.representations import leading
from lowdim.views.report.page import page_of
from lowdim.views.report.payload import Columns, Payload, Spectrum
from lowdim.views.report.sections import search_section
from lowdim.views.text.lines import percent
from lowdim.words import column_names, plural

MOST_COLUMNS = 4
"""Columns at most that are named for an axis, …"""

LEAST_ENTRY = 0.4
"""… if their entry is more than this share of the largest."""

FAMILIES = {
    "bernoulli": "coins: each entry is 1 with a chance of its own",
    "poisson": "counts: each entry has a mean of its own",
    "gaussian": "numbers with the same noise in every entry, which is PCA",
}


def overview(fit: LogisticFit) -> Overview:
    """What is said of axes in the space of natural parameters."""
    share, down = percent(fit.explained), fit.descent
    explain = f"{plural(fit.k, 'component')} explain{'s' * (fit.k == 1)} {share} of the deviance"
    return Overview(
        fit=fit,
        model="Logistic PCA",
        trust=view.search_trust(fit.reached, descent_in_words(fit)),
        kept=view.count_that(fit.k, "component", "explain", share),
        finding=explain,
        lead=f"{explain} of the columns' means.",
        in_file=f"logistic PCA, {view.count_that(fit.k, 'component', 'explain', share)}",
        axes=view.number_names("PC", fit.k),
        glance=view.shares_glance(fit.spreads, fit.k, "spread by component"),
        facts=(Fact("family", FAMILIES[fit.family]), Fact("steps", view.steps_in_words(down.passes, fit.reached))),
        screen=partial(_screen, fit),
        grows=None,
        story=partial(_story, fit),
        numbers=(
            Number("components", f"{fit.k:,}"),
            Number("deviance explained", share),
            Number("family", fit.family, FAMILIES[fit.family]),
        ),
        details=partial(_details, fit),
        proof={"change": down.change, "tol": down.tol, "passes": down.passes},
    )


def codes_in_words(fit: LogisticFit) -> str:
    """How rows get their codes."""
    if fit.encoder_name == OPTIMAL:
        return "the best ones of every row, by a convex problem"
    return "one product with a matrix learnt for it" if fit.encoder_name == LINEAR else "one product: a projection"


def descent_in_words(fit: LogisticFit) -> str:
    """How far the search came."""
    down = fit.descent
    word = "reached" if down.converged else "NOT reached"
    made = plural(down.passes, "pass", "es") if fit.encoder_name == OPTIMAL else plural(down.passes, "step")
    local = "" if fit.family == "gaussian" and not fit.missing else "; a local solution, as all are"
    return f"{word}: after {made} the last gained {down.change:.1e} of the deviance (asked {down.tol:g}){local}"


def drivers(fit: LogisticFit, axis: int) -> list[tuple[str, float]]:
    """Names of the columns that an axis is made of, largest first, with their entries."""
    return leading(fit.components[axis], column_names(fit), MOST_COLUMNS, LEAST_ENTRY).pairs


def _screen(fit: LogisticFit) -> tuple[Block, ...]:
    return (
        _axes(fit),
        BLANK,
        Fact("family", FAMILIES[fit.family]),
        Fact("codes", codes_in_words(fit)),
        Fact("accuracy", descent_in_words(fit)),
    )


def _axes(fit: LogisticFit) -> Bars:
    lines = [
        Bar((f"PC{i + 1}", f"{spread:.3g}"), spread, tuple(drivers(fit, i)))
        for i, spread in enumerate(fit.spreads[:MOST_BARS].tolist())
    ]
    if fit.k > MOST_BARS:
        text = f"{'more':<8}{plural(fit.k - MOST_BARS, 'more component')}"
        lines.append(Bar((), text=text, part="faint"))
    return Bars(f"{'':8}{'spread':<21}driven by", tuple(lines), "{:<8}{:<8} {bar:10}  ", 10)


def _story(fit: LogisticFit) -> tuple[Fact, ...]:
    return (
        Fact("data", fit.provenance.data),
        *view.missing_in_words(fit),
        Fact("family", FAMILIES[fit.family]),
        Fact("codes", codes_in_words(fit)),
        *view.solved_in_words(fit.provenance, "the data"),
        Fact("kept", f"{plural(fit.k, 'component')}, {percent(fit.explained)} of the deviance explained"),
        Fact("accuracy", descent_in_words(fit)),
    )


def _details(fit: LogisticFit) -> dict[str, Any]:
    return {
        "missing": fit.missing,
        "family": fit.family,
        "encoder": fit.encoder_name,
        "kept": {"components": fit.k, "explained_deviance": fit.explained},
        "deviance": {"value": fit.deviance, "without_axes": fit.null_deviance},
        "components": view.component_facts(
            name=view.number_names("PC", fit.k),
            spread=fit.spreads,
            share=fit.shares,
            driven_by=[view.column_facts(drivers(fit, i), "entry") for i in range(fit.k)],
        ),
    }


def search_path(fit: LogisticFit) -> SearchPath:
    """How the deviance fell."""
    step = "pass" if fit.encoder_name == OPTIMAL else "step"
    return SearchPath(fit.descent.path, "deviance and penalty", step, False, fit.reached)


# The page.

LINKS = {"bernoulli": "logistic", "poisson": "exp", "gaussian": "identity"}
"""Family → what turns a natural parameter into the expected entry."""


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of axes in the space of natural parameters, θ = bias + codes · axes."""
    fit, context, seen = model.fit_, asked.context, overview(model.fit_)
    said, p = seen.trust.sentence, fit.n_columns
    means, ones = context.column_means(p), np.ones(p)
    return page_of(
        replace(seen, trust=replace(seen.trust, sentence=f"{said}; codes are {codes_in_words(fit)}")),
        asked.scores(model),
        context,
        search_section(search_path(fit), said),
        spectrum=Spectrum(fit.shares, "squared natural parameters", context.choice),
        columns=Columns(column_names(fit), fit.components, means, ones, origin=fit.bias, link=LINKS[fit.family]),
    )
