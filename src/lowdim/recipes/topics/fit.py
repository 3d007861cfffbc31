"""Topics by non-negative factors, and how good they are: coherence, held-out words, stability, and peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import normalized_mutual_info_score

from lowdim.models.nmf.loss import FROBENIUS, KULLBACK_LEIBLER
from lowdim.models.nmf.solvers import start as nmf_start
from lowdim.models.nmf.solvers.hals import Hals
from lowdim.models.nmf.solvers.newton import SparseNewton
from lowdim.models.nmf.solvers.normal_form import matched
from lowdim.models.nmf.solvers.problem import Problem, Search, checked, search
from lowdim.models.nmf.solvers.textbook import Multiplicative
from lowdim.recipes.topics.counts import weigh
from lowdim.types import Floats

# Do the top words of a topic stand in the same texts? Two measures, from how many texts hold a word, or two of them.
#
# NPMI is the mean over pairs of log(p_ij / (p_i p_j)) / −log p_ij: 1 where words are always together, 0 where they
# are independent, −1 where they never meet (Bouma 2009, "Normalized (pointwise) mutual information in collocation
# extraction"; of topics Aletras & Stevenson 2013, "Evaluating topic coherence using distributional semantics"). UMass
# is Σ log((D_ij + 1) / D_j) over pairs in which j ranks before i (Mimno, Wallach, Talley, Leenders & McCallum 2011,
# "Optimizing semantic coherence in topic models"): about 0 at best.

TOP = 10
"""Words of a topic that are looked at."""


def coherence(presence: Any, top: Sequence[NDArray[np.intp]]) -> tuple[Floats, Floats]:
    """NPMI (k,) and UMass (k,) of topics by their top words, best first; NaN where there are no two, and of UMass where
    one of them is in no text.

    `presence` is (texts, p), sparse, 1 where a word is in a text.
    """
    pairs = [_together(presence, words) for words in top]
    n = presence.shape[0]
    return np.array([npmi(D, n) for D in pairs]), np.array([umass(D) for D in pairs])


def npmi(D: Floats, n: int) -> float:
    """Mean over pairs of words, from the texts of n that hold both (m, m); a word without texts meets no other."""
    i, j = np.triu_indices(len(D), 1)
    if not len(i):
        return float("nan")
    both = D[i, j] / n
    there = both > 0
    expected = D[i, i] * D[j, j] / n**2
    values = np.full(len(i), -1.0)
    alone = there & (both < 1)
    values[alone] = np.log(both[alone] / expected[alone]) / -np.log(both[alone])
    values[there & (both >= 1)] = 1.0  # both in every text: the limit of words that are always together
    return float(values.mean())


def umass(D: Floats) -> float:
    """Σ over pairs of log((D_ij + 1) / D_j), where j is the better ranked word; NaN where no text holds such a word, of
    which nothing is known."""
    j, i = np.triu_indices(len(D), 1)
    if not len(i) or not D[j, j].all():
        return float("nan")
    return float(np.log((D[i, j] + 1) / D[j, j]).sum())


def _together(presence: Any, words: NDArray[np.intp]) -> Floats:
    """(m, m) texts that hold both of two words; on the diagonal those that hold one."""
    some = presence[:, words]
    return np.asarray((some.T @ some).toarray())


# Topics by non-negative factors: rows of H as distributions of words, rows of W as shares of topics.
#
# With the Kullback–Leibler divergence this is probabilistic latent semantic analysis: at a solution of X ≈ W H, with
# H and W normalised, the objectives are the same (Ding, Li & Peng 2008, "On the equivalence between non-negative
# matrix factorization and probabilistic latent semantic indexing").

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
    return topics_from_factors(X, found.W, found.H, scale, found.objective[-1], found.steps, found.finished)


def topics_from_factors(X: Any, W: Floats, H: Floats, scale: Floats | float = 1.0, *search: Any) -> Fitted:
    """Topics and shares from non-negative factors of counts X (n, p), whose columns were multiplied by `scale`."""
    topics, shares = normalise(W, H)
    chances = smooth(rows_to_one(topics / scale), expected_words(X, shares))
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
    T, idf = weigh(X)
    T = checked(T, FROBENIUS)
    solver = Hals.of(Problem(T))
    begun = nmf_start.start(T, k, "nndsvda", rng) if usual and k <= min(T.shape) else _start(T, k, rng)
    return search(solver.begin(*begun, TOL), solver.step, MOST_STEPS), idf


def _start(X: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Random topics, of which every text has the same shares: the order of texts makes no difference."""
    H = rows_to_one(np.abs(rng.standard_normal((k, X.shape[1]))))
    lengths = np.asarray(X.sum(axis=1)).ravel()
    return np.repeat(lengths[:, None] / k, k, axis=1), H


def normalise(W: Floats, H: Floats) -> tuple[Floats, Floats]:
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


def smooth(topics: Floats, words: Floats) -> Floats:
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


