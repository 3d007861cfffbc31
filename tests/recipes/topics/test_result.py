"""Rankings of words, worked out by hand for two topics of four words."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.recipes.topics.result import alive, first_words, lift, rank, topic_given_word

# the, cat, rare, bank; topics of 3/4 and 1/4 of all words
TOPICS = np.array([[0.6, 0.3, 0.1, 0.0], [0.6, 0.0, 0.0, 0.4]])
WEIGHTS = np.array([0.75, 0.25])
THE, CAT, RARE, BANK = range(4)


def test_bayes_and_lift() -> None:
    np.testing.assert_allclose(topic_given_word(TOPICS, WEIGHTS), [[0.75, 1, 1, 0], [0.25, 0, 0, 1]])
    # as frequent in a topic as in all: 1; in one topic alone: 1 / its weight
    np.testing.assert_allclose(lift(TOPICS, WEIGHTS), [[1, 4 / 3, 4 / 3, 0], [1, 0, 0, 4]])


@pytest.mark.parametrize(
    ("by", "first", "second"),
    [
        ("weight", [THE, CAT, RARE], [THE, BANK]),
        ("lift", [CAT, RARE, THE], [BANK, THE]),  # cat before rare, which is as much its own: it is more frequent
        # 0.6 log share + 0.4 log lift: the −0.31, cat −0.61, rare −1.27; the −0.31, bank 0.005
        ("relevance", [THE, CAT, RARE], [BANK, THE]),
    ],
)
def test_rankings(by: str, first: list[int], second: list[int]) -> None:
    found = first_words(TOPICS, WEIGHTS, by, 4)
    assert [row.tolist() for row in found] == [first, second]  # and no word that a topic does not have
    assert rank(TOPICS, WEIGHTS, by).shape == (2, 4)


def test_a_topic_that_nobody_has() -> None:
    # a share of 1e-12 is rounding, one of 1e-6 is not
    assert alive(np.array([1.0, 1e-12, 1e-6, 0.0])).tolist() == [True, False, True, False]
    assert (lift(TOPICS, np.array([1.0, 0.0]))[1] == 0).all()
    assert [len(row) for row in first_words(TOPICS, np.array([1.0, 0.0]), "relevance", 2)] == [2, 0]
