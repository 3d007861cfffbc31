"""What a logistic PCA refuses, each with a sentence that says what would do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.holes import missing_values
from lowdim.models.logistic_settings import LogisticTask
from lowdim.solvers.families import Family
from lowdim.solvers.logistic_overview import Overview
from lowdim.sources.source import Source

MOST_COUNT = 1e15
"""Counts from which float64 does not tell one from the next."""

RANGE = 1e-280, 1e280
"""Variances whose products stay in the range of float64."""


def refuse(seen: Overview, source: Source, task: LogisticTask) -> None:
    """Raise an error if there is nothing to learn from, or entries are not of the family."""
    observed, family = seen.observed, task.family
    n, p = observed.n_rows, source.n_columns
    if observed.infinite.any():
        raise missing_values(np.stack([np.zeros_like(observed.infinite), observed.infinite]), n, source.columns)
    if not observed.count.any():
        raise BadInput(f"All {n:,} × {p:,} values of {source.describe()} are missing.")
    if n < 2:
        raise BadInput(
            f"There is only one row (n_samples={n}), which its own bias tells completely: at least 2 rows are needed."
        )
    if task.k > min(n, p):
        raise BadInput(
            f"{task.k} components were asked for, but {n:,} rows × {p:,} columns have at most {min(n, p):,}: ask for "
            "fewer."
        )
    outside = np.flatnonzero((seen.least < family.least) | (seen.most > family.most))
    if len(outside):
        raise outside_of(family, seen, source, outside)
    refuse_extremes(seen, source, family)


def refuse_extremes(seen: Overview, source: Source, family: Family) -> None:
    """Raise an error if numbers leave what can be computed with."""
    largest = float(seen.observed.variances.max())
    if family.name == "poisson" and float(seen.most.max()) > MOST_COUNT:
        raise BadInput(
            f"{source.describe()} holds counts up to {seen.most.max():.0e}: above {MOST_COUNT:.0e} one count cannot be "
            "told from the next; divide by a power of ten, or use family='gaussian'."
        )
    if family.name == "gaussian" and not seen.still().all() and not RANGE[0] < largest < RANGE[1]:
        raise BadInput(
            f"The values of {source.describe()} have variances up to {largest:.0e}, and products of them leave the "
            "range of float64: multiply them by a power of ten first."
        )


def outside_of(family: Family, seen: Overview, source: Source, outside: NDArray[np.intp]) -> BadInput:
    """The error that names a column with values that the family does not have."""
    j = int(outside[0])
    name = source.columns[j] if source.columns else f"column {j}"
    more = f" (and {len(outside) - 1:,} more columns)" if len(outside) > 1 else ""
    advice = {
        "bernoulli": "divide by the largest value, use family='poisson' for counts, or family='gaussian'",
        "poisson": "use family='gaussian' for numbers of either sign",
    }[family.name]
    below = seen.least[j] < family.least
    negative = "Negative values in data: " if below else ""  # scikit-learn's words for it
    held = f"{name!r} holds values from {seen.least[j]:g} to {seen.most[j]:g}{more}"
    return BadInput(f"{negative}{held}, but the {family.name} family has {family.entries}: {advice}.")
