"""What card, screen, JSON and page show of a probabilistic PCA."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest, filled_section
from lowdim.models.linear import overview as linear
from lowdim.models.linear.overview import add_limits, linear_payload, linear_scores
from lowdim.models.probabilistic_pca.record import Ascent, LatentFit
from lowdim.views import overview as view
from lowdim.views.overview import Block, Fact, Overview, SearchPath, Trust
from lowdim.views.report.payload import Payload, Section
from lowdim.views.report.sections import counted_holes_section, search_section
from lowdim.words import column_names, plural


def overview(fit: LatentFit) -> Overview:
    """What is said of a probabilistic fit, in closed form or by EM."""
    seen = replace(linear.overview(fit), model="Probabilistic PCA")
    if fit.unseen:
        seen = replace(seen, notes=(f"nothing was observed of {plural(len(fit.unseen), 'column')}",))
    seen = replace(seen, details=partial(_details, fit, seen))
    if fit.ascent is None:
        return seen
    word = "reached" if fit.reached else "untrusted"
    sentence = seen.trust.sentence if fit.changed else ascent_in_words(fit.ascent, fit.weight)
    steps = Fact("steps", view.steps_in_words(_steps(fit.ascent), fit.ascent.converged))
    return replace(
        seen,
        trust=Trust(word, fit.reached, sentence, linear.MEANINGS[word]),
        facts=(*seen.facts[:1], steps, *seen.facts[1:]) if fit.noise > 0 else (steps, *seen.facts),
        screen=partial(_screen, seen.screen, sentence),
        file_screen=None if seen.file_screen is None else partial(_screen, seen.file_screen, sentence),
        story=seen.story if fit.changed else partial(_story, fit, seen, sentence),
    )


def ascent_in_words(ascent: Ascent, weight: float) -> str:
    """What EM did, in one sentence."""
    gain = (ascent.logpost[-1] - ascent.logpost[-2]) / weight if len(ascent.logpost) > 1 else math.inf
    how = "EM stood still" if ascent.converged else "NOT reached: EM was stopped"
    return (
        f"{how} after {plural(_steps(ascent), 'step')}: the last raised the log-likelihood by {gain:.0e} a row and "
        f"moved the loadings by {ascent.change:.0e}"
    )


def _steps(ascent: Ascent) -> int:
    """Steps that were made, also those that were taken back."""
    return len(ascent.loglik) + ascent.refused


def _screen(linear_screen: Any, sentence: str) -> tuple[Block, ...]:
    return (*linear_screen()[:-1], Fact("accuracy", sentence))


def _story(fit: LatentFit, seen: Overview, sentence: str) -> tuple[Fact, ...]:
    noise = view.noise_in_words(fit.noise, fit.noise, bool((fit.scale != 1).any()))
    every = f"{fit.missing:,} of {fit.n_rows * fit.n_columns:,} values"
    return (*seen.story()[:-1], Fact("missing", every), Fact("noise", noise), Fact("accuracy", sentence))


def _details(fit: LatentFit, seen: Overview) -> dict[str, Any]:
    known = {"missing": fit.missing, "noise_variance": fit.noise, "loglik": fit.loglik, "bic": fit.bic}
    return known | ({} if fit.ascent is None else {"steps": _steps(fit.ascent)}) | dict(seen.details())


def search_path(fit: LatentFit) -> SearchPath | None:
    """How the likelihood rose; None where a formula gave the answer."""
    found = fit.ascent
    if found is None:
        return None
    what = "log-likelihood of what was observed" if fit.spread is None else "bound of the log-likelihood"
    path, prior = SearchPath(np.array(found.loglik), what, "step", True, found.converged), np.array(found.logpost)
    return path if np.array_equal(prior, path.values) else replace(path, prior=prior)


# The page.


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of a model whose fit is probabilistic."""
    fit, path = model.fit_, search_path(model.fit_)
    search = () if path is None else (search_section(path, overview(fit).trust.sentence),)
    context = add_limits(model, replace(asked, context=asked.with_sections(*_missing(model, asked), *search)))
    return linear_payload(fit, linear_scores(model, asked), context)


def _missing(model: Any, asked: PageRequest) -> tuple[Section, ...]:
    """The map of what was missing, filled by the model; counts alone where there are no rows."""
    fit = model.fit_
    if asked.read is None and fit.missing > 0:
        return (counted_holes_section(fit.n_rows - fit.observed, fit.n_rows, column_names(fit)),)
    return filled_section(model, asked.read, fit.noise)
