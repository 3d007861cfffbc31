"""The page of a non-negative factorisation."""

from __future__ import annotations

import numpy as np

from lowdim.models.linear.report import made_by, proof_of_search
from lowdim.models.nmf.overview import descent_in_words, loss_in_words, sparseness_in_words
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.plots.paths import search_path
from lowdim.views.report.payload import Beside, Columns, Fact, Payload, shown_rows
from lowdim.views.report.sections import parts_section, search_section
from lowdim.views.text.lines import percent
from lowdim.words import column_names


def parts_payload(fit: NonNegativeFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of parts and of the codes (n, k) of rows."""
    names = column_names(fit)
    axes = tuple(f"part {i + 1}" for i in range(fit.k))
    explain = "explains" if fit.k == 1 else "explain"
    path = search_path(fit)
    missing = (Fact("missing values", f"{fit.missing:,}"),) if fit.missing else ()
    return Payload(
        title=beside.title,
        model="Non-negative matrix factorisation",
        lead=f"{counted(fit.k, 'part')} that only add up {explain} {percent(fit.explained)} of the deviance.",
        axes=axes,
        facts=(
            Fact("rows", f"{fit.n_rows:,}"),
            Fact("columns", f"{fit.n_columns:,}"),
            *missing,
            Fact("parts", f"{fit.k:,}"),
            Fact("deviance explained", percent(fit.explained), f"{fit.loss_name} loss"),
        ),
        proof=proof_of_search(fit.reached, descent_in_words(fit)),
        made=made_by(fit.provenance, beside),
        rows=None if scores is None else shown_rows(scores, beside),
        columns=Columns(
            names,
            fit.components,
            beside.column_means(fit.n_columns),
            np.ones(fit.n_columns),
            entry="weight",
            signed=False,
            origin=np.zeros(fit.n_columns),
        ),
        picture=beside.picture,
        warnings=beside.warnings,
        sections=(
            parts_section(fit, names, axes, beside.picture),
            *(() if path is None else (search_section(path, _said(fit)),)),
            *beside.sections,
        ),
    )


def _said(fit: NonNegativeFit) -> str:
    return f"{loss_in_words(fit)}. {sparseness_in_words(fit)}."
