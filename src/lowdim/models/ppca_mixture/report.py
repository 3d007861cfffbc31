"""The page of a mixture: groups of rows."""

from __future__ import annotations

from typing import Any

from lowdim.models.base.report_rows import Asked, filled_section
from lowdim.models.ppca_mixture.overview import overview, search_path
from lowdim.models.vector_quantizer.figures import clusters
from lowdim.models.vector_quantizer.report import against_groups, clusters_section
from lowdim.results.certificate import counted
from lowdim.views.report.pages import page_of
from lowdim.views.report.payload import Payload
from lowdim.views.report.sections import search_section
from lowdim.words import column_names


def page(model: Any, asked: Asked) -> Payload:
    """The page of several probabilistic PCAs."""
    fit, noun, rows = model.fit_, "group", asked.read
    note = f"Each group has {counted(fit.loadings.shape[2], 'component')} of its own, and a noise of its own."
    groups = clusters_section(clusters(fit), column_names(fit), asked.beside.picture, noun, note)
    said = f"EM took {counted(len(fit.path), 'step')}; BIC {fit.bic:.6g}"
    beside = asked.with_sections(*against_groups(rows, noun, model.predict), *filled_section(model, rows))
    return page_of(overview(fit), None, beside, groups, search_section(search_path(fit), said))
