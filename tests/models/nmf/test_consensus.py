"""Consensus of several starts: groups that all agree on, and those that none does."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.models.nmf.solvers.normal_form import consensus, stability


def test_the_same_groups_by_other_names_are_the_same():
    labels = np.repeat([0, 1, 2], 10)
    one = np.eye(3)[labels]
    assert consensus([one, one[:, [2, 0, 1]], 7 * one]) == pytest.approx(1.0)


def test_random_groups_do_not_agree():
    rng = np.random.default_rng(0)
    assert consensus([rng.random((60, 3)) for _ in range(10)]) < 0.7


def test_a_consensus_worked_out_by_hand():
    # rows a, b together in both starts, c with them in one: distances ab 0, ac ½, bc ½, and all tree distances the same
    first, second = np.array([[1, 0], [1, 0], [1, 0]]), np.array([[1, 0], [1, 0], [0, 1]])
    assert consensus([first, second]) == pytest.approx(1.0)


def test_parts_are_matched_one_for_one():
    H = np.eye(4)[:3] + 0.01
    found = stability(H, [H[[2, 0, 1]], 5 * H])
    np.testing.assert_allclose(found, 1.0)
