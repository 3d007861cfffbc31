"""Do the top words of a topic stand in the same texts? Two measures, from how many texts hold a word, or two of them.

NPMI is the mean over pairs of log(p_ij / (p_i p_j)) / −log p_ij: 1 where words are always together, 0 where they are
independent, −1 where they never meet (Bouma 2009, "Normalized (pointwise) mutual information in collocation
extraction"; of topics Aletras & Stevenson 2013, "Evaluating topic coherence using distributional semantics"). UMass is
Σ log((D_ij + 1) / D_j) over pairs in which j ranks before i (Mimno, Wallach, Talley, Leenders & McCallum 2011,
"Optimizing semantic coherence in topic models"): about 0 at best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
