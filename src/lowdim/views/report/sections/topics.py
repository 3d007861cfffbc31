"""Words and texts of each topic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.topic_words import RANKINGS, first_words, lift
from lowdim.results.topics import Topics
from lowdim.views.report import encode
from lowdim.views.report.payload import Section

MOST_WORDS, MOST_TEXTS = 20, 12


def topics_section(found: Topics) -> Section:
    """Of each topic the words by three rankings, and the texts that have most of it."""
    orders = {by: first_words(found.topics, found.weights, by, MOST_WORDS) for by in RANKINGS}
    lifts = lift(found.topics, found.weights)
    shown = [
        {
            "name": f"topic {t + 1}",
            "share": encode.number(float(found.weights[t])),
            "documents": int(found.documents[t]),
            "npmi": encode.number(float(found.npmi[t])),
            "stability": None if found.stability is None else encode.number(float(found.stability[t])),
            "words": {by: _words(found, t, orders[by][t], lifts) for by in RANKINGS},
            "texts": _texts(found, t),
        }
        for t in range(found.k)
    ]
    return Section("topics", "The topics", {"topics": shown, "classes": _classes(found)}, first=True)


def _words(found: Topics, topic: int, which: NDArray[np.intp], lifts: NDArray[np.float64]) -> list[dict[str, Any]]:
    return [
        {
            "word": found.words[j],
            "share": encode.number(float(found.topics[topic, j])),
            "lift": encode.number(float(lifts[topic, j])),
        }
        for j in which
    ]


def _texts(found: Topics, topic: int) -> list[dict[str, Any]]:
    """The texts with the largest share of a topic; of equal ones the longest, whose share is the surest."""
    order = np.lexsort((-found.lengths, -found.shares[:, topic].round(3)))[:MOST_TEXTS]
    return [
        {
            "name": found.names[i],
            "label": None if found.labels is None else found.labels[i],
            "share": encode.number(float(found.shares[i, topic])),
            "words": int(found.lengths[i]),
        }
        for i in order
        if found.shares[i, topic] > 0
    ]


def _classes(found: Topics) -> dict[str, Any] | None:
    """Texts of each known class by their largest topic."""
    if found.labels is None:
        return None
    table = found.table("classes")
    counts = [[int(one) for one in table[f"topic{t + 1}"]] for t in range(found.k)]
    return {"names": list(table["class"]), "counts": [list(row) for row in zip(*counts, strict=True)]}
