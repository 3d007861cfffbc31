"""Coherence by hand: every expected number is worked out on paper from four small texts."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
import scipy.sparse

from lowdim.recipes.topics.fit import coherence, npmi, umass

# cat dog | cat dog | cat fish | bird
PRESENCE = scipy.sparse.csr_array(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], dtype=float))
CAT, DOG, FISH, BIRD = range(4)
# p(cat, dog) = 2/4, p(cat) = 3/4, p(dog) = 2/4; p(cat, fish) = 1/4, p(fish) = 1/4
CAT_DOG = log((2 / 4) / (3 / 4 * 2 / 4)) / -log(2 / 4)
CAT_FISH = log((1 / 4) / (3 / 4 * 1 / 4)) / -log(1 / 4)


@pytest.mark.parametrize(
    ("words", "expected", "expected_umass"),
    [
        ([CAT, DOG], CAT_DOG, log((2 + 1) / 3)),
        ([DOG, CAT], CAT_DOG, log((2 + 1) / 2)),  # UMass divides by the texts of the better ranked word
        ([CAT, FISH], CAT_FISH, log((1 + 1) / 3)),
        ([CAT, BIRD], -1.0, log((0 + 1) / 3)),  # they never meet
        (
            [CAT, DOG, FISH],
            (CAT_DOG + CAT_FISH - 1) / 3,
            log((2 + 1) / 3) + log((1 + 1) / 3) + log((0 + 1) / 2),
        ),
    ],
)
def test_known_answers(words: list[int], expected: float, expected_umass: float) -> None:
    found, found_umass = coherence(PRESENCE, [np.array(words)])
    assert found == pytest.approx([expected])
    assert found_umass == pytest.approx([expected_umass])


def test_the_ends_of_the_scale() -> None:
    always = np.array([[2.0, 2.0], [2.0, 2.0]])
    assert npmi(always, 4) == pytest.approx(1.0)  # two words that are only ever together
    assert npmi(always, 2) == 1.0  # ... and in every text
    # independent words: p_ij = p_i p_j
    assert npmi(np.array([[2.0, 1.0], [1.0, 2.0]]), 4) == pytest.approx(0.0)
    assert npmi(np.zeros((2, 2)), 4) == -1.0  # words that a reference does not hold
    # nothing is known of words that a reference does not hold: 0 would be the best there is
    assert np.isnan(umass(np.zeros((2, 2))))
    assert np.isnan(umass(np.diag([3.0, 0.0, 2.0])))
    # a last word has no pair in which it divides: log(1 / 3) by the formula
    assert umass(np.diag([3.0, 0.0])) == pytest.approx(log(1 / 3))


def test_one_word_has_no_coherence() -> None:
    found, other = coherence(PRESENCE, [np.array([CAT]), np.array([CAT, DOG])])
    assert np.isnan(found[0])
    assert np.isnan(other[0])
    assert found[1] == pytest.approx(CAT_DOG)
