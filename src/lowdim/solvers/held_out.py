"""How many hidden columns: as many as predict entries best that were hidden from the fit.

Entries, not rows, are hidden, because a left-out row would be projected with its own entries (Bro et al. 2008,
"Cross-validation of component models"; Ilin & Raiko 2010 for missing values).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation
from lowdim.solvers.latent import predicted
from lowdim.solvers.ppca_em import Search, Wish, search
from lowdim.solvers.ppca_expected import expected, pays_to_compile
from lowdim.solvers.ppca_start import start_from
from lowdim.sources.memory import ArraySource

Floats = NDArray[np.float64]

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
