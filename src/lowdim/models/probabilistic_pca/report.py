"""The page of a probabilistic PCA: that of a linear fit, what was missing, and how EM went."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lowdim.models.base.report_rows import Asked, filled_section
from lowdim.models.linear.report import judged, linear_payload, linear_scores
from lowdim.models.probabilistic_pca.overview import overview, search_path
from lowdim.views.report.payload import Payload, Section
from lowdim.views.report.sections import counted_holes_section, search_section
from lowdim.words import column_names


def page(model: Any, asked: Asked) -> Payload:
    """The page of a model whose fit is probabilistic."""
    fit, path = model.fit_, search_path(model.fit_)
    search = () if path is None else (search_section(path, overview(fit).trust.sentence),)
    beside = judged(model, replace(asked, beside=asked.with_sections(*_missing(model, asked), *search)))
    return linear_payload(fit, linear_scores(model, asked), beside)


def _missing(model: Any, asked: Asked) -> tuple[Section, ...]:
    """The map of what was missing, filled by the model; counts alone where there are no rows."""
    fit = model.fit_
    if asked.read is None and fit.missing > 0:
        return (counted_holes_section(fit.n_rows - fit.observed, fit.n_rows, column_names(fit)),)
    return filled_section(model, asked.read, fit.noise)
