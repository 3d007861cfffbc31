"""A probabilistic PCA in words: what is said of any linear fit, and what EM did."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.linear import overview as linear
from lowdim.models.probabilistic_pca.record import Ascent, LatentFit
from lowdim.results.certificate import counted
from lowdim.views.overview import Block, Overview, Said, Trust, noise_in_words, steps_in_words
from lowdim.views.plots.paths import SearchPath, path_of


def overview(fit: LatentFit) -> Overview:
    """What is said of a probabilistic fit, in closed form or by EM."""
    seen = replace(linear.overview(fit), model="Probabilistic PCA")
    if fit.unseen:
        seen = replace(seen, notes=(f"nothing was observed of {counted(len(fit.unseen), 'column')}",))
    seen = replace(seen, details=partial(_details, fit, seen))
    if fit.ascent is None:
        return seen
    word = "reached" if fit.reached else "untrusted"
    sentence = seen.trust.sentence if fit.changed else ascent_in_words(fit.ascent, fit.weight)
    steps = Said("steps", steps_in_words(_steps(fit.ascent), fit.ascent.converged))
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
        f"{how} after {counted(_steps(ascent), 'step')}: the last raised the log-likelihood by {gain:.0e} a row and "
        f"moved the loadings by {ascent.change:.0e}"
    )


def _steps(ascent: Ascent) -> int:
    """Steps that were made, also those that were taken back."""
    return len(ascent.loglik) + ascent.refused


def _screen(linear_screen: Any, sentence: str) -> tuple[Block, ...]:
    return (*linear_screen()[:-1], Said("accuracy", sentence))


def _story(fit: LatentFit, seen: Overview, sentence: str) -> tuple[Said, ...]:
    noise = noise_in_words(fit.noise, fit.noise, bool((fit.scale != 1).any()))
    every = f"{fit.missing:,} of {fit.n_rows * fit.n_columns:,} values"
    return (*seen.story()[:-1], Said("missing", every), Said("noise", noise), Said("accuracy", sentence))


def _details(fit: LatentFit, seen: Overview) -> dict[str, Any]:
    known = {"missing": fit.missing, "noise_variance": fit.noise, "loglik": fit.loglik, "bic": fit.bic}
    return known | ({} if fit.ascent is None else {"steps": _steps(fit.ascent)}) | dict(seen.details())


def search_path(fit: LatentFit) -> SearchPath | None:
    """How the likelihood rose; None where a formula gave the answer."""
    found = fit.ascent
    if found is None:
        return None
    what = "log-likelihood of what was observed" if fit.spread is None else "bound of the log-likelihood"
    path, prior = path_of(np.array(found.loglik), what, "step", True, found.converged), np.array(found.logpost)
    return path if np.array_equal(prior, path.values) else replace(path, prior=prior)
