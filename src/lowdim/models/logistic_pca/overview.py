"""A logistic PCA in words."""

from __future__ import annotations

from functools import partial
from typing import Any

from lowdim.models.logistic_pca.record import LINEAR, OPTIMAL, LogisticFit
from lowdim.results.certificate import counted
from lowdim.views.overview import (
    BLANK,
    MOST_BARS,
    Bar,
    Bars,
    Block,
    Fact,
    Overview,
    Said,
    missing_in_words,
    numbered,
    shares_glance,
    sought,
    steps_in_words,
    that,
)
from lowdim.views.plots.paths import SearchPath, path_of
from lowdim.views.plots.representations import leading
from lowdim.views.text.lines import percent, size
from lowdim.words import column_names

MOST_COLUMNS = 4
"""Columns at most that are named for an axis, …"""

FAINT = 0.4
"""… if their entry is more than this share of the largest."""

FAMILIES = {
    "bernoulli": "coins: each entry is 1 with a chance of its own",
    "poisson": "counts: each entry has a mean of its own",
    "gaussian": "numbers with the same noise in every entry, which is PCA",
}


def overview(fit: LogisticFit) -> Overview:
    """What is said of axes in the space of natural parameters."""
    share, down = percent(fit.explained), fit.descent
    explain = f"{counted(fit.k, 'component')} explain{'s' * (fit.k == 1)} {share} of the deviance"
    return Overview(
        fit=fit,
        model="Logistic PCA",
        trust=sought(fit.reached, descent_in_words(fit)),
        kept=that(fit.k, "component", "explain", share),
        finding=explain,
        lead=f"{explain} of the columns' means.",
        in_file=f"logistic PCA, {that(fit.k, 'component', 'explain', share)}",
        axes=numbered("PC", fit.k),
        glance=shares_glance(fit.spreads, fit.k, "spread by component"),
        facts=(Said("family", FAMILIES[fit.family]), Said("steps", steps_in_words(down.passes, fit.reached))),
        screen=partial(_screen, fit),
        grows=None,
        story=partial(_story, fit),
        numbers=(
            Fact("components", f"{fit.k:,}"),
            Fact("deviance explained", share),
            Fact("family", fit.family, FAMILIES[fit.family]),
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
    made = counted(down.passes, "pass", "es") if fit.encoder_name == OPTIMAL else counted(down.passes, "step")
    local = "" if fit.family == "gaussian" and not fit.missing else "; a local solution, as all are"
    return f"{word}: after {made} the last gained {down.change:.1e} of the deviance (asked {down.tol:g}){local}"


def loading(fit: LogisticFit, axis: int) -> list[tuple[str, float]]:
    """Names of the columns that an axis is made of, largest first, with their entries."""
    return leading(fit.components[axis], column_names(fit), MOST_COLUMNS, FAINT).pairs


def _screen(fit: LogisticFit) -> tuple[Block, ...]:
    return (
        _axes(fit),
        BLANK,
        Said("family", FAMILIES[fit.family]),
        Said("codes", codes_in_words(fit)),
        Said("accuracy", descent_in_words(fit)),
    )


def _axes(fit: LogisticFit) -> Bars:
    lines = [
        Bar((f"PC{i + 1}", f"{spread:.3g}"), spread, tuple(loading(fit, i)))
        for i, spread in enumerate(fit.spreads[:MOST_BARS].tolist())
    ]
    if fit.k > MOST_BARS:
        text = f"{'more':<8}{counted(fit.k - MOST_BARS, 'more component')}"
        lines.append(Bar((), text=text, part="faint"))
    return Bars(f"{'':8}{'spread':<21}driven by", tuple(lines), "{:<8}{:<8} {bar:10}  ", 10)


def _story(fit: LogisticFit) -> tuple[Said, ...]:
    made = fit.provenance
    return (
        Said("data", made.data),
        *missing_in_words(fit),
        Said("family", FAMILIES[fit.family]),
        Said("codes", codes_in_words(fit)),
        Said("solver", made.solver),
        Said("because", made.reason),
        Said("read", f"{counted(made.passes, 'pass', 'es')} over the rows"),
        Said("memory", f"about {size(made.memory)} beside the data"),
        Said("kept", f"{counted(fit.k, 'component')}, {percent(fit.explained)} of the deviance explained"),
        Said("accuracy", descent_in_words(fit)),
    )


def _details(fit: LogisticFit) -> dict[str, Any]:
    return {
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
    }


def search_path(fit: LogisticFit) -> SearchPath:
    """How the deviance fell."""
    step = "pass" if fit.encoder_name == OPTIMAL else "step"
    return path_of(fit.descent.path, "deviance and penalty", step, False, fit.reached)
