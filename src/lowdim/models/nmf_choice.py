"""How many parts: as many as predict entries best that were hidden from the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.preparation import Preparation
from lowdim.models.fit_linear import seed_of
from lowdim.models.fit_nmf import rows_in_memory, searched
from lowdim.models.nmf_problems import Rows, penalty_of, rows_of
from lowdim.models.nmf_settings import NmfTask
from lowdim.results.table import Table
from lowdim.solvers.nmf_held_out import HeldOut, hide
from lowdim.solvers.ppca_start import sample_of
from lowdim.sources.source import Source

Floats = NDArray[np.float64]

TIMES = 3
"""Times that entries are hidden anew."""

STEPS, TOLERANCE = 200, 1e-3
"""Of each fit: a rougher one than the last, which comes when the number is known."""

WORSE = 2
"""Numbers in a row that predict worse than the best so far, after which no larger one is tried."""

BETWEEN = 8
"""Numbers between the neighbours of the best that are tried at most."""

ENTRIES = 2_000_000
"""Known entries at most that the choice is made from; of larger data some rows are drawn."""


def choice_of(source: Source, task: NmfTask, in_memory: bool, entry_weight: Any = None) -> Table:
    """Numbers of parts and the mean loss of hidden entries with each, with its standard error."""
    rng = np.random.default_rng(seed_of(task.seed))
    rows = some_rows(source, task, in_memory, entry_weight, rng)
    n, p = rows.X.shape
    if min(n, p) < 3:
        raise BadInput(
            f"{source.describe()} is too small to hide entries of it ({n} rows × {p} columns): set n_components to a "
            "number."
        )
    trials = [hide(rows.problem(task.beta, penalty_of(task, n)), rng) for _ in range(TIMES)]
    rough = rougher(task)
    return compared(tried_numbers(lambda k: _losses(trials, k, rough), min(n, p) - 1))


def rougher(task: NmfTask) -> NmfTask:
    """The fit with which numbers are compared."""
    return replace(task, steps=min(task.steps, STEPS), tol=max(task.tol, TOLERANCE), starts=1, init=None)


def tried_numbers(losses: Callable[[int], Floats], most: int) -> dict[int, Floats]:
    """Numbers of parts up to `most` and their losses: rising until they are worse, then about the best; ascending."""
    tried: dict[int, Floats] = {}
    for k in _rising(most):
        tried[k] = losses(k)
        best = min(tried, key=lambda one: float(tried[one].mean()))
        if sum(one > best for one in tried) >= WORSE:
            break
    for k in _around(sorted(tried), min(tried, key=lambda one: float(tried[one].mean()))):
        tried[k] = losses(k)
    return {k: tried[k] for k in sorted(tried)}


def compared(tried: dict[int, Floats]) -> Table:
    """Numbers of parts with the means of their losses, and standard errors of these."""
    means = np.array([each.mean() for each in tried.values()])
    errors = np.array([each.std(ddof=1) / np.sqrt(len(each)) for each in tried.values()])
    return Table({"parts": np.array(list(tried)), "held-out loss": means, "standard error": errors})


def best_count(choice: Table) -> int:
    """The number with the least loss."""
    return int(choice["parts"][int(np.argmin(choice["held-out loss"]))])


def _losses(trials: list[HeldOut], k: int, task: NmfTask) -> Floats:
    ends = [searched(trial.problem, k, task).best for trial in trials]
    return np.array([trial.loss(end.W, end.H) for trial, end in zip(trials, ends, strict=True)])


def _rising(most: int) -> Iterator[int]:
    """1, 2, … 8, 10, … 16, 20, …: each by at most a quarter more."""
    k = 1
    while k <= most:
        yield k
        k += max(1, 2 ** (k.bit_length() - 3))


def _around(tried: list[int], best: int) -> list[int]:
    """Numbers between the neighbours of the best that were not tried yet."""
    at = tried.index(best)
    low, high = tried[max(at - 1, 0)], tried[min(at + 1, len(tried) - 1)]
    left = [k for k in range(low + 1, high) if k != best]
    evenly = np.linspace(0, len(left) - 1, min(len(left), BETWEEN)).astype(int)
    return [left[i] for i in evenly]


def some_rows(source: Source, task: NmfTask, in_memory: bool, entry_weight: Any, rng: np.random.Generator) -> Rows:
    """The rows that the choice is made from, in their order."""
    if not in_memory:
        nothing = Preparation(np.zeros(source.n_columns), None)
        return rows_of(sample_of(source, nothing, source.count_rows() or 0, rng), None, task.beta, task.unstored)
    given, weight = rows_in_memory(source)
    n, p = given.shape
    known = given.nnz if scipy.sparse.issparse(given) else n * p
    if known > ENTRIES:
        places = np.sort(rng.choice(n, max(3, int(n * ENTRIES / known)), replace=False))
        given, weight = given[places], None if weight is None else weight[places]
        entry_weight = None if entry_weight is None else entry_weight[places]
    return rows_of(given, weight, task.beta, task.unstored, entry_weight)
