"""Loops over patches do what slices do, and compiled ones what plain ones do."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from lowdim.recipes.pictures import compiled_patches, plain_patches
from lowdim.runtime import native

RNG = np.random.default_rng(0)


@pytest.fixture
def loops(each_route: None) -> ModuleType:
    """The loops of every library, and the plain ones."""
    return compiled_patches if native.is_compiled() else plain_patches


@pytest.mark.parametrize(("width", "reach"), [(3, 2), (5, 9), (4, 30)])
def test_distances_are_those_of_slices(loops, width, reach):
    planes = RNG.standard_normal((2, 17, 21)).astype(np.float32)
    lefts, side = np.array([0, 4, 21 - width]), 2 * reach + 1
    for top in (0, 6, 17 - width):
        out = np.empty((3, side**2), dtype=np.float32)
        loops.distances(planes, top, lefts, width, reach, out)
        expected = np.full((3, side, side), np.inf)
        for r, left in enumerate(lefts):
            here = planes[:, top : top + width, left : left + width]
            for y in range(max(0, top - reach), min(17 - width, top + reach) + 1):
                for x in range(max(0, left - reach), min(21 - width, left + reach) + 1):
                    apart = here - planes[:, y : y + width, x : x + width]
                    expected[r, y - top + reach, x - left + reach] = np.sum(apart**2)
        np.testing.assert_allclose(out, expected.reshape(3, -1), rtol=1e-4, atol=1e-5)  # sums in float32


def test_groups_come_out_and_go_back_weighted(loops):
    planes = RNG.standard_normal((2, 12, 13))
    tops, lefts = RNG.integers(0, 9, (4, 5)), RNG.integers(0, 10, (4, 5))
    groups = np.empty((4, 2, 5, 16))
    loops.gather(planes, tops, lefts, 4, groups)
    np.testing.assert_array_equal(groups[2, :, 3], planes[:, tops[2, 3] :, lefts[2, 3] :][:, :4, :4].reshape(2, 16))
    variances, weights, out = RNG.random((4, 2, 16)), RNG.random((4, 2, 16)) + 0.1, np.zeros((3, 2, 12, 13))
    loops.scatter(groups, variances, weights, tops, lefts, 4, out)
    covered = out[0] > 0
    np.testing.assert_allclose((out[1] / np.where(covered, out[0], 1))[covered], planes[covered], rtol=1e-12)
    assert out[0].sum() == pytest.approx(5 * weights.sum())
    assert (out[2] - out[1] ** 2 / np.where(covered, out[0], 1))[covered].min() > 0  # the variances that were added
    assert out[2].sum() == pytest.approx(np.sum(weights[:, :, None] * (variances[:, :, None] + groups**2)))


@pytest.mark.usefixtures("each_library")
@pytest.mark.parametrize("hidden", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("width", "channels"), [(2, 1), (3, 1), (3, 3), (5, 2)])
@pytest.mark.parametrize(("members", "predicted", "reach"), [(30, 3, 6), (1000, 9, 4), (5, 9, 3)])
def test_patches_are_filled_by_the_formulas(width, channels, hidden, members, predicted, reach):
    rng = np.random.default_rng([width, channels])
    p = width**2 * channels
    filled = rng.integers(0, 3, (14, 15, channels)) + 0.3 * rng.standard_normal((14, 15, channels))
    filled[:, :4] = 1.0  # patches that are all the same
    values = np.where(rng.random(filled.shape) < hidden, np.nan, filled)
    root = rng.standard_normal((2, p, 2 * p))
    common, doubt = root @ root.transpose(0, 2, 1) / (2 * p) + np.eye(p)
    corners = np.array([[0, 0], [5, 7], [14 - width, 15 - width], [3, 1]])
    given = (values, filled, rng.random(filled.shape), corners, width, reach, members, predicted)
    given = (*given, common, 30.0, doubt, 0.1)
    found, expected = np.zeros((2, 3, *filled.shape))
    compiled_patches.fill_by_similar(*given, *found)
    plain_patches.fill_by_similar(*given, *expected)
    np.testing.assert_array_equal(found[2], expected[2])  # the same patches
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)  # roundings times a condition of 100 or so


@pytest.mark.usefixtures("each_library")
def test_no_corners_and_no_groups_are_no_work():
    canvas, eye = np.zeros((3, 6, 6, 1)), np.eye(4)
    picture, nowhere = np.ones((6, 6, 1)), np.empty((0, 2), np.int64)
    compiled_patches.fill_by_similar(picture, picture, picture, nowhere, 2, 3, 5, 2, eye, 1.0, eye, 0.1, *canvas)
    assert not canvas.any()
    none = np.empty((0, 3), np.int64)
    compiled_patches.gather(np.ones((1, 6, 6)), none, none, 2, np.empty((0, 1, 3, 4)))
    compiled_patches.distances(np.ones((1, 6, 6), np.float32), 0, none[:, 0].copy(), 2, 1, np.empty((0, 9), np.float32))
