"""The page of a recogniser: the space of its gallery, and how often it would be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.models.base.report_rows import Asked
from lowdim.models.linear.report import linear_payload, row_limits
from lowdim.models.recogniser.overview import overview, somebody_in_words
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.views.report.pages import headed_by, sentence
from lowdim.views.report.payload import Payload, Section, colour_column
from lowdim.views.report.sections import table_section


def page(model: Any, asked: Asked) -> Payload:
    """The page of the space of the gallery, with scores of rows in it, and of its own trial."""
    fit, rows, beside = model.fit_, asked.rows, asked.beside
    beside = replace(beside, sections=(_gallery(fit), *_trial(fit), *beside.sections))
    if rows is None:
        return headed_by(overview(fit), linear_payload(fit.space, None, beside))
    limits, why = row_limits(model.space_, rows, may_miss=False)
    found = colour_column("recognised as", [str(one) for one in model.predict(rows.source)])
    beside = replace(beside, colours=(*rows.colours, found), limits=limits, no_limits=why)
    scores = np.asarray(model.space_._scores(rows.source))
    return headed_by(overview(fit), linear_payload(fit.space, scores, beside))


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
