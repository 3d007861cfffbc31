"""The page of a kernel PCA: what the kernel takes for alike, and what is certain about its eigenvalues."""

from __future__ import annotations

import math

from lowdim.models.kernel_pca.figures import similarity
from lowdim.models.kernel_pca.overview import accuracy_in_words, captured_in_words, width_in_words
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.linear.report import made_by, sentence
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.report import encode
from lowdim.views.report.payload import Beside, Fact, Payload, Proof, Section, Spectrum, shown_rows

# What a kernel takes for alike, and what is certain about its eigenvalues.

NO_LOADINGS = (
    "A kernel PCA has no loadings: its axes lie in a space of features that the kernel only hints at, so no column of "
    "the data belongs to an axis. Colour the scores by a column to see where it is large."
)


def kernel_section(fit: KernelFit) -> Section:
    """The formula, what its width means for these rows, and intervals for the share of each component."""
    found = similarity(fit)
    shares = fit.share_intervals
    return Section(
        "kernel",
        "The kernel",
        {
            "formula": fit.kernel.formula,
            "centered": fit.centered,
            "scaled": fit.scale is not None,
            "width": width_in_words(fit),
            "accuracy": accuracy_in_words(fit),
            "noLoadings": NO_LOADINGS,
            "rank": encode.number(fit.effective_rank),
            "nRows": fit.n_rows,
            "shares": encode.float32(fit.shares),
            "lower": encode.float32(shares[:, 0]),
            "upper": encode.float32(shares[:, 1]),
            "exact": not fit.approximate,
            "curve": None
            if found is None
            else {
                "distance": encode.float32(found.distance),
                "value": encode.float32(found.value),
                "measure": found.measure,
                "edges": encode.float32(found.edges),
                "counts": found.counts.tolist(),
                "half": encode.number(found.half),
                "pairs": found.n_pairs,
            },
        },
    )


# The page of a kernel PCA.

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
