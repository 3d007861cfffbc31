"""Compiled loops over patches do what slices do."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.recipes.pictures.compiled_patches import distances, gather, scatter

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("width", "reach"), [(3, 2), (5, 9), (4, 30)])
def test_distances_are_those_of_slices(width, reach):
    planes = RNG.standard_normal((2, 17, 21)).astype(np.float32)
    lefts, side = np.array([0, 4, 21 - width]), 2 * reach + 1
    for top in (0, 6, 17 - width):
        out = np.empty((3, side**2), dtype=np.float32)
        distances(planes, top, lefts, width, reach, out)
        expected = np.full((3, side, side), np.inf)
        for r, left in enumerate(lefts):
            here = planes[:, top : top + width, left : left + width]
            for y in range(max(0, top - reach), min(17 - width, top + reach) + 1):
                for x in range(max(0, left - reach), min(21 - width, left + reach) + 1):
                    apart = here - planes[:, y : y + width, x : x + width]
                    expected[r, y - top + reach, x - left + reach] = np.sum(apart**2)
        np.testing.assert_allclose(out, expected.reshape(3, -1), rtol=1e-4, atol=1e-5)  # sums in float32


def test_groups_come_out_and_go_back_weighted():
    planes = RNG.standard_normal((2, 12, 13))
    tops, lefts = RNG.integers(0, 9, (4, 5)), RNG.integers(0, 10, (4, 5))
    groups = np.empty((4, 2, 5, 16))
    gather(planes, tops, lefts, 4, groups)
    np.testing.assert_array_equal(groups[2, :, 3], planes[:, tops[2, 3] :, lefts[2, 3] :][:, :4, :4].reshape(2, 16))
    variances, weights, out = RNG.random((4, 2, 16)), RNG.random((4, 2, 16)) + 0.1, np.zeros((3, 2, 12, 13))
    scatter(groups, variances, weights, tops, lefts, 4, out)
    covered = out[0] > 0
    np.testing.assert_allclose((out[1] / np.where(covered, out[0], 1))[covered], planes[covered], rtol=1e-12)
    assert out[0].sum() == pytest.approx(5 * weights.sum())
    assert (out[2] - out[1] ** 2 / np.where(covered, out[0], 1))[covered].min() > 0  # the variances that were added
    assert out[2].sum() == pytest.approx(np.sum(weights[:, :, None] * (variances[:, :, None] + groups**2)))
