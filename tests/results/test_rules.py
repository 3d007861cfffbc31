"""Rules for the number of components, against answers worked by hand and published tables."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.results.rules import broken_stick, broken_stick_count, kaiser_count, share_count, spectrum_advice

DECATHLON = np.array([3.2719, 1.7371, 1.4049, 1.0568, 0.6848, 0.5993, 0.4512, 0.3969, 0.2148, 0.1822])
"""Eigenvalues of the correlations of the decathlon data of FactoMineR (Lê, Josse & Husson 2008): four above one."""


def test_broken_stick_of_three_pieces():
    # 1/3 (1 + 1/2 + 1/3), 1/3 (1/2 + 1/3), 1/3 · 1/3
    np.testing.assert_allclose(broken_stick(3), [11 / 18, 5 / 18, 2 / 18], rtol=1e-15)


@pytest.mark.parametrize("count", [1, 2, 7, 500])
def test_broken_sticks_have_length_one_and_descend(count):
    pieces = broken_stick(count)
    assert pieces.sum() == pytest.approx(1.0, rel=1e-13)  # 500 terms of rounding
    assert (np.diff(pieces) < 0).all()


def test_kaiser_counts_eigenvalues_above_one_of_a_correlation_matrix():
    assert kaiser_count(DECATHLON) == 4


def test_kaiser_keeps_none_of_equal_variances():
    assert kaiser_count(np.full(5, 0.3)) == 0


def test_broken_stick_by_hand():
    # pieces of 10: 0.293, 0.193, 0.143, …; shares 0.327, 0.174: the second falls short
    assert broken_stick_count(DECATHLON) == 1
    # pieces of 3: 0.611, 0.278: shares 0.62 and 0.30 are longer, 0.08 is not
    assert broken_stick_count(np.array([0.62, 0.30, 0.08])) == 2
    # a later piece that is longer again does not count
    assert broken_stick_count(np.array([0.50, 0.45, 0.05])) == 0
    assert broken_stick_count(np.zeros(3)) == 0


def test_shares_are_reached_when_met_exactly():
    assert share_count(np.array([8.0, 1.0, 1.0]), 0.8) == 1
    assert share_count(np.array([8.0, 1.0, 1.0]), 0.9) == 2
    assert share_count(np.full(10, 0.1), 0.8) == 8  # ten times 0.1 is not 1 in binary
    assert share_count(DECATHLON, 0.8) == 5


def test_advice_names_every_rule_once():
    advice = spectrum_advice(DECATHLON)
    assert [one.k for one in advice] == [5, 7, 8, 4, 1]
    assert len({one.rule for one in advice}) == len(advice)
