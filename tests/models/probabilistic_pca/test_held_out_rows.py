"""Densities of rows that were left out, against SciPy's."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import lowdim
from lowdim.models.probabilistic_pca.count import held_out_densities, log_densities
from lowdim.solvers.rank.bi_cross_validation import split_rows

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [50, 9], ids=["tall", "wide"])
def test_densities_are_those_of_the_normal_law(n):
    known, new = RNG.standard_normal((n, 12)) @ RNG.standard_normal((12, 12)), RNG.standard_normal((4, 12))
    found = log_densities(known, new, 5)
    for k in range(1, 6):
        model = lowdim.ProbabilisticPCA(k, solver="closed").fit(known)
        law = multivariate_normal(model.mean_, model.get_covariance())
        np.testing.assert_allclose(found[:, k], law.logpdf(new), rtol=1e-8)
    even = multivariate_normal(known.mean(axis=0), known.var(axis=0).mean() * np.eye(12))
    np.testing.assert_allclose(found[:, 0], even.logpdf(new), rtol=1e-10)


def test_more_components_than_known_rows_have_are_no_answer():
    found = log_densities(RNG.standard_normal((4, 9)), RNG.standard_normal((2, 9)), 6)
    assert np.isfinite(found[:, :4]).all()
    assert (found[:, 4:] == -np.inf).all()


def test_every_row_is_left_out_once():
    Y = RNG.standard_normal((23, 4))
    assert held_out_densities(Y, 2, np.random.default_rng(0)).shape == (5, 3)


def test_copies_are_held_out_together_and_every_row_once():
    numbers = np.repeat(np.arange(17), np.arange(17) % 3 + 1)
    parts = split_rows(numbers, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(numbers)))
    assert sum(len(set(numbers[part])) for part in parts) == 17
