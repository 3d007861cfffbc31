"""Topics by non-negative factors: rows of H as distributions of words, rows of W as shares of topics.

With the Kullback–Leibler divergence this is probabilistic latent semantic analysis: at a solution of X ≈ W H, with H
and W normalised, the objectives are the same (Ding, Li & Peng 2008, "On the equivalence between non-negative matrix
factorization and probabilistic latent semantic indexing").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.recipes.topic_counts import weighed
from lowdim.solvers import nmf_start
from lowdim.solvers.nmf_hals import Hals
from lowdim.solvers.nmf_kl_sparse import SparseNewton
from lowdim.solvers.nmf_loss import FROBENIUS, KULLBACK_LEIBLER
from lowdim.solvers.nmf_multiplicative import Multiplicative
from lowdim.solvers.nmf_search import Problem, Search, checked, search

Floats = NDArray[np.float64]

LOSSES = {"kl": KULLBACK_LEIBLER, "frobenius": FROBENIUS}

TOL = 1e-3
"""KKT residual, as a share of that of the start, at which topics stand: going on to 1e-4 changes the divergence in the
sixth digit."""

MOST_STEPS = 500

FADING = 1e-9
"""Share of the largest word of a topic below which a word is none of it."""

GENTLE = 5
"""Multiplicative updates, which are steps of EM, before the first Newton step: from equal shares those would give all
of a text to one topic, and some starts then end 2 % above the best divergence, as on the BBC's news (Carbonetto,
Sarkar, Wang & Stephens 2021, "Non-negative matrix factorization algorithms greatly improve topic model fits")."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Topics of n texts, whoever found them."""

    topics: Floats
    """(k, p) of each topic the shares of words; rows sum to 1."""
    shares: Floats
    """(n, k) of each text the shares of topics; rows sum to 1, or are zero where no word was counted."""
    chances: Floats
    """(k, p) of each topic the chances of words in a text to come, none of them zero."""
    codes: Callable[[Any], Floats]
    """Shares (m, k) of other texts, from their counts (m, p)."""
    objective: float = np.nan
    steps: int = 0
    reached: bool = True
    """Whether the search stood still before it had to stop."""


def fit_topics(X: Any, k: int, loss: str, seed: int, start: int = 0) -> Fitted:
    """Topics of counts (n, p) from one start: random, but for the first of least squares, which is that of NMF."""
    rng = np.random.default_rng([seed, start])
    counts = checked(X, LOSSES[loss])
    if loss == "kl":
        found, scale = _by_likelihood(counts, k, rng), 1.0
    else:
        found, scale = _by_least_squares(counts, k, rng, start == 0)
    return fitted(X, found.W, found.H, scale, found.objective[-1], found.steps, found.finished)


def fitted(X: Any, W: Floats, H: Floats, scale: Floats | float = 1.0, *search: Any) -> Fitted:
    """Topics and shares from non-negative factors of counts X (n, p), whose columns were multiplied by `scale`."""
    topics, shares = normalised(W, H)
    chances = smoothed(rows_to_one(topics / scale), expected_words(X, shares))
    return Fitted(topics, shares, chances, lambda others: likely_shares(others, chances), *search)


def _by_likelihood(X: Any, k: int, rng: np.random.Generator) -> Search:
    problem = Problem(X, KULLBACK_LEIBLER)
    gentle, solver = Multiplicative.of(problem), SparseNewton.of(problem)
    begun = search(gentle.begin(*_start(X, k, rng), 0.0), gentle.step, GENTLE)
    return search(solver.begin(begun.W, np.ascontiguousarray(begun.H), TOL), solver.step, MOST_STEPS)


def _by_least_squares(X: Any, k: int, rng: np.random.Generator, usual: bool) -> tuple[Search, Any]:
    """On tf-idf; with the weights of words, by which its topics must be divided to be about counts.

    The usual start is NNDSVDA, where `NMF` and scikit-learn's begin; there is none for more topics than texts or words.
    """
    T, idf = weighed(X)
    T = checked(T, FROBENIUS)
    solver = Hals.of(Problem(T))
    begun = nmf_start.start(T, k, "nndsvda", rng) if usual and k <= min(T.shape) else _start(T, k, rng)
    return search(solver.begin(*begun, TOL), solver.step, MOST_STEPS), idf


def _start(X: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Random topics, of which every text has the same shares: the order of texts makes no difference."""
    H = rows_to_one(np.abs(rng.standard_normal((k, X.shape[1]))))
    lengths = np.asarray(X.sum(axis=1)).ravel()
    return np.repeat(lengths[:, None] / k, k, axis=1), H


def normalised(W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """Topics (k, p) and shares (n, k) of the factors W and H, rows summing to 1.

    A part that is all zero becomes a topic of all words alike that no text has; a text without words has no topics.
    What is far below the largest share of a topic, on its way to zero, is zero.
    """
    H = np.where(FADING * H.max(axis=1, keepdims=True) < H, H, 0.0)
    sizes = H.sum(axis=1)
    topics = np.where(sizes[:, None] > 0, rows_to_one(H), 1.0 / H.shape[1])
    return topics, rows_to_one(W * sizes)


def rows_to_one(A: Floats) -> Floats:
    """Rows divided by their sums, unless these are zero."""
    sums = A.sum(axis=1, keepdims=True)
    return np.asarray(A / np.where(sums > 0, sums, 1.0))


def expected_words(X: Any, shares: Floats) -> Floats:
    """(k,) counted words that each topic has written."""
    return np.asarray(X.sum(axis=1)).ravel() @ shares


def smoothed(topics: Floats, words: Floats) -> Floats:
    """(k, p) chances of words in texts to come: 1/k is added to each expected count, as the prior of scikit-learn's LDA
    does. Otherwise a word that a topic has not met would be impossible (Asuncion, Welling, Smyth & Teh 2009, "On
    smoothing and inference for topic models")."""
    return rows_to_one(topics * words[:, None] + 1.0 / len(topics))


def likely_shares(X: Any, chances: Floats, steps: int = 100) -> Floats:
    """(m, k) shares of topics in texts with counts X (m, p), given the chances of words in topics (k, p).

    Expectation maximisation with 1/k added to the words that each topic has written (a Dirichlet prior); concave, so
    that there is one answer.
    """
    k = len(chances)
    lengths = np.asarray(X.sum(axis=1))[:, None]
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    at = np.ascontiguousarray(chances.T)[X.indices]  # (stored, k)
    shares = np.full((X.shape[0], k), 1.0 / k)
    for _ in range(steps):
        ratios = X.data / np.einsum("ek,ek->e", shares[row], at)
        ratio = type(X)((ratios, X.indices, X.indptr), shape=X.shape)
        moved = (shares * (ratio @ chances.T) + 1.0 / k) / (lengths + 1.0)
        change = float(np.abs(moved - shares).max(initial=0.0))
        shares = moved
        if change < 1e-6:
            break
    return shares
