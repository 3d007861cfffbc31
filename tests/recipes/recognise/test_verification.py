"""Curves of distances are scikit-learn's on the same scores, and intervals are Wilson's and the bootstrap's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score, roc_curve

from lowdim.models.recogniser.record import Rate
from lowdim.recipes.recognise.recognise import area, cumulative_matches, equal_error, open_set, verification

RNG = np.random.default_rng(0)
OWN = np.repeat(np.arange(12), 5)
DISTANCES = RNG.random((60, 12)).round(2)  # with ties
DISTANCES[np.arange(60), OWN] *= 0.6
TRUTH = np.zeros((60, 12), dtype=bool)
TRUTH[np.arange(60), OWN] = True


def test_roc_and_auc_are_scikit_learns() -> None:
    found = verification(DISTANCES, OWN, OWN, 0.95, 20, np.random.default_rng(0))
    false, true, _ = roc_curve(TRUTH.ravel(), -DISTANCES.ravel(), drop_intermediate=False)
    np.testing.assert_allclose(found.false_accept, false[1:], rtol=1e-12)
    np.testing.assert_allclose(found.true_accept, true[1:], rtol=1e-12)
    assert found.auc.value == pytest.approx(roc_auc_score(TRUTH.ravel(), -DISTANCES.ravel()), rel=1e-12)
    assert found.auc.low < found.auc.value < found.auc.high
    assert (found.genuine, found.impostor) == (60, 60 * 11)
    assert found.at(0.0) == true[false == 0].max()


def test_strangers_have_impostor_pairs_only() -> None:
    own = np.where(np.arange(60) < 50, OWN, -1)
    found = verification(DISTANCES, own, OWN, 0.95, 5, np.random.default_rng(0))
    assert (found.genuine, found.impostor) == (50, 60 * 12 - 50)
    assert verification(DISTANCES, np.full(60, -1), OWN, 0.95, 5, np.random.default_rng(0)) is None
    assert verification(DISTANCES[:, :1], np.zeros(60, dtype=int), OWN, 0.95, 5, np.random.default_rng(0)) is None


def test_intervals_are_wider_where_the_rows_of_a_person_agree() -> None:
    """Ten copies of each row hold no more than one: by person the interval stays, by probe it would shrink by √10."""
    copies = np.repeat(np.arange(60), 10)
    once = verification(DISTANCES, OWN, np.arange(60), 0.95, 400, np.random.default_rng(0))
    again = verification(DISTANCES[copies], OWN[copies], copies, 0.95, 400, np.random.default_rng(0))
    assert again.resampled == "identity"
    assert again.auc == once.auc  # the same draws of the same units
    few = verification(DISTANCES[:25], OWN[:25], OWN[:25], 0.95, 5, np.random.default_rng(0))
    assert few.resampled == "probe"  # of 5 people


@pytest.mark.slow
def test_the_interval_covers() -> None:
    """Of 200 samples of 40 people the 90 % interval of the AUC holds the truth in 81 to 96 %.

    Normal scores at distance 1 have an AUC of Φ(1/√2) = .760. Both ends are 4 standard errors, √(.9 · .1 / 200) = .02,
    from .9, and the percentile interval of 40 people is known to be a little short.
    """
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        distances = rng.normal(size=(40, 2))
        distances[:, 1] += 1
        found = verification(distances, np.zeros(40, dtype=int), np.arange(40), 0.9, 200, rng)
        hits += found.auc.low <= 0.7602 <= found.auc.high
    assert 0.81 <= hits / 200 <= 0.96


def test_equal_errors_of_curves_that_are_known() -> None:
    assert equal_error(np.array([0.0, 1.0]), np.array([1.0, 1.0])) == 0
    assert equal_error(np.array([0.1, 0.3, 1.0]), np.array([0.5, 0.7, 1.0])) == pytest.approx(0.3)
    assert equal_error(np.array([0.0, 0.4, 1.0]), np.array([0.6, 0.8, 1.0])) == pytest.approx(0.4 * 2 / 3)
    assert area(np.array([0.5, 1.0]), np.array([0.5, 1.0])) == 0.5


def test_ranks_add_up() -> None:
    shares = cumulative_matches(DISTANCES, OWN)
    mine = DISTANCES[np.arange(60), OWN][:, None]
    ranks = (mine >= DISTANCES).sum(axis=1)
    np.testing.assert_allclose(shares, [(ranks <= r).mean() for r in range(1, 13)])
    assert shares[-1] == 1
    assert (np.diff(shares) >= 0).all()


def test_open_set_levels_hold_for_the_strangers_given() -> None:
    known = np.arange(60) < 40
    nearest, right = DISTANCES.min(axis=1), DISTANCES.argmin(axis=1) == OWN
    found = open_set(nearest, right, known, (0.001, 0.05, 0.1, 0.5), 0.95)
    assert list(found.at) == [0.05, 0.1, 0.5]  # 20 strangers cannot tell 0.1 % from none
    for level, rate in found.at.items():
        limits = [t for t in nearest if (nearest[~known] <= t).mean() <= level]
        best = max([(right & (nearest <= t))[known].sum() for t in limits], default=0)
        assert (rate.count, rate.of) == (best, 40)
    assert found.identified[-1] == right[known].mean()
    assert open_set(nearest, right, np.ones(60, dtype=bool), (0.1,), 0.95) is None


@pytest.mark.parametrize(("count", "of"), [(0, 10), (10, 10), (3, 7), (181, 200)])
def test_wilsons_interval_is_scipys(count: int, of: int) -> None:
    peer = binomtest(count, of).proportion_ci(0.9, "wilson")
    rate = Rate(count, of, 0.9)
    assert (rate.low, rate.high) == pytest.approx((peer.low, peer.high), abs=1e-12)
    assert np.isnan(Rate(0, 0).value)
    assert np.isnan(Rate(0, 0).low)
