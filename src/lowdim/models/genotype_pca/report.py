"""The page of a PCA of genotypes: that of a linear fit, and which of its axes are real."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.models.base.report_rows import Asked
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.linear.report import first_keep, judged, linear_payload, linear_scores
from lowdim.views.report.payload import Payload
from lowdim.views.report.sections import table_section

P_VALUE = 0.05
"""Below it an axis stands out."""

NOTE = "Patterson, Price & Reich 2006: each axis against the largest of what is left; p below 0.05 stands out."


def page(model: Any, asked: Asked) -> Payload:
    """The page of a PCA of genotypes."""
    fit, beside = model.fit_, judged(model, asked, may_miss=True)
    if not len(fit.p_values):
        return linear_payload(fit, linear_scores(model, asked), beside)
    tested = table_section("Which axes are real", model.tracy_widom_, NOTE)
    found = linear_payload(fit, linear_scores(model, asked), replace(beside, sections=(tested, *beside.sections)))
    return replace(found, lead=_lead(fit)) if fit.total_variance > 0 else found


def _lead(fit: GenotypeFit) -> str:
    """How many axes stand out, and what they keep."""
    above = int(np.argmax(np.append(fit.p_values[: fit.k] >= P_VALUE, True)))
    if not above:
        return f"{first_keep(fit, fit.k)}; none stands out from chance."
    return f"{first_keep(fit, above)}; {'it stands' if above == 1 else 'they stand'} out from chance."
