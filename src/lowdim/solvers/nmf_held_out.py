"""How many components: as many as predict entries best that were hidden from the fit.

Entries are hidden, not rows: a new row is fitted with its own entries, which every further component does better (Owen
& Perry 2009, "Bi-cross-validation of the SVD and the nonnegative matrix factorization"; Wold 1978, "Cross-validatory
estimation of the number of components"). Zeros that count are hidden like any other entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.solvers.nmf_loss import KULLBACK_LEIBLER, divergence
from lowdim.solvers.nmf_observed import Observed, as_observed, from_keys, keys_of
from lowdim.solvers.nmf_search import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

HIDDEN = 0.1
"""Share of the known entries that is hidden at a time."""

MOST = 1_000_000
"""Entries that are hidden at most: their mean loss is known to three digits long before."""

DOUBT = 1e-3
"""Share of a prediction that is the mean of all, for β ≤ 1: else one count where the fit is zero costs without end."""


@dataclass(frozen=True)
class HeldOut:
    """A problem of which some entries are hidden, and what these are."""

    problem: Problem
    """Without them."""
    rows: Places
    columns: Places
    values: Floats
    weights: Floats

    def loss(self, W: Floats, H: Floats) -> float:
        """Mean β-divergence of the hidden entries from W H, by weight."""
        fitted = np.einsum("ek,ke->e", W[self.rows], H[:, self.columns])
        if self.problem.beta <= KULLBACK_LEIBLER:
            fitted = (1 - DOUBT) * fitted + DOUBT * self.problem.X.mean()
        return float(self.weights @ divergence(self.values, fitted, self.problem.beta)) / float(self.weights.sum())


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


def _drawn(X: Observed, share: float, rng: np.random.Generator) -> tuple[Places, Places]:
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


def _known_counts(X: Observed) -> Places:
    """(n,) known entries of each row."""
    stored = np.asarray(X.like((X.weights > 0).astype(np.float64)).sum(axis=1)).astype(np.int64)
    return np.asarray(stored + (X.shape[1] - np.diff(X.stored.indptr)) * int(X.unstored))


def _rank(groups: Places) -> Places:
    """(m,) how many of the same group come before each."""
    order = np.argsort(groups, kind="stable")
    _, first, counts = np.unique(groups[order], return_index=True, return_counts=True)
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.repeat(first, counts)
    return rank


def _looked_up(X: Observed, rows: Places, columns: Places) -> tuple[Floats, Floats]:
    """Value and weight of entries, stored or not."""
    keys, wanted = keys_of(X.stored), rows * X.shape[1] + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(rows)), np.full(len(rows), X.unstored)
    there = keys[at] == wanted
    return np.where(there, X.stored.data[at], 0.0), np.where(there, X.weights[at], X.unstored)


def _hidden(X: Observed, rows: Places, columns: Places) -> Observed:
    """X with these entries missing: not stored where what is not stored is missing, else stored with weight 0."""
    keys, wanted = keys_of(X.stored), rows * X.shape[1] + columns
    shown = ~np.isin(keys, wanted)
    every = np.concatenate([keys[shown], wanted]) if X.unstored else keys[shown]
    order = np.argsort(every, kind="stable")
    fill = np.zeros(len(every) - int(shown.sum()))
    values = np.concatenate([X.stored.data[shown], fill])[order]
    weights = np.concatenate([X.weights[shown], fill])[order]
    return Observed(from_keys(values, every[order], X.shape), weights, X.unstored)
