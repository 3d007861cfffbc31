"""The page of a kernel PCA: what the kernel takes for alike, and what is certain about its eigenvalues."""

from __future__ import annotations

from typing import Any

from lowdim.models.base.report_rows import Asked
from lowdim.models.kernel_pca.figures import similarity
from lowdim.models.kernel_pca.overview import accuracy_in_words, overview, width_in_words
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.views.report import encode
from lowdim.views.report.pages import page_of
from lowdim.views.report.payload import Payload, Section, Spectrum

NO_LOADINGS = (
    "A kernel PCA has no loadings: its axes lie in a space of features that the kernel only hints at, so no column of "
    "the data belongs to an axis. Colour the scores by a column to see where it is large."
)


def page(model: Any, asked: Asked) -> Payload:
    """The page of a kernel PCA; it has no loadings."""
    fit, beside = model.fit_, asked.beside
    spectrum = Spectrum(fit.shares, "variance in the feature space", beside.choice)
    return page_of(overview(fit), asked.scores(model), beside, kernel_section(fit), spectrum=spectrum)


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
