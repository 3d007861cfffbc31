"""Checking the parameters of a logistic PCA and its data: strings and numbers in, a task out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Piece, Setting, Words
from lowdim.matrices.missing import missing_values_error
from lowdim.models.base import parameters
from lowdim.models.logistic_pca.record import PROJECTION
from lowdim.models.logistic_pca.solvers.column_statistics import ColumnStatistics
from lowdim.models.logistic_pca.solvers.families import FAMILIES, Family
from lowdim.sources.source import Source

# Checking the parameters of a logistic PCA: strings and numbers in, a task out.

OWNER = "LogisticPCA"

RIDGE = 0.1
"""Of coins and counts, unless another one is asked for: enough to keep parameters finite where a column, or a row, can
be told without error, and too little to be seen elsewhere."""


@dataclass(frozen=True)
class LogisticTask:
    """A logistic PCA that is to be made."""

    k: int
    family: Family
    encoder: str
    ridge: float
    m: float | None
    """Of a projection: θ of a perfect fit is ±m; None: held-out rows choose it."""
    tol: float
    steps: int
    seed: Any


def task_of(model: Any, p: int) -> LogisticTask:
    """The settings, checked, for p columns."""
    parameters.whole(OWNER, "n_components", model.n_components, 1, p)
    family = FAMILIES[model.family]
    if model.encoder == PROJECTION and family.name != "bernoulli":
        raise BadParameter.of(OWNER, "family", model.family, "'bernoulli', as encoder='projection' is of coins alone")
    return LogisticTask(
        k=int(model.n_components),
        family=family,
        encoder=str(model.encoder),
        ridge=_ridge(model.ridge, family),
        m=None if model.m == "held_out" else float(model.m),
        tol=float(model.tol),
        steps=int(model.max_iter),
        seed=model.random_state,
    )


def _ridge(given: Any, family: Family) -> float:
    if given == "auto":
        return 0.0 if family.name == "gaussian" else RIDGE
    return float(given)


# What a logistic PCA refuses, each with a sentence that says what would do.

MOST_COUNT = 1e15
"""Counts from which float64 does not tell one from the next."""

RANGE = 1e-280, 1e280
"""Variances whose products stay in the range of float64."""


def refuse(seen: ColumnStatistics, source: Source, task: LogisticTask) -> None:
    """Raise an error if there is nothing to learn from, or entries are not of the family."""
    observed, family = seen.observed, task.family
    n, p = observed.n_rows, source.n_columns
    if observed.infinite.any():
        raise missing_values_error(np.stack([np.zeros_like(observed.infinite), observed.infinite]), n, source.columns)
    if not observed.count.any():
        raise BadInput(f"All {n:,} × {p:,} values of {source.describe()} are missing.")
    if n < 2:
        raise BadInput(
            "There is only one row",
            Words(f" (n_samples={n})"),
            ", which its own bias tells completely: at least 2 rows are needed.",
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


def refuse_extremes(seen: ColumnStatistics, source: Source, family: Family) -> None:
    """Raise an error if numbers leave what can be computed with."""
    largest = float(seen.observed.variances.max())
    if family.name == "poisson" and float(seen.most.max()) > MOST_COUNT:
        raise BadInput(
            f"{source.describe()} holds counts up to {seen.most.max():.0e}: above {MOST_COUNT:.0e} one count cannot be "
            "told from the next; divide by a power of ten, or use ",
            Setting("family", "gaussian"),
            ".",
        )
    if family.name == "gaussian" and not seen.still().all() and not RANGE[0] < largest < RANGE[1]:
        raise BadInput(
            f"The values of {source.describe()} have variances up to {largest:.0e}, and products of them leave the "
            "range of float64: multiply them by a power of ten first."
        )


def outside_of(family: Family, seen: ColumnStatistics, source: Source, outside: NDArray[np.intp]) -> BadInput:
    """The error that names a column with values that the family does not have."""
    j = int(outside[0])
    name = source.columns[j] if source.columns else f"column {j}"
    more = f" (and {len(outside) - 1:,} more columns)" if len(outside) > 1 else ""
    counts, numbers = Setting("family", "poisson"), Setting("family", "gaussian")
    advice: dict[str, tuple[Piece, ...]] = {
        "bernoulli": ("divide by the largest value, use ", counts, " for counts, or ", numbers),
        "poisson": ("use ", numbers, " for numbers of either sign"),
    }
    below = seen.least[j] < family.least
    negative = "Negative values in data: " if below else ""  # scikit-learn's words for it
    held = f"{name!r} holds values from {seen.least[j]:g} to {seen.most[j]:g}{more}"
    return BadInput(f"{negative}{held}, but the {family.name} family has {family.entries}: ", *advice[family.name], ".")
