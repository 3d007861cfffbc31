"""How many parts: as many as predict entries best that were hidden from the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from lowdim.errors import BadInput, BadParameter
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.sample import draw_sample
from lowdim.models.base.parameters import seed_of
from lowdim.models.nmf.fit import rows_in_memory, searched
from lowdim.models.nmf.loss import Loss
from lowdim.models.nmf.observed import Observed, as_observed, from_keys, keys_of
from lowdim.models.nmf.rows import Rows, penalty_of, rows_of
from lowdim.models.nmf.settings import NmfTask
from lowdim.models.nmf.solvers.problem import Problem
from lowdim.results.table import Table
from lowdim.runtime.progress import track
from lowdim.sources.source import Source
from lowdim.types import Floats, Indices

# How many components: as many as predict entries best that were hidden from the fit.
#
# Entries are hidden, not rows: a new row is fitted with its own entries, which every further component does better
# (Owen & Perry 2009, "Bi-cross-validation of the SVD and the nonnegative matrix factorization"; Wold 1978,
# "Cross-validatory estimation of the number of components"). Zeros that count are hidden like any other entry.

HIDDEN = 0.1
"""Share of the known entries that is hidden at a time."""

MOST = 1_000_000
"""Entries that are hidden at most: their mean loss is known to three digits long before."""

DOUBT = 1e-3
"""Share of a prediction that is the mean of all, where one count that is fitted by zero would lose infinitely much."""


@dataclass(frozen=True)
class HeldOut:
    """A problem of which some entries are hidden, and what these are."""

    problem: Problem
    """Without them."""
    rows: Indices
    columns: Indices
    values: Floats
    weights: Floats

    def loss(self, W: Floats, H: Floats) -> float:
        """Mean β-divergence of the hidden entries from W H, by weight."""
        fitted = np.einsum("ek,ke->e", W[self.rows], H[:, self.columns])
        lost = doubted_divergence(self.problem.loss, self.values, fitted, self.problem.X.mean())
        return float(self.weights @ lost) / float(self.weights.sum())


def doubted_divergence(loss: Loss, x: Floats, fitted: Floats, mean: float) -> Floats:
    """Of each entry x that a fit has not seen. Where one that is fitted by zero would lose infinitely much, a share of
    each prediction is the mean of what was seen."""
    return loss.divergence(x, (1 - DOUBT) * fitted + DOUBT * mean if loss.refuses_zero_fits else fitted)


def hide(problem: Problem, rng: np.random.Generator, share: float = HIDDEN) -> HeldOut:
    """Hide a share of the known entries of a problem; no row or column loses more than half of its own."""
    if not 0 < share <= 0.5:
        raise BadParameter.of("NMF", "share", share, "a number above 0 and up to 0.5 of the known entries")
    X = as_observed(problem.X)
    rows, columns = _drawn(X, share, rng)
    if not len(rows):
        raise BadInput(
            f"No entry of the {X.shape[0]} × {X.shape[1]} matrix can be hidden: each row and column must keep half of "
            "what is known of it; choose the number of components in another way."
        )
    values, weights = _looked_up(X, rows, columns)
    return HeldOut(replace(problem, X=_hidden(X, rows, columns)), rows, columns, values, weights)


def held_out_losses(
    problem: Problem,
    ks: Sequence[int],
    fit: Callable[[Problem, int], tuple[Floats, Floats]],
    rng: np.random.Generator,
    times: int = 3,
    share: float = HIDDEN,
) -> Floats:
    """(times, len(ks)) losses of entries that are hidden anew each time, after a fit with each number of components."""
    trials = [hide(problem, rng, share) for _ in range(times)]
    return np.array([[trial.loss(*fit(trial.problem, k)) for k in ks] for trial in trials])


def _drawn(X: Observed, share: float, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Places of known entries, drawn alike, less those by which a row or column would lose more than half."""
    n, p = X.shape
    if X.unstored:
        cells = rng.choice(n * p, min(MOST, round(share * n * p)), replace=False)
        rows, columns = cells // p, cells % p
        there = _looked_up(X, rows, columns)[1] > 0
        rows, columns = rows[there], columns[there]
    else:
        stored = np.flatnonzero(X.weights > 0)
        stored = rng.choice(stored, min(MOST, round(share * len(stored))), replace=False)
        rows, columns = (places[stored] for places in X.places)
    of_rows, of_columns = _known_counts(X), _known_counts(X.T)
    keep = _rank(rows) < of_rows[rows] // 2
    rows, columns = rows[keep], columns[keep]
    keep = _rank(columns) < of_columns[columns] // 2
    return rows[keep], columns[keep]


