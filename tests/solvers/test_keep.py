"""Rules for the number of components, at their edges."""

import numpy as np
import pytest

from lowdim.solvers.keep import KeepCount, KeepMinka, KeepShare

VALUES = np.array([4.0, 3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("share", "expected"),
    [(1e-9, 1), (0.4, 1), (0.4 + 1e-6, 2), (0.7, 2), (0.699999, 2), (0.700001, 3), (0.9, 3), (0.95, 4), (1.0, 4)],
)
def test_a_share_is_met_when_it_is_reached(share: float, expected: int) -> None:
    assert KeepShare(share).count(VALUES, 10.0) == expected


def test_a_share_is_reached_up_to_the_rounding_of_the_sum() -> None:
    thirds = np.full(3, 1 / 3)
    assert KeepShare(1.0).count(thirds, float(np.nextafter(thirds.sum(), 2))) == 3
    assert KeepShare(0.7).count(np.array([0.1] * 10), sum([0.1] * 10)) == 7


def test_more_values_are_asked_for_until_the_share_is_reached() -> None:
    assert KeepShare(0.9).count(VALUES[:2], 10.0) is None
    assert KeepShare(0.9).count(VALUES[:3], 10.0) == 3
    assert KeepShare(0.9).count(VALUES[:0], 10.0) is None


def test_the_whole_of_a_fraction_is_never_taken_for_all() -> None:
    # the leading values of a larger spectrum: 1.0 is not reached by what was seen
    assert KeepShare(1.0).count(VALUES[:3], 10.0) is None


def test_without_variance_one_component_is_enough() -> None:
    assert KeepShare(0.9).count(np.zeros(3), 0.0) == 1
    assert KeepShare(1.0).count(np.zeros(3), 0.0) == 1


@pytest.mark.parametrize("share", [0.3, 0.75, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("seen", [1, 2, 3, 5, 9])
def test_the_bound_from_below_is_one(share: float, seen: int) -> None:
    values = 0.7 ** np.arange(30)
    rule, total = KeepShare(share), float(values.sum())
    answer = rule.count(values, total)
    assert answer is not None
    assert 1 <= rule.at_least(values[:seen], total) <= answer


def test_the_bound_from_below_is_sharp_for_equal_values() -> None:
    assert KeepShare(0.5).at_least(np.ones(3), 100.0) == 50


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(2), np.array([1.0, 0.0])])
def test_the_bound_from_below_survives_values_of_zero(values: np.ndarray) -> None:
    assert KeepShare(0.9).at_least(values, 10.0) >= 0


def test_a_count_needs_that_many_values() -> None:
    assert KeepCount(3).count(VALUES[:2], 10.0) is None
    assert KeepCount(3).count(VALUES, 10.0) == 3
    assert KeepCount(3).at_least(VALUES[:1], 10.0) == 3


def test_rules_describe_themselves() -> None:
    assert KeepCount(3).describe() == "k = 3"
    assert "0.9" in KeepShare(0.9).describe()
    assert "Minka" in KeepMinka(10.0, 4).describe()


def test_only_minka_needs_the_whole_spectrum() -> None:
    assert KeepMinka(10.0, 4).needs_all
    assert not KeepShare(0.9).needs_all
    assert not KeepCount(2).needs_all
