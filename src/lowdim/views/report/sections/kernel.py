"""What a kernel takes for alike, and what is certain about its eigenvalues."""

from __future__ import annotations

from lowdim.results.kernel import KernelFit
from lowdim.views.figures.similarity import similarity
from lowdim.views.kernel import accuracy_in_words, width_in_words
from lowdim.views.report import encode
from lowdim.views.report.payload import Section

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
