"""Residuals estimated from some rows: exact from all of them, and near that from a few hundred."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.models.kernel_pca.kernels import Gaussian
from lowdim.models.kernel_pca.solvers.features import estimate_residuals, find_wave_axes, scores_of
from lowdim.models.kernel_pca.solvers.landmarks import Landmarks, find_landmark_axes
from lowdim.solvers.keep import KeepCount
from lowdim.sources.arrays import ArraySource
from models.kernel_pca.kernels import centred, rows

KERNEL = Gaussian(0.1)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kind", ["landmarks", "waves"])
def test_they_are_the_residuals_if_all_rows_are_witnesses(kind, centered):
    X, rng = rows(400), np.random.default_rng(0)
    if kind == "waves":
        axes = find_wave_axes(KERNEL, ArraySource(X), KeepCount(3), rng, n_features=100, centered=centered)
    else:
        axes = find_landmark_axes(KERNEL, ArraySource(X), KeepCount(3), rng, Landmarks(count=30), centered=centered)
    V = scores_of(KERNEL, axes).of(X) / np.sqrt(axes.values)
    K = KERNEL.between(X, X)
    exact = np.linalg.norm((centred(K) if centered else K) @ V - V * axes.values, axis=0)
    whole, some = (estimate_residuals(KERNEL, axes, ArraySource(X), rng, centered, w) for w in (400, 200))
    assert np.allclose(whole, exact * np.sqrt(400 / (400 - centered)), rtol=1e-8)
    assert np.allclose(some, exact, rtol=0.3)  # half of the rows: six standard errors
