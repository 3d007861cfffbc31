"""What topics were found in a collection of texts, the words that stand for them, and how far to rely on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.results.table import Table
from lowdim.types import Floats, is_whole

# Which words stand for a topic: three rankings of the words of each, from the shares of words in topics alone.

RELEVANCE = 0.6
"""Weight of the chance of a word against its lift that people told topics apart best with (Sievert & Shirley 2014,
"LDAvis: a method for visualizing and interpreting topics")."""

ALIKE = 1e-3
"""Chances of a topic, given the word, that differ by less are the same: the more frequent word then comes first."""

DEAD = 1e-9
"""Share of all words up to which a topic has written none but by rounding."""


def rank(topics: Floats, weights: Floats, by: str) -> NDArray[np.intp]:
    """(k, p) words of each topic, best first, from the shares of words in topics (k, p) and of topics in all (k,)."""
    scores = RANKINGS[by](topics, weights)
    return np.lexsort((-topics, -scores), axis=1)


def first_words(topics: Floats, weights: Floats, by: str, most: int) -> list[NDArray[np.intp]]:
    """Of each topic its first words, none of which it does not have; none at all of a topic that no text has."""
    rows = zip(rank(topics, weights, by)[:, :most], topics, alive(weights), strict=True)
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


# What topics were found in a collection of texts, and how far they can be relied on.

NO_CLASS = "(none)"
"""How a missing class is shown beside others."""


@dataclass(frozen=True)
class Vocabulary:
    """Which words were counted."""

    words: tuple[str, ...]
    min_df: int
    """Texts that a word is in, at least …"""
    most_df: int
    """… and at most."""
    stop_words: str
    """Which were left out: "English", "none", or how many."""


@dataclass(frozen=True)
class Scores:
    """How good the topics of one method are. None is what was not asked for, or cannot be told."""

    method: str
    npmi: float
    """Mean coherence of the topics, by normalised pointwise mutual information: −1 to 1."""
    umass: float
    """Mean coherence by Mimno's measure: about 0 at best."""
    perplexity: float | None
    """Of held-out words; lower is better."""
    agreement: float | None
    """Normalised mutual information with known classes: 0 to 1."""
    seconds: float
    """That one fit took."""
    how: str = ""
    """Starts and steps: methods are not run alike."""
    words: int = 10
    """Words of each topic that coherence is about: ten, or fewer where a topic of any method has fewer. Topics of one
    word have none."""


