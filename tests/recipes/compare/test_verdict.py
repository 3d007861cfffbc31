"""How sure compare is: standard errors by the rows, and no winner where rows cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.preprocessing import FunctionTransformer

import lowdim
from lowdim import compare


def test_the_standard_error_is_that_of_other_rows_held_out() -> None:
    """Of a model that is the same whatever it learnt from, so that held-out rows alone differ."""
    rng = np.random.default_rng(0)
    rows = rng.gamma(2.0, size=(4000, 6))
    half = FunctionTransformer(np.copy, lambda codes: 0.9 * codes + 0.1, check_inverse=False)
    found = [compare(rows[i : i + 40], {"half": half}, held_out=38)["half"] for i in range(0, 4000, 40)]
    errors, sure = [one.error for one in found], [one.error_se for one in found]
    # of 100 tries the deviation is known to 1/√200 = 7 %, and the delta method is right to a few
    assert np.mean(sure) == pytest.approx(np.std(errors), rel=0.25)
    assert np.isnan(compare(rows[:9], {"half": half}, held_out=1)["half"].error_se)


class Off(BaseEstimator):
    """Gives rows back with noise of its own."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X)

    def inverse_transform(self, codes):
        return codes + 0.3 * np.random.default_rng(self.seed).standard_normal(codes.shape)


def test_no_winner_is_named_where_rows_cannot_tell() -> None:
    """Two models that are equally good: at 95 % one in twenty tries names one; seven of forty would be one in 300."""
    named = 0
    for seed in range(40):
        rows = np.random.default_rng(seed).standard_normal((40, 6))
        found = compare(rows, {"one": Off(2 * seed + 1), "other": Off(2 * seed + 2)}, held_out=15)
        named += "lose least, which 15 rows cannot tell apart" not in found.verdict()
    assert named <= 6


def test_few_rows_name_no_winner_and_many_do() -> None:
    wines = lowdim.datasets.wine().values
    few = compare(wines[:24], ["pca", "nmf"], 3, held_out=4)
    assert "lose least, which 4 rows cannot tell apart" in few.verdict()
    assert "vq" not in few.verdict()
    assert compare(wines, ["pca", "vq"], 3).verdict().startswith("pca loses least;")
    assert "which 1 row cannot tell apart" in compare(wines[:24], ["pca", "vq"], 3, held_out=1).verdict()
