"""The page of a kernel PCA."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.results.kernel import KernelFit
from lowdim.views.kernel import accuracy_in_words
from lowdim.views.kernel_summary import captured_in_words
from lowdim.views.report.beside import Beside
from lowdim.views.report.linear import made_by, sentence
from lowdim.views.report.payload import Fact, Payload, Proof, Spectrum
from lowdim.views.report.rows import shown_rows
from lowdim.views.report.sections.kernel import kernel_section

Floats = NDArray[np.float64]

EXACT = (
    "Every eigenvalue was checked after it was found, and the span of the axes has a proven bound. This is about "
    "arithmetic: another width of the kernel would give other axes, and no certificate says which width is right."
)
NEAR = (
    "A few rows, the landmarks, stand for all of them. What they leave out is known exactly, and so every share lies "
    "in an interval that is certain; more landmarks make the intervals narrower."
)
RANDOM = (
    "Random features only come near the kernel, and nobody knows how near. Take landmarks, or the exact solver, where "
    "a bound is needed."
)


def kernel_payload(fit: KernelFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of a kernel PCA; it has no loadings."""
    return Payload(
        title=beside.title,
        model="Kernel PCA",
        lead=f"{counted(fit.k, 'component')} {'keeps' if fit.k == 1 else 'keep'} {captured_in_words(fit)} of the "
        "variance in the space of features.",
        axes=tuple(f"PC{i + 1}" for i in range(fit.k)),
        facts=(
            Fact("rows", f"{fit.n_rows:,}"),
            Fact("columns", f"{fit.n_columns:,}", "not scaled" if fit.scale is None else "scaled to equal variance"),
            Fact("components", f"{fit.k:,}"),
            Fact("kernel", fit.kernel.name, fit.kernel.formula),
            Fact("variance kept", captured_in_words(fit), "in the space of features"),
        ),
        proof=_proof(fit),
        made=made_by(fit.provenance, beside),
        spectrum=Spectrum(fit.shares, "variance in the feature space", beside.choice),
        rows=None if scores is None else shown_rows(scores, beside),
        warnings=beside.warnings,
        sections=(kernel_section(fit), *beside.sections),
    )


def _proof(fit: KernelFit) -> Proof:
    word = "certified" if fit.reached else "untrusted"
    meaning = RANDOM if math.isnan(fit.found.slack) else NEAR if fit.approximate else EXACT
    return Proof(word, fit.reached, sentence(accuracy_in_words(fit).removeprefix("certified: ")), meaning)