# How well topics foretell the words of texts that they were not learnt from: document completion.
#
# Some texts are held out. Of each, half of the words are shown, from which its shares of topics are found; the other
# half are foretold. The perplexity is exp(−mean log chance) of a foretold word: a model that knew nothing but p
# words, all alike, would have p (Wallach, Murray, Salakhutdinov & Mimno 2009, "Evaluation methods for topic models").

LEAST_WORDS = 2
"""A text that is held out must have so many counted words: one to show and one to hide."""


def perplexity(
    fit: Callable[[Any], Fitted], X: Any, texts: Sequence[str], first: NDArray[np.bool_], share: float, seed: int
) -> float | None:
    """Perplexity of a share of the texts, after `fit` has seen the counts (m, p) of the others; None if too few.

    Repeated texts stand on neither side: what is foretold must not have been read.
    """
    rng = np.random.default_rng(seed)
    lengths = np.asarray(X.sum(axis=1)).ravel()
    able = np.flatnonzero(first & (lengths >= LEAST_WORDS))
    held = round(share * len(able))
    if held < 1 or len(able) - held < 2:
        return None
    # texts are drawn, and their words, in an order that is their own
    able = able[np.argsort([_digest(texts[int(i)]) for i in able])]
    chosen = rng.permutation(len(able))
    out, kept = able[np.sort(chosen[:held])], np.sort(able[chosen[held:]])
    fitted = fit(X[kept])
    shown, hidden = halves(X[out], rng)
    row = np.repeat(np.arange(len(out)), np.diff(hidden.indptr))
    shares = fitted.codes(shown)
    chances = np.einsum("ek,ek->e", shares[row], fitted.chances.T[hidden.indices])
    return float(np.exp(-(hidden.data @ np.log(chances)) / hidden.data.sum()))


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest()) >> 1  # fits an int64


def halves(X: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Counts (m, p) of two halves of each text's words, drawn at random; the first has the odd word."""
    count = X.data.astype(np.intp)
    row = np.repeat(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), count)
    word = np.repeat(X.indices, count)
    order = np.lexsort((rng.random(len(row)), row))  # rows stay where they are, words in them are shuffled
    lengths = np.bincount(row, minlength=X.shape[0])
    rank = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shown = 2 * rank < lengths[row]
    sides = [(row[part], word[order][part]) for part in (shown, ~shown)]
    one, other = (scipy.sparse.csr_array((np.ones(len(r)), (r, w)), shape=X.shape) for r, w in sides)
    return one, other


# What scikit-learn makes of the same counts: latent Dirichlet allocation, and how far classes agree with topics.

PASSES = 50
"""Over all texts, as scikit-learn's default of 10 stops early: on the BBC's news with five topics the perplexity of
what was read falls by 3.9 % from 10 passes to 50, and by 0.3 % from there to 100."""


def fit_lda(X: Any, k: int, seed: int, max_iter: int = PASSES, **settings: Any) -> Fitted:
    """Topics of counts (n, p) by variational Bayes, from one start; all else is scikit-learn's own unless given."""
    model = LatentDirichletAllocation(k, random_state=seed, max_iter=max_iter, **settings)
    shares = model.fit_transform(X)
    empty = np.asarray(X.sum(axis=1)).ravel() == 0
    topics = rows_to_one(model.components_)
    return Fitted(topics, np.where(empty[:, None], 0.0, shares), topics, model.transform, steps=model.n_iter_)


def agreement(shares: Floats, labels: Sequence[str | None]) -> float | None:
    """Normalised mutual information of each text's largest topic and its known class: 0 to 1, arithmetic mean.

    Texts without topics, or without a class (None), are left out; None if none is left.
    """
    known = (shares.sum(axis=1) > 0) & np.array([label is not None for label in labels])
    if not known.any():
        return None
    classes = [label for label, one in zip(labels, known, strict=True) if one]
    return float(normalized_mutual_info_score(classes, shares[known].argmax(axis=1)))


# Would another start have found the same topics? Topics of two fits are matched one to one, and compared.

FAR = 0.01
"""Starts that end more than this share above the best objective are left out."""


def stability(topics: Floats, others: Sequence[Floats]) -> Floats | None:
    """(k,) mean cosine of each topic (k, p) with its counterpart in other fits; None without others (Greene,
    O'Callaghan & Cunningham 2014, "How many topics? Stability analysis for topic models").

    A topic of all zeros is one that no text has: NaN, and no counterpart to any other.
    """
    if not others:
        return None
    alike = np.mean([matched(topics, other)[1] for other in others], axis=0)
    return np.where(topics.any(axis=1), alike, np.nan)


def near_the_best(objectives: Sequence[float], scale: float) -> list[int]:
    """Which of the starts, by what they reached, came so near the best that they say something about its topics.

    One that was caught far above is another answer to another question. `scale` is the number of counted words: where
    the best is all but exact, differences of a millionth of it are rounding.
    """
    limit = min(objectives) * (1 + FAR) + 1e-6 * scale
    return [i for i, objective in enumerate(objectives) if objective <= limit]