def _known_counts(X: Observed) -> Indices:
    """(n,) known entries of each row."""
    stored = np.asarray(X.like((X.weights > 0).astype(np.float64)).sum(axis=1)).astype(np.int64)
    return np.asarray(stored + (X.shape[1] - np.diff(X.stored.indptr)) * int(X.unstored))


def _rank(groups: Indices) -> Indices:
    """(m,) how many of the same group come before each."""
    order = np.argsort(groups, kind="stable")
    _, first, counts = np.unique(groups[order], return_index=True, return_counts=True)
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.repeat(first, counts)
    return rank


def _looked_up(X: Observed, rows: Indices, columns: Indices) -> tuple[Floats, Floats]:
    """Value and weight of entries, stored or not."""
    keys, wanted = keys_of(X.stored), rows * X.shape[1] + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(rows)), np.full(len(rows), X.unstored)
    there = keys[at] == wanted
    return np.where(there, X.stored.data[at], 0.0), np.where(there, X.weights[at], X.unstored)


def _hidden(X: Observed, rows: Indices, columns: Indices) -> Observed:
    """X with these entries missing: not stored where what is not stored is missing, else stored with weight 0."""
    keys, wanted = keys_of(X.stored), rows * X.shape[1] + columns
    shown = ~np.isin(keys, wanted)
    every = np.concatenate([keys[shown], wanted]) if X.unstored else keys[shown]
    order = np.argsort(every, kind="stable")
    fill = np.zeros(len(every) - int(shown.sum()))
    values = np.concatenate([X.stored.data[shown], fill])[order]
    weights = np.concatenate([X.weights[shown], fill])[order]
    return Observed(from_keys(values, every[order], X.shape), weights, X.unstored)


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
    trials = [hide(rows.problem(task.loss, penalty_of(task, n)), rng) for _ in range(TIMES)]
    rough = rougher(task)
    return compared(tried_numbers(lambda k: _losses(trials, k, rough), min(n, p) - 1))


def rougher(task: NmfTask) -> NmfTask:
    """The fit with which numbers are compared."""
    return replace(task, steps=min(task.steps, STEPS), tol=max(task.tol, TOLERANCE), starts=1, init=None)


def tried_numbers(losses: Callable[[int], Floats], most: int) -> dict[int, Floats]:
    """Numbers of parts up to `most` and their losses: rising until they are worse, then about the best; ascending."""
    tried: dict[int, Floats] = {}
    for k in track(list(_rising(most)), "number of parts"):
        tried[k] = losses(k)
        best = min(tried, key=lambda one: float(tried[one].mean()))
        if sum(one > best for one in tried) >= WORSE:
            break
    for k in track(_around(sorted(tried), min(tried, key=lambda one: float(tried[one].mean()))), "number of parts"):
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
    ends = [searched(trial.problem, k, task).best for trial in track(trials, "trial")]
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
        return rows_of(draw_sample(source, nothing, source.count_rows() or 0, rng), None, task.loss, task.unstored)
    given, weight = rows_in_memory(source)
    n, p = given.shape
    known = given.nnz if scipy.sparse.issparse(given) else n * p
    if known > ENTRIES:
        places = np.sort(rng.choice(n, max(3, int(n * ENTRIES / known)), replace=False))
        given, weight = given[places], None if weight is None else weight[places]
        entry_weight = None if entry_weight is None else entry_weight[places]
    return rows_of(given, weight, task.loss, task.unstored, entry_weight)
