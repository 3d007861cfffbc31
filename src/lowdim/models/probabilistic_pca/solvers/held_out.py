"""How many hidden columns: by entries, or rows, that were held out of the fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation
from lowdim.models.probabilistic_pca.solvers.em import Search, Wish, search, start_from
from lowdim.models.probabilistic_pca.solvers.expected import expected, pays_to_compile
from lowdim.models.probabilistic_pca.solvers.latent import predicted
from lowdim.runtime.threads import in_order
from lowdim.solvers.rank.spectrum_rules import LEAST_NOISE
from lowdim.solvers.resampling.folds import Places, split_rows
from lowdim.sources.arrays import ArraySource
from lowdim.types import Floats

# How many hidden columns: as many as predict entries best that were hidden from the fit.
#
# Entries, not rows, are hidden, because a left-out row would be projected with its own entries (Bro et al. 2008,
# "Cross-validation of component models"; Ilin & Raiko 2010 for missing values).

HIDDEN = 0.1
"""Share of the observed entries that are hidden at a time."""

ENOUGH, MOST_TIMES = 10_000, 10
"""Entries are hidden anew until so many were hidden in all, but not more often than this: a few of a small table would
choose at random."""

ROUGH = 1e-4
"""Gain per row at which EM is stopped here: predictions settle long before the last digits of the likelihood."""

STEPS = 200


@dataclass(frozen=True)
class Trial:
    """How well hidden entries were predicted with 0, 1, 2, … components."""

    ks: tuple[int, ...]
    errors: tuple[float, ...]
    """Root mean square errors; the first is that of the means."""
    shares: tuple[Floats, ...]
    """(p,) for each number of components: what share of the squared error lies in each column."""

    @property
    def best(self) -> int:
        """Number of components with the least error."""
        return self.ks[int(np.argmin(self.errors))]

    @property
    def best_shares(self) -> Floats:
        """(p,) share of the least squared error that lies in each column."""
        return self.shares[int(np.argmin(self.errors))]


def try_ks(X: Floats, most: int, wish: Wish, rng: np.random.Generator) -> Trial:
    """Hide some entries of rows (n, p) with holes, and predict them with up to `most` components."""
    times = int(np.clip(ENOUGH // max(1.0, HIDDEN * np.isfinite(X).sum()), 1, MOST_TIMES))
    hidden = [_some_entries(X, rng) for _ in range(times)]
    count = sum(int(some.sum()) for some in hidden)
    squares = {0: _squares(X, hidden, 0, wish, rng)}
    for k in _candidates(most):
        squares[k] = _squares(X, hidden, k, wish, rng)
        last = [float(one.sum()) for one in squares.values()]
        if len(last) > 3 and min(last[-2:]) > min(last):  # two in a row were no better
            break
    errors = tuple(float(np.sqrt(one.sum() / count)) if count else 0.0 for one in squares.values())
    return Trial(tuple(squares), errors, tuple(one / (one.sum() or 1.0) for one in squares.values()))


def _some_entries(X: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n, p) entries that are hidden; a column keeps two of them."""
    known = np.isfinite(X)
    hidden = known & (rng.random(X.shape) < HIDDEN)
    return np.asarray(hidden & ((known & ~hidden).sum(axis=0) >= 2))


def _squares(X: Floats, hidden: list[NDArray[np.bool_]], k: int, wish: Wish, rng: np.random.Generator) -> Floats:
    """(p,) squared errors of the predictions of hidden entries, added up in each column."""
    squares = np.zeros(X.shape[1])
    for some in hidden:
        shown = np.where(some, np.nan, X)
        values = _predictions(shown, k, wish, rng) if k else np.broadcast_to(_means(shown), X.shape)
        squares += (np.where(some, X - values, 0.0) ** 2).sum(axis=0)
    return squares


def _means(X: Floats) -> Floats:
    """(p,) of what was observed; 0 where that is nothing."""
    known = np.isfinite(X)
    return np.asarray(np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _candidates(most: int) -> Iterator[int]:
    """1, 2, …, 6, 8, 10, 12, 15, 19, …: each about a quarter more than the one before."""
    k = 1
    while k <= most:
        yield k
        k = max(k + 1, round(1.25 * k))


def _predictions(shown: Floats, k: int, wish: Wish, rng: np.random.Generator) -> Floats:
    source, as_they_are = ArraySource(shown), Preparation(np.zeros(shown.shape[1]), None)
    compiled = pays_to_compile(len(shown), k)
    begin = Search(replace(wish, tol=ROUGH), start_from(shown, k, rng))
    found = search(lambda model: expected(model, source, as_they_are, compiled), begin, STEPS)
    assert found.best is not None
    return predicted(found.best, shown, compiled)[0]


# How likely rows are that were left out, under probabilistic PCA with 0, 1, 2, … components.
#
# A density can be judged by whole rows, unlike a reconstruction, which uses the entries that it is to predict: with
# every component more, a density has to spread thinner elsewhere.


FOLDS = 5


def held_out_densities(
    Y: Floats, most: int, rng: np.random.Generator, centered: bool = True, numbers: Places | None = None
) -> Floats:
    """(folds, most + 1) mean log density, per row, of the rows of each fold under the model of the others.

    `numbers` (n,): rows with the same one are copies of one row, which are held out together.
    """
    places = split_rows(np.arange(len(Y)) if numbers is None else numbers, FOLDS, rng)

    def densities(held: Places) -> Floats:
        return np.asarray(log_densities(np.delete(Y, held, axis=0), Y[held], most, centered).mean(axis=0))

    return np.array(list(in_order(densities, places)))


def log_densities(known: Floats, new: Floats, most: int, centered: bool = True) -> Floats:
    """(m, most + 1) log density of new rows under the most likely model of known ones with k = 0 … most components.

    −½ (p log 2π + Σ_{i ≤ k} (log λ_i + z_i²/λ_i) + (p − k) log σ² + (|x|² − Σ_{i ≤ k} z_i²)/σ²), by Tipping & Bishop
    1999; one decomposition serves all k.
    """
    p = known.shape[1]
    if centered:
        known, new = known - known.mean(axis=0), new - known.mean(axis=0)
    variances, axes = _axes(known, most)
    total = float((known**2).sum()) / len(known)
    k = np.arange(len(variances) + 1)
    least = LEAST_NOISE * total / p
    before = np.concatenate([[0.0], np.cumsum(variances)])
    noise = np.maximum((total - before) / (p - k), least)
    squares = (new @ axes) ** 2
    along = squares / variances + np.log(variances)
    nothing = np.zeros((len(new), 1))
    outside = (new**2).sum(axis=1)[:, None] - np.hstack([nothing, np.cumsum(squares, axis=1)])
    inside = np.hstack([nothing, np.cumsum(along, axis=1)])
    found = -0.5 * (p * np.log(2 * np.pi) + inside + (p - k) * np.log(noise) + outside / noise)
    short = most + 1 - found.shape[1]  # more components than the known rows have are none the better
    return np.hstack([found, np.full((len(new), short), -np.inf)]) if short else found


def _axes(Y: Floats, most: int) -> tuple[Floats, Floats]:
    """Up to `most` variances (k,) and axes (p, k) of centred rows, by the smaller of the two matrices of products."""
    n, p = Y.shape
    wide = n < p
    values, vectors = np.linalg.eigh((Y @ Y.T if wide else Y.T @ Y) / n)
    k = min(most, int((values > 1e-12 * max(values[-1], np.finfo(float).tiny)).sum()), p - 1)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return values, Y.T @ vectors / np.sqrt(n * values) if wide else vectors
