"""How well topics foretell the words of texts that they were not learnt from: document completion.

Some texts are held out. Of each, half of the words are shown, from which its shares of topics are found; the other half
are foretold. The perplexity is exp(−mean log chance) of a foretold word: a model that knew nothing but p words, all
alike, would have p (Wallach, Murray, Salakhutdinov & Mimno 2009, "Evaluation methods for topic models").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.recipes.topic_fit import Fitted

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
