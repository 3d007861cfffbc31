"""What card, screen, JSON and page show of a non-negative factorisation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest
from lowdim.models.nmf.figures import column_shares
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, MOST_BARS, Bar, Bars, Block, Fact, Number, Overview, SearchPath
from lowdim.views.plots.representations import leading, tile_picture
from lowdim.views.report import encode
from lowdim.views.report.page import page_of
from lowdim.views.report.payload import Columns, Payload, Section
from lowdim.views.report.sections import MOST_PARTS, row_looks, search_section, section_of_parts
from lowdim.views.text.lines import percent
from lowdim.words import column_names, plural

MOST_COLUMNS = 8
"""Columns at most that are named for a part, …"""

FAINT = 0.1
"""… if their entry is more than this share of the largest."""

ROUNDING = 1e-13
"""KKT residual that is rounding."""


def overview(fit: NonNegativeFit) -> Overview:
    """What is said of parts."""
    parts, explain = plural(fit.k, "part"), f"explain{'s' * (fit.k == 1)} {percent(fit.explained)} of the deviance"
    return Overview(
        fit=fit,
        model="Non-negative matrix factorisation",
        trust=view.search_trust(fit.reached, descent_in_words(fit)),
        kept=view.count_that(fit.k, "part", "explain", percent(fit.explained)),
        finding=f"{parts} {explain}",
        lead=f"{parts} that only add up {explain}.",
        axes=view.number_names("part ", fit.k),
        glance=view.shares_glance(fit.masses, fit.k, "share by part"),
        facts=(Fact("loss", loss_in_words(fit)), Fact("steps", view.steps_in_words(fit.descent.steps, fit.reached))),
        screen=partial(_screen, fit),
        grows="partial_fit",
        story=partial(_story, fit),
        numbers=(
            Number("parts", f"{fit.k:,}"),
            Number("deviance explained", percent(fit.explained), f"{fit.loss_name} loss"),
        ),
        details=partial(_details, fit),
        proof={"kkt_residual": fit.descent.residual, "tol": fit.descent.tol, "steps": fit.descent.steps},
    )


def loss_in_words(fit: NonNegativeFit) -> str:
    """What was minimised, and what is left of it."""
    penalties = "" if fit.penalties.none else f", alpha_W {fit.penalties.alpha_W:g}, alpha_H {fit.penalties.alpha_H:g}"
    return f"{fit.loss_function.described}: {fit.loss:.6g}{penalties}"


def sparseness_in_words(fit: NonNegativeFit) -> str:
    """How few entries parts and codes are made of."""
    parts, codes = (
        float(one[np.isfinite(one)].mean()) if np.isfinite(one).any() else float("nan")
        for one in (fit.sparseness, fit.codes.sparseness)
    )
    said = f"Hoyer's sparseness {parts:.2f} of the parts, {codes:.2f} of their codes (0: all alike, 1: one alone)"
    return said


def stability_in_words(fit: NonNegativeFit) -> str:
    """How far other starts found the same."""
    if fit.stability is None:
        return "one start only: n_init says what others find"
    return f"other starts find parts with a cosine of {_stable(fit)}; consensus on rows {fit.consensus:.2f} (1: clear)"


def descent_in_words(fit: NonNegativeFit) -> str:
    """How far the search came."""
    down = fit.descent
    if down.note:
        return f"untrusted: {down.note}"
    if fit.past.batches > 1:
        return f"{plural(down.steps, 'batch', 'es')} seen once each: as good as a stream allows"
    if down.residual <= ROUNDING:
        return f"reached: after {plural(down.steps, 'step')} the KKT residual is nothing but rounding"
    word = "reached" if down.converged else "NOT reached"
    return (
        f"{word}: after {plural(down.steps, 'step')} the KKT residual is {down.residual:.1e} (asked {down.tol:g}); a "
        "local solution, as all are"
    )


def made_of(fit: NonNegativeFit, part: int) -> list[tuple[str, float]]:
    """Names of the columns that make up a part, largest first, with their shares of it."""
    return leading(column_shares(fit.components[part]), column_names(fit), MOST_COLUMNS, FAINT).pairs


def _stable(fit: NonNegativeFit) -> str:
    assert fit.stability is not None
    return f"{float(fit.stability.min()):.2f} to {float(fit.stability.max()):.2f}"


def _screen(fit: NonNegativeFit) -> tuple[Block, ...]:
    return (
        _parts(fit),
        BLANK,
        Fact("loss", loss_in_words(fit)),
        Fact("sparse", sparseness_in_words(fit)),
        Fact("accuracy", descent_in_words(fit)),
    )


def _parts(fit: NonNegativeFit) -> Bars:
    made, shown = [made_of(fit, i) for i in range(min(fit.k, MOST_BARS))], fit.masses[:MOST_BARS].tolist()
    lines = [
        Bar((f"part {i + 1}", percent(shown[i])), shown[i], tuple(made[i]), "" if made[i] else "nothing")
        for i in range(len(shown))
    ]
    if fit.k > MOST_BARS:
        rest, more = percent(float(fit.masses[MOST_BARS:].sum())), plural(fit.k - MOST_BARS, "more part")
        lines.append(Bar((), text=f"{'more':<8}{rest:<8} {more}", part="faint"))
    return Bars(f"{'':8}{'share':<21}made of", tuple(lines), "{:<8}{:<8} {bar:10}  ", 10, signed=False)


def _story(fit: NonNegativeFit) -> tuple[Fact, ...]:
    made = fit.provenance
    return (
        Fact("data", made.data),
        *view.missing_in_words(fit),
        Fact("loss", loss_in_words(fit)),
        *view.solved_in_words(made, "the data", over=""),
        Fact("kept", f"{plural(fit.k, 'part')}, {percent(fit.explained)} of the deviance explained"),
        Fact("sparse", sparseness_in_words(fit)),
        Fact("stable", stability_in_words(fit)),
        Fact("accuracy", descent_in_words(fit)),
    )


def _details(fit: NonNegativeFit) -> dict[str, Any]:
    return {
        "missing": fit.missing,
        "loss": {"name": fit.loss_name, "beta": fit.beta, "value": fit.loss, "without_parts": fit.null_loss},
        "kept": {"components": fit.k, "explained_deviance": fit.explained},
        "consensus": fit.consensus,
        "components": view.component_facts(
            name=view.number_names("part", fit.k),
            share=fit.masses,
            sparseness=fit.sparseness,
            code_sparseness=fit.codes.sparseness,
            stability=[None] * fit.k if fit.stability is None else fit.stability,
            made_of=[view.column_facts(made_of(fit, i), "share") for i in range(fit.k)],
        ),
    }


def search_path(fit: NonNegativeFit) -> SearchPath:
    """How the loss fell."""
    return SearchPath(fit.descent.path, f"loss ({fit.loss_name})", "look", False, fit.reached)


# The page.


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of parts and of the codes (n, k) of rows."""
    fit, context, seen = model.fit_, asked.context, overview(model.fit_)
    names, p = column_names(fit), fit.n_columns
    return page_of(
        seen,
        asked.scores(model),
        context,
        parts_section(fit, names, seen.axes, context.picture),
        search_section(search_path(fit), f"{loss_in_words(fit)}. {sparseness_in_words(fit)}."),
        columns=Columns(
            names, fit.components, context.column_means(p), np.ones(p), entry="weight", signed=False, origin=np.zeros(p)
        ),
    )


def parts_section(
    fit: NonNegativeFit, columns: Sequence[str], axes: Sequence[str], shape: tuple[int, ...] | None
) -> Section:
    """Each part with its share of all that is fitted, the one with most first."""
    order, rows = np.argsort(-fit.masses, kind="stable"), column_shares(fit.components)
    shown = [
        {
            "name": axes[i],
            "share": encode.number(float(fit.masses[i])),
            "sparseness": encode.number(float(fit.sparseness[i])),
            "stability": None if fit.stability is None else encode.number(float(fit.stability[i])),
            **row_looks(rows[i], columns, None if shape is None else tile_picture(rows[i], shape)),
        }
        for i in order[:MOST_PARTS]
    ]
    return section_of_parts("What the parts are made of", "part", "share of the part", shown, fit.k, signed=False)
