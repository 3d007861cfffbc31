"""The first fill: exact on flat pictures, between its neighbours elsewhere, and everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.recipes.pictures.missing_pixels import depth, diffuse, local_fill

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


def test_a_large_hole_is_filled_by_diffusion():
    """Each pixel is the mean of its neighbours, and a harmonic function is given back: x² − y² + x is one, on a grid
    too; at the edge of the picture there are only three neighbours, so that the hole lies inside."""
    x, y = np.meshgrid(np.arange(40.0), np.arange(30.0))
    surface = (x - 20) ** 2 - (y - 15) ** 2 + x
    holes = np.zeros(surface.shape, dtype=bool)
    holes[5:25, 8:33] = True
    np.testing.assert_allclose(diffuse(np.where(holes, np.nan, surface)), surface, rtol=0, atol=1e-9)
    filled = local_fill(np.where(holes, np.nan, surface))
    deep = depth(holes) > 4
    np.testing.assert_allclose(filled[deep], surface[deep], atol=1e-9)


def test_halves_come_near_the_same(monkeypatch):
    picture = np.cumsum(np.cumsum(np.random.default_rng(0).standard_normal((61, 80)), axis=0), axis=1)
    holes = np.zeros(picture.shape, dtype=bool)
    holes[10:50, 5:70] = True
    whole = diffuse(np.where(holes, np.nan, picture))
    monkeypatch.setattr("lowdim.recipes.pictures.missing_pixels.MOST", 300)
    swept = diffuse(np.where(holes, np.nan, picture))
    # a tenth of the deviation of the fill: what twenty sweeps leave of a start from half the size
    assert np.sqrt(np.mean((swept - whole)[holes] ** 2)) < 0.1 * whole[holes].std()
    np.testing.assert_array_equal(swept[~holes], picture[~holes])