@dataclass(frozen=True, eq=False)
class Topics:
    """k topics of n texts over p words, the one with most words first."""

    topics: Floats
    """(k, p) of each topic the shares of words; rows sum to 1."""
    shares: Floats
    """(n, k) of each text the shares of topics; rows sum to 1, or are zero where no word was counted."""
    lengths: Floats
    """(n,) counted words of each text."""
    vocabulary: Vocabulary
    names: tuple[str, ...]
    """Of the texts."""
    labels: tuple[str | None, ...] | None
    """Known classes; None where one is missing."""
    repeats: int
    """Texts that stood before; they count for the topics, but not for coherence and perplexity."""
    loss: str
    npmi: Floats
    """(k,) coherence of the ten words of most weight; NaN where there are no two."""
    umass: Floats
    """(k,) NaN also where no text holds one of them."""
    stability: Floats | None
    """(k,) mean cosine with the same topic of other starts within 1 % of the best; None without such, NaN of a topic
    that no text has."""
    objectives: tuple[float, ...]
    """What each start reached, best first: that one was kept."""
    steps: int
    reached: bool
    """Whether the search stood still before it had to stop."""
    scores: tuple[Scores, ...]
    """Of these topics, and of what they were compared with."""

    @property
    def k(self) -> int:
        """Number of topics."""
        return len(self.topics)

    @property
    def words(self) -> tuple[str, ...]:
        """The p words that were counted."""
        return self.vocabulary.words

    @property
    def weights(self) -> Floats:
        """(k,) share of all counted words that each topic has written."""
        return np.asarray(self.lengths @ self.shares / max(float(self.lengths.sum()), 1.0))

    @property
    def main(self) -> NDArray[np.intp]:
        """(n,) the largest topic of each text, from 0; −1 where no word was counted."""
        return np.where(self.empty, -1, self.shares.argmax(axis=1))

    @property
    def empty(self) -> NDArray[np.bool_]:
        """(n,) whether no word of a text was counted."""
        return np.asarray(self.lengths == 0)

    @property
    def documents(self) -> NDArray[np.intp]:
        """(k,) texts whose largest topic this is."""
        return np.bincount(self.main[~self.empty], minlength=self.k)

    @property
    def effective(self) -> Floats:
        """(k,) texts' worth of shares: their sum."""
        return np.asarray(self.shares.sum(axis=0))

    @property
    def agreement(self) -> float | None:
        """Normalised mutual information of largest topics and known classes."""
        return self.scores[0].agreement

    @property
    def perplexity(self) -> float | None:
        """Of held-out words."""
        return self.scores[0].perplexity

    def top_words(self, by: str = "weight", most: int = 10) -> list[list[str]]:
        """The first words of each topic; none of a topic that no text has.

        Parameters
        ----------
        by : {"weight", "lift", "relevance"}
            Their share of the topic; how much more frequent they are in it than in all texts; or 0.6 log share +
            0.4 log lift.
        most : int
            Words of each topic, at most.

        Returns
        -------
        list of lists of str
            k of them, the best word first.
        """
        if by not in RANKINGS:
            raise BadParameter.of("top_words", "by", by, f"one of {', '.join(RANKINGS)}")
        if not is_whole(most) or most < 1:
            raise BadParameter.of("top_words", "most", most, "a whole number from 1")
        return [[self.words[j] for j in row] for row in first_words(self.topics, self.weights, by, most)]

    def table(self, name: str = "topics") -> Table:
        """A table by name.

        Parameters
        ----------
        name : {"topics", "words", "documents", "scores", "classes"}
            A row for each topic; for each of its first words, by any ranking; for each text; for each method that was
            compared; or for each class, where these are known, with its texts by their largest topic.

        Returns
        -------
        Table
        """
        makers: dict[str, Callable[[], dict[str, Any]]] = {
            "topics": self._topics,
            "words": self._words,
            "documents": self._documents,
            "scores": self._scores,
            "classes": self._classes,
        }
        if name not in makers or (name == "classes" and self.labels is None):
            known = [one for one in makers if one != "classes" or self.labels is not None]
            raise BadParameter.of("table", "name", name, f"one of {', '.join(known)}")
        return Table(makers[name]())

    def _topics(self) -> dict[str, Any]:
        columns = {
            "topic": np.arange(1, self.k + 1),
            "share": self.weights,
            "documents": self.documents,
            "effective": self.effective,
            "npmi": self.npmi,
            "umass": self.umass,
        }
        if self.stability is not None:
            columns["stability"] = self.stability
        return columns | {"words": [" ".join(words) for words in self.top_words()]}

    def _words(self, most: int = 30) -> dict[str, Any]:
        """Of each topic the first words by any ranking, those of most weight first; ranks beyond `most` are missing."""
        orders = {f"rank_by_{by}": first_words(self.topics, self.weights, by, most) for by in RANKINGS}
        lifts = lift(self.topics, self.weights)
        columns: dict[str, list[Any]] = {name: [] for name in ("topic", "word", "share", "lift", *orders)}
        for t in range(self.k):
            places = {name: {int(j): i + 1 for i, j in enumerate(order[t])} for name, order in orders.items()}
            some = sorted(set().union(*places.values()), key=lambda j: (-self.topics[t, j], j))
            columns["topic"] += [t + 1] * len(some)
            columns["word"] += [self.words[j] for j in some]
            columns["share"] += self.topics[t, some].tolist()
            columns["lift"] += lifts[t, some].tolist()
            for name, place in places.items():
                columns[name] += [float(place.get(j, np.nan)) for j in some]
        return dict(columns)

    def _documents(self) -> dict[str, Any]:
        classes = {} if self.labels is None else {"class": list(self.labels)}
        shares = {f"topic{t + 1}": self.shares[:, t] for t in range(self.k)}
        return {
            "name": list(self.names),
            **classes,
            "words": self.lengths.astype(np.int64),
            "main": self.main + 1,
            **shares,
        }

    def _scores(self) -> dict[str, Any]:
        unknown = float("nan")
        return {
            "method": [one.method for one in self.scores],
            "npmi": [one.npmi for one in self.scores],
            "umass": [one.umass for one in self.scores],
            "perplexity": [unknown if one.perplexity is None else one.perplexity for one in self.scores],
            "agreement": [unknown if one.agreement is None else one.agreement for one in self.scores],
            "seconds": [one.seconds for one in self.scores],
            "words": [one.words for one in self.scores],
            "how": [one.how for one in self.scores],
        }

    def _classes(self) -> dict[str, Any]:
        """Texts of each class by their largest topic; those without a class last."""
        labels = self.labels or ()
        names = sorted({label for label in labels if label is not None}) + [None] * (None in labels)
        place = {name: i for i, name in enumerate(names)}
        codes = np.array([place[label] for label in labels], dtype=np.intp)
        counts = [np.bincount(codes[self.main == t], minlength=len(names)) for t in range(self.k)]
        return {
            "class": [NO_CLASS if name is None else name for name in names],
            **{f"topic{t + 1}": count for t, count in enumerate(counts)},
        }

    def __str__(self) -> str:
        return repr(self.table())
