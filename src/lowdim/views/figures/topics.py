"""Which words each topic is made of."""

from __future__ import annotations

import numpy as np

from lowdim.results.topic_words import first_words
from lowdim.results.topics import Topics
from lowdim.views.figures.leading import Leading
from lowdim.views.figures.parts import Parts


def topic_words(found: Topics, most: int = 10, by: str = "weight", most_topics: int = 12) -> Parts:
    """The first words of each topic by "weight", "lift" or "relevance", always with their shares of the topic."""
    orders = first_words(found.topics, found.weights, by, most)
    shown = []
    for t in range(min(found.k, most_topics)):
        order = orders[t]
        agreed = "" if np.isnan(found.npmi[t]) else f", NPMI {found.npmi[t]:.2f}"
        note = f"{100 * found.weights[t]:.0f} % of the words{agreed}"
        words = tuple(found.words[j] for j in order)
        shown.append(Leading(words, found.topics[t, order], f"topic {t + 1}", note))
    return Parts(tuple(shown), max(0, found.k - most_topics), f"share of the topic; words by {by}")
