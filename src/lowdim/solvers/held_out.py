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
"""Share of the observed entries that are hidden."""

ROUGH = 1e-4
"""Gain per row at which EM is stopped here: predictions settle long before the last digits of the likelihood."""

STEPS = 200


@dataclass(frozen=True)
class Trial:
    """How well hidden entries were predicted with 0, 1, 2, … components."""

    ks: tuple[int, ...]
    errors: tuple[float, ...]
    """Root mean square errors."""
    chosen: int
    """Fewest components whose error is within one standard error of the least."""


def try_ks(X: Floats, most: int, wish: Wish, rng: np.random.Generator) -> Trial:
    """Hide some entries of rows (n, p) with holes, and predict them with up to `most` components."""
    known = np.isfinite(X)
    hidden = known & (rng.random(X.shape) < HIDDEN)
    hidden &= (known & ~hidden).sum(axis=0) >= 2  # a column keeps two entries
    if not hidden.any():
        return Trial((0,), (0.0,), 0)
    shown, truth = np.where(hidden, np.nan, X), X[hidden]
    squares = {0: (truth - np.broadcast_to(np.nanmean(shown, axis=0), X.shape)[hidden]) ** 2}
    for k in _candidates(most):
        squares[k] = (truth - _predictions(shown, k, wish, rng)[hidden]) ** 2
        means = [float(square.mean()) for square in squares.values()]
        if len(means) > 3 and min(means[-2:]) > min(means):  # two in a row were no better
            break
    errors = tuple(float(np.sqrt(square.mean())) for square in squares.values())
    return Trial(tuple(squares), errors, _fewest(squares))


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


def _fewest(squares: dict[int, Floats]) -> int:
    """Fewest components that are not worse than the best by more than the standard error of the difference."""
    best = min(squares, key=lambda k: float(squares[k].mean()))
    for k in sorted(squares):
        apart = squares[k] - squares[best]
        if apart.mean() <= apart.std() / np.sqrt(len(apart)):
            return k
    return best
