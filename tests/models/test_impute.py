"""Filling holes: observed entries stay, units do not matter, hidden entries are predicted better than by means."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lowdim.errors import BadInput
from lowdim.models.impute import fill

DATA = os.environ.get("LOWDIM_DATA")
RNG = np.random.default_rng(0)
WHOLE = RNG.standard_normal((300, 3)) @ RNG.standard_normal((3, 12)) + 0.2 * RNG.standard_normal((300, 12)) + 5
HOLES = np.where(np.random.default_rng(1).random(WHOLE.shape) < 0.15, np.nan, WHOLE)
NAMES = [f"x{j}" for j in range(12)]


def error(filled: np.ndarray, whole: np.ndarray, holes: np.ndarray) -> float:
    hidden = np.isnan(holes)
    return float(np.sqrt(np.mean((filled - whole)[hidden] ** 2)))


def test_observed_entries_stay_and_holes_are_gone():
    found = fill(HOLES, None, NAMES)
    seen = np.isfinite(HOLES)
    assert np.isfinite(found.values).all()
    np.testing.assert_array_equal(found.values[seen], HOLES[seen])
    assert (found.deviations[seen] == 0).all()
    assert (found.deviations[~seen] > 0).all()


def test_the_planted_number_of_components_is_found_and_fills_to_the_noise():
    found = fill(HOLES, None, NAMES)
    assert found.k == 3
    # noise 0.2, and some for scores that are known from about ten entries a row
    assert error(found.values, WHOLE, HOLES) < 0.3
    assert error(fill(HOLES, 0, NAMES).values, WHOLE, HOLES) > 1.0


def test_units_do_not_matter():
    units = 10.0 ** np.arange(-6, 6)
    one, other = fill(HOLES, 3, NAMES), fill(HOLES * units, 3, NAMES)
    # powers of ten are not exact, and EM adds up a hundred steps
    np.testing.assert_allclose(other.values / units, one.values, rtol=1e-8)
    np.testing.assert_allclose(other.deviations / units, one.deviations, rtol=1e-8)


def test_a_row_of_which_nothing_is_known_becomes_about_the_mean():
    X = HOLES.copy()
    X[7] = np.nan
    np.testing.assert_allclose(fill(X, 3, NAMES).values[7], np.nanmean(X, axis=0), atol=0.3)


def test_a_table_without_holes_stays_as_it_is():
    found = fill(WHOLE, None, NAMES)
    np.testing.assert_array_equal(found.values, WHOLE)


def test_a_constant_column_is_filled_with_its_value():
    X = HOLES.copy()
    X[:, 4] = np.where(np.isnan(X[:, 4]), np.nan, 2.5)
    np.testing.assert_allclose(fill(X, 2, NAMES).values[:, 4], 2.5, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "k", "message"),
    [
        (lambda X: X[:, 3].fill(np.nan), None, r"Nothing is known of 1 columns \(x3\)"),
        (lambda X: X[:, 5].fill(np.inf), None, "'x5' holds infinite"),
        (lambda X: None, 12, "determine at most 11"),
        (lambda X: X[3:, 2].fill(np.nan), 5, "determine at most 1"),
    ],
)
def test_what_cannot_be_filled_is_said(change, k, message):
    X = HOLES.copy()
    X[:3, 2] = 1.0
    change(X)
    with pytest.raises(BadInput, match=message):
        fill(X, k, NAMES)


@pytest.mark.skipif(DATA is None, reason="needs the folder LOWDIM_DATA")
def test_metabolites_are_filled_better_than_by_means():
    import pandas as pd

    holes = pd.read_csv(Path(str(DATA)) / "metabolite_missing.csv", index_col=0)
    whole = pd.read_csv(Path(str(DATA)) / "metabolite_complete.csv", index_col=0)
    found = fill(holes.to_numpy(), None, list(holes.columns))
    means = fill(holes.to_numpy(), 0, list(holes.columns))
    ours, theirs = (error(one.values, whole.to_numpy(), holes.to_numpy()) for one in (found, means))
    assert ours < 0.8 * theirs
