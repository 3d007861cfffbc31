"""The page of an autoencoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.results.network import NetworkFit
from lowdim.views.figures.learning import learning_curve
from lowdim.views.network import LOSS, network_in_words, standing
from lowdim.views.report.beside import Beside
from lowdim.views.report.linear import made_by
from lowdim.views.report.payload import Fact, Payload
from lowdim.views.report.rows import shown_rows
from lowdim.views.report.sections.search import learning_section
from lowdim.views.report.standing import TRAINED, proof_of_search

Floats = NDArray[np.float64]


def network_payload(fit: NetworkFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of a network; its codes belong to no column alone."""
    curve = learning_curve(fit)
    learnt = (learning_section(curve, fit.reached, standing(fit)),) if len(curve.epochs) else ()
    missing = (Fact("missing values", f"{fit.missing:,}"),) if fit.missing else ()
    kept = Fact("loss per entry", f"{curve.kept:.4g}", LOSS[fit.loss]) if len(curve.epochs) else Fact("loss", "exact")
    return Payload(
        title=beside.title,
        model="Autoencoder",
        lead=f"A network of {counted(fit.n_weights, 'weight')} that turns {counted(fit.n_columns, 'column')} into "
        f"{counted(fit.k, 'code')} and back.",
        axes=tuple(f"code {i + 1}" for i in range(fit.k)),
        facts=(
            Fact("rows", f"{fit.n_rows:,}"),
            Fact("columns", f"{fit.n_columns:,}"),
            *missing,
            Fact("codes", f"{fit.k:,}", network_in_words(fit)),
            kept,
        ),
        proof=proof_of_search(fit.reached, standing(fit), TRAINED),
        made=made_by(fit.provenance, beside),
        rows=None if scores is None else shown_rows(scores, beside),
        warnings=beside.warnings,
        sections=(*learnt, *beside.sections),
    )
