"""Which words stand for a topic: three rankings of the words of each, from the shares of words in topics alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RELEVANCE = 0.6
"""Weight of the chance of a word against its lift that people told topics apart best with (Sievert & Shirley 2014,
"LDAvis: a method for visualizing and interpreting topics")."""

ALIKE = 1e-3
"""Chances of a topic, given the word, that differ by less are the same: the more frequent word then comes first."""

DEAD = 1e-9
"""Share of all words up to which a topic has written none but by rounding."""


def ranked(topics: Floats, weights: Floats, by: str) -> NDArray[np.intp]:
    """(k, p) words of each topic, best first, from the shares of words in topics (k, p) and of topics in all (k,)."""
    scores = RANKINGS[by](topics, weights)
    return np.lexsort((-topics, -scores), axis=1)


def first_words(topics: Floats, weights: Floats, by: str, most: int) -> list[NDArray[np.intp]]:
    """Of each topic its first words, none of which it does not have; none at all of a topic that no text has."""
    rows = zip(ranked(topics, weights, by)[:, :most], topics, alive(weights), strict=True)
    return [row[(shares[row] > 0) & living] for row, shares, living in rows]


def alive(weights: Floats) -> NDArray[np.bool_]:
    """(k,) whether a topic has written any word, given how many each has, or which share of all."""
    return np.asarray(weights > DEAD * weights.sum())


def by_weight(topics: Floats, weights: Floats) -> Floats:
    """The share of a word in the topic."""
    return topics


def by_lift(topics: Floats, weights: Floats) -> Floats:
    """How much more frequent a word is in the topic than in all texts, P(word | topic) / P(word).

    The lift is P(topic | word) / P(topic), so words that no other topic has are all alike.
    """
    given = topic_given_word(topics, weights)
    return np.round(given / ALIKE)


def by_relevance(topics: Floats, weights: Floats) -> Floats:
    """0.6 log share + 0.4 log lift."""
    given = topic_given_word(topics, weights)
    return RELEVANCE * _log(topics) + (1 - RELEVANCE) * (_log(given) - _log(weights)[:, None])


RANKINGS = {"weight": by_weight, "lift": by_lift, "relevance": by_relevance}


def lift(topics: Floats, weights: Floats) -> Floats:
    """(k, p) P(word | topic) / P(word)."""
    given = topic_given_word(topics, weights)
    return np.divide(given, weights[:, None], out=np.zeros_like(given), where=weights[:, None] > 0)


def topic_given_word(topics: Floats, weights: Floats) -> Floats:
    """(k, p) P(topic | word), by Bayes' rule."""
    joint = topics * weights[:, None]
    total = joint.sum(axis=0)
    return np.asarray(joint / np.where(total > 0, total, 1.0))


def _log(values: Floats) -> Floats:
    return np.log(np.maximum(values, 1e-300))
