"""A mixture of probabilistic PCAs in words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.vector_quantizer.figures import clusters
from lowdim.models.vector_quantizer.overview import cluster_bars
from lowdim.results.certificate import counted
from lowdim.views.overview import (
    BLANK,
    Block,
    Fact,
    Overview,
    Said,
    noise_in_words,
    shares_glance,
    sought,
    steps_in_words,
)
from lowdim.views.plots.paths import SearchPath, path_of
from lowdim.words import column_names


def overview(fit: MixtureFit) -> Overview:
    """What is said of several probabilistic PCAs."""
    c, _, k = fit.loadings.shape
    each = counted(k, "component")
    kept = f"{counted(c, 'cluster')} of {each}"
    noise = noise_in_words(float(fit.noise.min()), float(fit.noise.max()), bool((fit.scale != 1).any()))
    return Overview(
        fit=fit,
        model="Mixture of probabilistic PCAs",
        trust=sought(fit.reached, standing(fit)),
        kept=f"{kept}, BIC {fit.bic:.6g}",
        finding=kept,
        lead=f"{counted(c, 'group')} of rows, each with {each} of its own.",
        in_file=f"PPCAMixture, {kept}",
        glance=shares_glance(np.sort(fit.weights)[::-1], c, "rows by cluster"),
        facts=(Said("noise", noise), Said("steps", steps_in_words(len(fit.path), fit.reached))),
        screen=partial(_screen, fit),
        story=partial(_story, fit),
        numbers=(
            Fact("groups", f"{c:,}", f"{each} each"),
            Fact("log-likelihood", f"{fit.loglik:,.6g}".replace("-", "−"), "in the data's units"),
        ),
        details=partial(_details, fit),
    )


def standing(fit: MixtureFit) -> str:
    """How the search ended."""
    how = "EM stood still" if fit.reached else "NOT reached: EM was stopped"
    return f"{how} after {counted(len(fit.path), 'step')}; other starts may end elsewhere"


def _screen(fit: MixtureFit) -> tuple[Block, ...]:
    return (
        cluster_bars(clusters(fit), column_names(fit), "cluster", "cluster"),
        BLANK,
        Said("fit", f"log-likelihood {fit.loglik:,.6g}, BIC {fit.bic:,.6g}"),
        Said("accuracy", standing(fit)),
    )


def _story(fit: MixtureFit) -> tuple[Said, ...]:
    c, p, k = fit.loadings.shape
    shares = ", ".join(f"{share:.1%}" for share in sorted(fit.weights, reverse=True))
    state = "stood still" if fit.reached else "was stopped"
    return (
        Said("data", f"{fit.n_rows:,} rows × {p:,} columns"),
        Said("model", f"{counted(c, 'cluster')} with {counted(k, 'component')} each: {shares} of the rows"),
        Said("solver", f"EM over the observed entries, {state} after {len(fit.path)} steps"),
        Said("likelihood", f"{fit.loglik:.6g}, BIC {fit.bic:.6g}"),
    )


def _details(fit: MixtureFit) -> dict[str, Any]:
    found = clusters(fit)
    assert found.noise is not None
    each = zip(found.shares, found.noise, found.centres, strict=True)
    return {
        "kept": {"clusters": len(fit.weights), "components": fit.loadings.shape[2]},
        "log_likelihood": fit.loglik,
        "bic": fit.bic,
        "clusters": [{"share_of_rows": float(s), "noise": float(noise), "mean": mean} for s, noise, mean in each],
    }


def search_path(fit: MixtureFit) -> SearchPath:
    """How the likelihood rose."""
    return path_of(fit.path, "log-likelihood of what was observed", "step", True, fit.reached)
