"""The pages of a codebook and of a mixture: groups of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.results.codebook import CodebookFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.names import column_names
from lowdim.views.codebook import standing, usage_in_words
from lowdim.views.figures.clusters import clusters
from lowdim.views.figures.paths import search_path
from lowdim.views.lines import percent
from lowdim.views.report.beside import Beside
from lowdim.views.report.linear import made_by, sentence
from lowdim.views.report.payload import Fact, MadeBy, Payload
from lowdim.views.report.sections.parts import clusters_section
from lowdim.views.report.sections.search import search_section
from lowdim.views.report.standing import proof_of_search

Floats = NDArray[np.float64]


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
