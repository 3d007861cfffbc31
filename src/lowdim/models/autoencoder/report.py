"""The page of an autoencoder."""

from __future__ import annotations

from lowdim.models.autoencoder.figures import learning_curve
from lowdim.models.autoencoder.overview import LOSS, network_in_words, standing
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.linear.report import TRAINED, made_by, proof_of_search
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.report.payload import Beside, Fact, Payload, shown_rows
from lowdim.views.report.sections import learning_section


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
