"""The pages of a codebook and of a mixture: groups of rows."""

from __future__ import annotations

from lowdim.models.linear.report import made_by, proof_of_search, sentence
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.vector_quantizer.figures import clusters
from lowdim.models.vector_quantizer.overview import standing, usage_in_words
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.plots.paths import search_path
from lowdim.views.report.payload import Beside, Fact, MadeBy, Payload
from lowdim.views.report.sections import clusters_section, search_section
from lowdim.views.text.lines import percent
from lowdim.words import column_names


def codebook_payload(fit: CodebookFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of codewords; codes are numbers of codewords, which have no place in a plane."""
    groups = clusters_section(
        clusters(fit), column_names(fit), beside.picture, "codeword", sentence(usage_in_words(fit))
    )
    return Payload(
        title=beside.title,
        model="Vector quantisation",
        lead=f"{counted(fit.k, 'codeword')} {'keeps' if fit.k == 1 else 'keep'} {percent(fit.kept)} of the variance.",
        axes=(),
        facts=(
            Fact("rows", f"{fit.n_rows:,}"),
            Fact("columns", f"{fit.n_columns:,}"),
            Fact("codewords", f"{fit.k:,}", f"{counted(fit.bits, 'bit')} a row"),
            Fact("variance kept", percent(fit.kept)),
        ),
        proof=proof_of_search(fit.reached, standing(fit)),
        made=made_by(fit.provenance, beside),
        warnings=beside.warnings,
        sections=(groups, *beside.sections),
    )


def mixture_payload(fit: MixtureFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of several probabilistic PCAs."""
    c, _, k = fit.loadings.shape
    path = search_path(fit)
    names = column_names(fit)
    said = f"EM took {counted(len(fit.path), 'step')}; BIC {fit.bic:.6g}"
    note = f"Each group has {counted(k, 'component')} of its own, and a noise of its own."
    return Payload(
        title=beside.title,
        model="Mixture of probabilistic PCAs",
        lead=f"{counted(c, 'group')} of rows, each with {counted(k, 'component')} of its own.",
        axes=(),
        facts=(
            Fact("rows", f"{fit.n_rows:,}"),
            Fact("columns", f"{fit.n_columns:,}"),
            Fact("groups", f"{c:,}", f"{counted(k, 'component')} each"),
            Fact("log-likelihood", f"{fit.loglik:,.6g}".replace("-", "−"), "in the data's units"),
        ),
        proof=proof_of_search(fit.converged, said),
        made=MadeBy(beside.python, beside.cli, ()),
        warnings=beside.warnings,
        sections=(
            clusters_section(clusters(fit), names, beside.picture, "group", note),
            *(() if path is None else (search_section(path, said),)),
            *beside.sections,
        ),
    )
