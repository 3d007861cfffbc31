"""The page of a logistic PCA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.models.base.report_rows import Asked
from lowdim.models.logistic_pca.overview import codes_in_words, overview, search_path
from lowdim.views.report.pages import page_of
from lowdim.views.report.payload import Columns, Payload, Spectrum
from lowdim.views.report.sections import search_section
from lowdim.words import column_names

LINKS = {"bernoulli": "logistic", "poisson": "exp", "gaussian": "identity"}
"""Family → what turns a natural parameter into the expected entry."""


def page(model: Any, asked: Asked) -> Payload:
    """The page of axes in the space of natural parameters, θ = bias + codes · axes."""
    fit, beside, seen = model.fit_, asked.beside, overview(model.fit_)
    said, p = seen.trust.sentence, fit.n_columns
    means, ones = beside.column_means(p), np.ones(p)
    return page_of(
        replace(seen, trust=replace(seen.trust, sentence=f"{said}; codes are {codes_in_words(fit)}")),
        asked.scores(model),
        beside,
        search_section(search_path(fit), said),
        spectrum=Spectrum(fit.shares, "squared natural parameters", beside.choice),
        columns=Columns(column_names(fit), fit.components, means, ones, origin=fit.bias, link=LINKS[fit.family]),
    )
