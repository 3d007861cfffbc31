"""What card, screen, JSON and page show of a mixture."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest, filled_section
from lowdim.models.ppca_mixture.figures import clusters
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.vector_quantizer.overview import against_groups, cluster_bars, clusters_section
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, Block, Fact, Number, Overview, SearchPath
from lowdim.views.report.page import page_of
from lowdim.views.report.payload import Payload
from lowdim.views.report.sections import search_section
from lowdim.words import column_names, plural


def overview(fit: MixtureFit) -> Overview:
    """What is said of several probabilistic PCAs."""
    c, _, k = fit.loadings.shape
    each = plural(k, "component")
    kept = f"{plural(c, 'cluster')} of {each}"
    noise = view.noise_in_words(float(fit.noise.min()), float(fit.noise.max()), bool((fit.scale != 1).any()))
    return Overview(
        fit=fit,
        model="Mixture of probabilistic PCAs",
        trust=view.search_trust(fit.reached, search_in_words(fit)),
        kept=f"{kept}, BIC {fit.bic:.6g}",
        finding=kept,
        lead=f"{plural(c, 'group')} of rows, each with {each} of its own.",
        in_file=f"PPCAMixture, {kept}",
        glance=view.shares_glance(np.sort(fit.weights)[::-1], c, "rows by cluster"),
        facts=(Fact("noise", noise), Fact("steps", view.steps_in_words(len(fit.path), fit.reached))),
        screen=partial(_screen, fit),
        story=partial(_story, fit),
        numbers=(
            Number("groups", f"{c:,}", f"{each} each"),
            Number("log-likelihood", f"{fit.loglik:,.6g}".replace("-", "−"), "in the data's units"),
        ),
        details=partial(_details, fit),
    )


def search_in_words(fit: MixtureFit) -> str:
    """How the search ended."""
    how = "EM stood still" if fit.reached else "NOT reached: EM was stopped"
    return f"{how} after {plural(len(fit.path), 'step')}; other starts may end elsewhere"


def _screen(fit: MixtureFit) -> tuple[Block, ...]:
    return (
        cluster_bars(clusters(fit), column_names(fit), "cluster", "cluster"),
        BLANK,
        Fact("fit", f"log-likelihood {fit.loglik:,.6g}, BIC {fit.bic:,.6g}"),
        Fact("accuracy", search_in_words(fit)),
    )


def _story(fit: MixtureFit) -> tuple[Fact, ...]:
    c, p, k = fit.loadings.shape
    shares = ", ".join(f"{share:.1%}" for share in sorted(fit.weights, reverse=True))
    state = "stood still" if fit.reached else "was stopped"
    return (
        Fact("data", f"{fit.n_rows:,} rows × {p:,} columns"),
        Fact("model", f"{plural(c, 'cluster')} with {plural(k, 'component')} each: {shares} of the rows"),
        Fact("solver", f"EM over the observed entries, {state} after {len(fit.path)} steps"),
        Fact("likelihood", f"{fit.loglik:.6g}, BIC {fit.bic:.6g}"),
    )


def _details(fit: MixtureFit) -> dict[str, Any]:
    found = clusters(fit)
    return {
        "kept": {"clusters": len(fit.weights), "components": fit.loadings.shape[2]},
        "log_likelihood": fit.loglik,
        "bic": fit.bic,
        "clusters": view.component_facts(share_of_rows=found.shares, noise=found.noise, mean=found.centres),
    }


def search_path(fit: MixtureFit) -> SearchPath:
    """How the likelihood rose."""
    return SearchPath(fit.path, "log-likelihood of what was observed", "step", True, fit.reached)


# The page.


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of several probabilistic PCAs."""
    fit, noun, rows = model.fit_, "group", asked.read
    note = f"Each group has {plural(fit.loadings.shape[2], 'component')} of its own, and a noise of its own."
    groups = clusters_section(clusters(fit), column_names(fit), asked.context.picture, noun, note)
    said = f"EM took {plural(len(fit.path), 'step')}; BIC {fit.bic:.6g}"
    context = asked.with_sections(*against_groups(rows, noun, model.predict), *filled_section(model, rows))
    return page_of(overview(fit), None, context, groups, search_section(search_path(fit), said))
