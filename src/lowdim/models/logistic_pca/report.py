"""The page of a logistic PCA."""

from __future__ import annotations

import numpy as np

from lowdim.models.linear.report import made_by, proof_of_search
from lowdim.models.logistic_pca.overview import FAMILIES, codes_in_words, descent_in_words
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.plots.paths import search_path
from lowdim.views.report.payload import Beside, Columns, Fact, Payload, Spectrum, shown_rows
from lowdim.views.report.sections import search_section
from lowdim.views.text.lines import percent
from lowdim.words import column_names

LINKS = {"bernoulli": "logistic", "poisson": "exp", "gaussian": "identity"}
"""Family → what turns a natural parameter into the expected entry."""


def logistic_payload(fit: LogisticFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of axes in the space of natural parameters, θ = bias + codes · axes."""
    path = search_path(fit)
    missing = (Fact("missing values", f"{fit.missing:,}"),) if fit.missing else ()
    return Payload(
        title=beside.title,
        model="Logistic PCA",
        lead=f"{counted(fit.k, 'component')} {'explains' if fit.k == 1 else 'explain'} {percent(fit.explained)} of the "
        "deviance of the columns' means.",
        axes=tuple(f"PC{i + 1}" for i in range(fit.k)),
        facts=(
            Fact("rows", f"{fit.n_rows:,}"),
            Fact("columns", f"{fit.n_columns:,}"),
            *missing,
            Fact("components", f"{fit.k:,}"),
            Fact("deviance explained", percent(fit.explained)),
            Fact("family", fit.family, FAMILIES[fit.family]),
        ),
        proof=proof_of_search(fit.reached, f"{descent_in_words(fit)}; codes are {codes_in_words(fit)}"),
        made=made_by(fit.provenance, beside),
        spectrum=Spectrum(fit.shares, "squared natural parameters", beside.choice),
        rows=None if scores is None else shown_rows(scores, beside),
        columns=Columns(
            column_names(fit),
            fit.components,
            beside.column_means(fit.n_columns),
            np.ones(fit.n_columns),
            origin=fit.bias,
            link=LINKS[fit.family],
        ),
        picture=beside.picture,
        warnings=beside.warnings,
        sections=(*(() if path is None else (search_section(path, descent_in_words(fit)),)), *beside.sections),
    )
