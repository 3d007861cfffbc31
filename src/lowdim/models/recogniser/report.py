"""The page of a recogniser: the space of its gallery, and how often it would be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lowdim.models.linear.report import linear_payload, sentence
from lowdim.models.recogniser.overview import compared_in_words, somebody_in_words
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.report.payload import Beside, Fact, Payload, Section
from lowdim.views.report.sections import table_section


def recogniser_payload(fit: RecogniserFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of the space of the gallery, with scores of rows in it, and of its own trial."""
    page = linear_payload(fit.space, scores, beside)
    labels = counted(len(fit.classes), "label")
    return replace(
        page,
        model="Recogniser",
        lead=f"{labels} told apart {compared_in_words(fit)}.",
        facts=(*page.facts[:2], Fact("labels", f"{len(fit.classes):,}"), Fact("coordinates", f"{fit.k:,}")),
        sections=(_gallery(fit), *_trial(fit), *beside.sections),
    )


def _gallery(fit: RecogniserFit) -> Section:
    listed = {"label": [str(one) for one in fit.classes], "rows": fit.rows_of_each.tolist()}
    return table_section("The gallery", listed, sentence(somebody_in_words(fit)))


def _trial(fit: RecogniserFit) -> tuple[Section, ...]:
    rates = fit.trial_rates()
    if not rates:
        return ()
    listed: dict[str, list[Any]] = {
        "what": list(rates),
        "share": [one.value for one in rates.values()],
        "lower": [one.low for one in rates.values()],
        "upper": [one.high for one in rates.values()],
        "of": [one.of for one in rates.values()],
    }
    note = "Each row was tried as if it were new, with components of the other rows alone; intervals of 95 %."
    return (table_section("How often it would be wrong", listed, note),)
