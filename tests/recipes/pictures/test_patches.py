"""Patches cover every pixel, and laying them back gives the picture they were cut from."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.errors import BadInput, BadParameter
from lowdim.recipes.pictures.patches import Canvas, Grid

RNG = np.random.default_rng(0)
SHAPES = [(8, 8), (13, 9), (16, 21), (11, 17, 3), (9, 8, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("width", "stride"), [(1, 1), (4, 1), (8, 3), (5, 5), (8, 8)])
class TestEveryGrid:
    def test_patches_are_what_slices_cut(self, shape, width, stride):
        picture, grid = RNG.random(shape), Grid(shape, width, stride)
        expected = [picture[i : i + width, j : j + width].ravel() for i in grid.tops for j in grid.lefts]
        cut = grid.cut(picture)
        assert cut.shape == (grid.n, grid.p)
        np.testing.assert_array_equal(cut, expected)

    def test_laying_back_gives_the_picture(self, shape, width, stride):
        picture, grid = RNG.random(shape), Grid(shape, width, stride)
        for weights in (1.0, RNG.random(grid.n) + 0.1, RNG.random((grid.n, grid.p)) + 0.1):
            canvas = Canvas(grid)
            canvas.add(grid.cut(picture), weights)
            # means of equal numbers, up to the rounding of at most width² additions
            np.testing.assert_allclose(canvas.mean(), picture, rtol=0, atol=1e-10)

    def test_unit_weights_add_up_to_the_coverage(self, shape, width, stride):
        grid, canvas = Grid(shape, width, stride), Canvas(Grid(shape, width, stride))
        canvas.add(np.zeros((grid.n, grid.p)))
        rows = [sum(top <= i < top + width for top in grid.tops) for i in range(shape[0])]
        columns = [sum(left <= j < left + width for left in grid.lefts) for j in range(shape[1])]
        coverage = np.outer(rows, columns)
        assert coverage.min() >= 1
        expected = np.broadcast_to(coverage.reshape(*coverage.shape, *[1] * (len(shape) - 2)), shape)
        np.testing.assert_array_equal(canvas.weight, expected)


def test_bands_give_the_same_as_all_at_once(monkeypatch):
    monkeypatch.setattr("lowdim.recipes.pictures.patches.MOST_NUMBERS", 500)
    picture = RNG.random((30, 20, 3))
    grid = Grid(picture.shape, 6, 4)
    bands = list(grid.bands())
    assert len(bands) > 2
    np.testing.assert_array_equal(np.concatenate([grid.cut(picture, band) for band in bands]), grid.cut(picture))
    weights = RNG.random(grid.n)
    whole, pieces = Canvas(grid), Canvas(grid)
    whole.add(grid.cut(picture), weights)
    first = 0
    for band in bands:
        patches = grid.cut(picture, band)
        pieces.add(patches, weights[first : first + len(patches)], band)
        first += len(patches)
    np.testing.assert_allclose(pieces.total, whole.total, rtol=1e-13)  # only the order of the sums differs


@pytest.mark.parametrize(
    ("shape", "width", "stride", "error", "said"),
    [
        ((7, 20), 8, 1, BadInput, "7 × 20 pixels, fewer than a patch of 8 × 8"),
        ((20, 20), 4, 5, BadParameter, "leave pixels out"),
        ((20, 20), 0, 1, BadParameter, "from 1 on"),
    ],
)
def test_what_cannot_be_cut_is_said(shape, width, stride, error, said):
    with pytest.raises(error, match=said):
        Grid(shape, width, stride)
