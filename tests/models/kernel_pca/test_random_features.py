"""Random features: right on average, better with more of them, and errors that are told as they are."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.errors import BadInput
from lowdim.models.kernel_pca.kernels import Gaussian, Laplacian, Linear
from lowdim.models.kernel_pca.solvers.features import WaveFeatures, draw_frequencies, find_wave_axes
from lowdim.solvers.keep import KeepCount
from lowdim.sources.arrays import ArraySource
from models.kernel_pca.kernels import exact_values, rows

WAVY = [Gaussian(0.1), Gaussian(0.02, 3.0), Laplacian(0.1, 2.0)]


@pytest.mark.parametrize("kernel", WAVY, ids=str)
def test_products_of_features_are_kernels_on_average(kernel):
    """20,000 frequencies: each entry is a mean of so many cosines, so five standard errors are 5 / √20,000."""
    X = rows(30)
    W = draw_frequencies(kernel, 5, 20_000, np.random.default_rng(0))
    F = WaveFeatures(W, kernel.factor).of(X)
    assert np.allclose(F @ F.T, kernel.between(X, X), rtol=0, atol=5 * kernel.factor / np.sqrt(20_000))
    assert np.allclose((F**2).sum(axis=1), kernel.factor)  # for any frequencies: no indicator of the error


def test_orthogonal_frequencies_vary_less_than_independent_ones():
    X, kernel = rows(40), Gaussian(0.05)
    K = kernel.between(X, X)
    error = {"orthogonal": [], "independent": []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for name, W in [
            ("orthogonal", draw_frequencies(kernel, 5, 50, rng)),
            ("independent", np.sqrt(2 * kernel.gamma) * rng.standard_normal((50, 5))),
        ]:
            F = WaveFeatures(W, 1.0).of(X)
            error[name].append(((F @ F.T - K) ** 2).sum())
    assert np.mean(error["orthogonal"]) < 0.9 * np.mean(error["independent"])


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kernel", WAVY, ids=str)
def test_some_eigenvalue_lies_within_the_residual_that_is_told(kernel, centered):
    """The residual is estimated from 256 of the rows, to about 5 %: a quarter more is five standard errors."""
    X = rows(600)
    axes = find_wave_axes(
        kernel, ArraySource(X), KeepCount(4), np.random.default_rng(0), n_features=400, centered=centered
    )
    exact = exact_values(kernel, X, centered)
    assert np.isnan(axes.slack)
    nearest = np.abs(axes.values[:, None] - exact).min(axis=1)
    assert (nearest < 1.25 * axes.residuals).all()
    assert (axes.residuals < 0.5 * axes.values).all()


def test_more_features_are_nearer():
    X, kernel = rows(300), Gaussian(0.05)
    exact = exact_values(kernel, X)[:3]
    few, many = (np.mean([np.abs(_values(kernel, X, m, seed) - exact).max() for seed in range(8)]) for m in (10, 360))
    assert few > 2 * many  # 6 times on average


def _values(kernel, X, m, seed):
    return find_wave_axes(kernel, ArraySource(X), KeepCount(3), np.random.default_rng(seed), n_features=m).values


def test_other_kernels_are_refused():
    with pytest.raises(BadInput, match="Random features"):
        find_wave_axes(Linear(), ArraySource(rows(50)), KeepCount(2), np.random.default_rng(0))
