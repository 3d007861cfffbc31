"""The first fill: exact on flat pictures, between its neighbours elsewhere, and everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.recipes.local_fill import local_fill

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
@pytest.mark.parametrize("shape", [(20, 30), (17, 9, 3)])
def test_a_flat_picture_comes_back(shape, share):
    holes = RNG.random(shape) < share
    holes[0, 0] = False
    # a mean of equal numbers, up to the rounding of two filters
    np.testing.assert_allclose(local_fill(np.where(holes, np.nan, 7.0)), 7.0, rtol=1e-9)


def test_filled_values_lie_between_observed_ones_and_these_stay():
    picture = RNG.random((40, 40))
    holes = RNG.random(picture.shape) < 0.7
    filled = local_fill(np.where(holes, np.nan, picture))
    np.testing.assert_array_equal(filled[~holes], picture[~holes])
    assert filled.min() >= picture[~holes].min() - 1e-9
    assert filled.max() <= picture[~holes].max() + 1e-9


def test_one_pixel_fills_a_large_picture():
    picture = np.full((200, 150), np.nan)
    picture[3, 5] = 2.5
    np.testing.assert_allclose(local_fill(picture), 2.5)


def test_a_channel_without_values_takes_the_mean_of_the_others():
    picture = np.dstack([np.full((9, 9), 1.0), np.full((9, 9), 3.0), np.full((9, 9), np.nan)])
    np.testing.assert_allclose(local_fill(picture)[:, :, 2], 2.0)
