"""Pictures of components, reconstructions and traversals: what is drawn are the model's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot

import lowdim
from lowdim.errors import BadParameter
from lowdim.models.base.picture_plots import (
    gallery_grid,
    grey_limits,
    reconstruction_errors,
    traversal_rows,
    usual_counts,
)
from lowdim.views.plots.canvas import DARK, LIGHT, dark_paper, inks
from lowdim.views.plots.pictures import part_pixels, picture_pixels, signed_pixels

SHAPE = (8, 8)
STEPS = np.linspace(-2.0, 2.0, 5)


@pytest.fixture(scope="module")
def digits():
    return lowdim.datasets.digits().values[:300]


@pytest.fixture(scope="module")
def model(digits):
    return lowdim.PCA(12).fit(digits)


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def tiles(ax, side: int = 8) -> list[np.ndarray]:
    """The tiles of a mosaic, found by the frames around them."""
    (image,) = ax.images
    pixels = np.asarray(image.get_array())
    (frames,) = ax.collections
    corners = [path.vertices.min(axis=0).astype(int) for path in frames.get_paths()]
    return [pixels[y : y + side, x : x + side] for x, y in corners]


# -- data ---------------------------------------------------------------------------------------------------------


def test_all_components_make_the_row_again(digits):
    full = lowdim.PCA().fit(digits)
    made = np.stack(list(full.reconstructions(digits[:3])))
    first, last = reconstruction_errors(digits[:3], made[[0, -1]])
    assert np.abs(digits[:3] - made[-1]).max() < 1e-9 * digits.max()  # rounding of 64 sums
    assert (last < 1e-12).all()
    assert (first > 0.1).all()


def test_errors_fall_as_components_are_added(digits, model):
    made = np.stack(list(model.reconstructions(digits[:20])))
    errors = reconstruction_errors(digits[:20], made)
    about_mean = np.linalg.norm(digits[:20][None] - made, axis=2)
    np.testing.assert_allclose(errors, about_mean / np.linalg.norm(digits[:20], axis=1))
    assert (np.diff(errors, axis=0) <= 1e-12).all()


def test_errors_leave_out_what_is_missing():
    rows = np.array([[3.0, np.nan, 4.0, 0.0]])
    assert reconstruction_errors(rows, np.array([[[3.0, 99.0, 4.0, 5.0]]]))[0, 0] == pytest.approx(1.0)
    assert np.isnan(reconstruction_errors(np.zeros((1, 4)), np.ones((1, 1, 4)))).all()


def test_the_middle_of_a_traversal_is_the_mean(model):
    spread = np.sqrt(model.explained_variance_)
    rows = traversal_rows(model.inverse_transform, np.zeros(12), spread, [0, 1], STEPS)
    np.testing.assert_allclose(rows[2, 2], model.mean_, atol=1e-12)
    np.testing.assert_allclose(rows[2, 4], model.mean_ + 2 * spread[0] * model.components_[0], atol=1e-12)
    np.testing.assert_allclose(rows[4, 2], model.mean_ + 2 * spread[1] * model.components_[1], atol=1e-12)
    assert traversal_rows(model.inverse_transform, np.zeros(12), spread, [3], STEPS).shape == (1, 5, 64)


def test_the_ground_of_drawings_stays_black(model):
    spread = np.sqrt(model.explained_variance_)
    rows = traversal_rows(model.inverse_transform, np.zeros(12), spread, [0, 1], STEPS)
    assert rows.min() < -0.5  # a plane leaves the range of the data …
    assert grey_limits(rows)[0] == 0.0  # … but column 0 is 0 in every row
    photographs = rows + np.linspace(-0.1, 0.1, 5)[:, None, None]  # all pixels change
    assert grey_limits(photographs)[0] < -0.5


@pytest.mark.parametrize(("most", "counts"), [(1, (1,)), (2, (1, 2)), (12, (1, 2, 5, 10, 12)), (10, (1, 2, 5, 10))])
def test_usual_counts_end_with_all(most, counts):
    assert usual_counts(most) == counts


def test_signs_have_different_colours_and_zero_is_the_paper():
    for ink, zero in ((LIGHT, 1.0), (DARK, 0.0)):
        pixels = signed_pixels(np.array([-1.0, 0.0, 1.0, np.nan]), (2, 2), ink)
        below, none, above = pixels.reshape(4, 4)[:3, :3]
        assert np.abs(none - zero).max() < 0.15
        assert np.abs(below - above).max() > 0.3
        assert pixels[1, 1, 3] == 0.0
        assert np.abs(signed_pixels(np.zeros(4), (2, 2), ink) - none.tolist()[0]).max() <= 1.0


def test_parts_go_from_paper_to_ink():
    pixels = part_pixels(np.array([0.0, 1.0, 2.0, 4.0]), (2, 2), LIGHT).reshape(4, 4)[:, 0]
    assert pixels[0] == 1.0
    assert (np.diff(pixels) < 0).all()
    assert (part_pixels(np.zeros(4), (2, 2), DARK)[..., 0] < 0.1).all()


def test_missing_pixels_are_no_grey():
    pixels = picture_pixels(np.array([0.0, np.nan, 0.5, 1.0]), np.array([0.0, 1.0]), (2, 2), LIGHT)
    assert np.ptp(pixels[0, 1, :3]) > 0.5
    assert np.ptp(pixels[1, :, :3], axis=1).max() == 0
    assert picture_pixels(np.full(4, np.nan), np.full(4, np.nan), (2, 2), LIGHT).shape == (2, 2, 4)


# -- drawings -----------------------------------------------------------------------------------------------------


def test_tiles_of_the_gallery_are_the_components(model, axes):
    model.plot.gallery(axes, picture_shape=SHAPE, most=5)
    found = tiles(axes)
    assert len(found) == 6
    np.testing.assert_array_equal(found[0], picture_pixels(model.mean_, model.mean_, SHAPE, LIGHT))
    for row, tile in zip(model.components_, found[1:], strict=False):
        np.testing.assert_array_equal(tile, signed_pixels(row, SHAPE, LIGHT))
    assert words(axes)[1] == f"PC1 ({100 * model.explained_variance_ratio_[0]:.1f} %)"
    assert "7 more components not shown" in axes.get_xlabel()


def test_without_a_centre_there_is_no_mean(digits, axes):
    lowdim.PCA(3, center=False).fit(digits).plot.gallery(axes, picture_shape=SHAPE)
    assert len(tiles(axes)) == 3


def test_scaled_columns_are_drawn_in_their_own_units(axes):
    X = np.random.default_rng(0).normal(size=(40, 4)) * [1, 2, 3, 100]
    model = lowdim.PCA(2, scale=True).fit(X)
    model.plot.gallery(axes, picture_shape=(2, 2))
    np.testing.assert_allclose(tiles(axes, 2)[1], signed_pixels(model.fit_.axes(False)[0], (2, 2), LIGHT))


def test_tiles_of_a_reconstruction(digits, model, axes):
    model.plot.reconstruction(digits[:2], axes, picture_shape=SHAPE, counts=[12, 3])
    found = tiles(axes)
    made = list(model.reconstructions(digits[:2]))
    assert len(found) == 2 * 4
    np.testing.assert_array_equal(found[0], picture_pixels(digits[0], digits[0], SHAPE, LIGHT))
    np.testing.assert_array_equal(found[1], picture_pixels(made[2][0], digits[0], SHAPE, LIGHT))
    error = np.linalg.norm(digits[1] - made[11][1]) / np.linalg.norm(digits[1])
    assert f"{100 * error:.1f} %" in words(axes)
    assert {"original", "components: 3", "12", "what is left"} <= set(words(axes))


def test_tiles_of_a_traversal(model, axes):
    model.plot.traversal(axes, picture_shape=SHAPE, axes=(3, 1), steps=3, reach=1)
    assert len(tiles(axes)) == 9
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("PC3 →", "PC1 →")
    assert words(axes).count("mean") == 2
    assert "−1 sd" in words(axes)


def test_colours(axes):
    X = np.random.default_rng(0).random((20, 2 * 3 * 3))
    model = lowdim.PCA(3).fit(X)
    model.plot.gallery(axes, picture_shape=(2, 3, 3))
    model.plot.reconstruction(X[:2], pyplot.figure().subplots(), picture_shape=(2, 3, 3))
    model.plot.traversal(pyplot.figure().subplots(), picture_shape=(2, 3, 3))
    assert axes.images[0].get_array().shape[2] == 4


def test_the_shape_of_a_file_of_pictures_is_known(tmp_path, digits):
    np.save(tmp_path / "digits.npy", digits.reshape(-1, 8, 8))
    model = lowdim.PCA(3).fit(tmp_path / "digits.npy")
    assert len(tiles(model.plot.gallery())) == 4
    assert len(tiles(model.plot.reconstruction(tmp_path / "digits.npy", most=2, counts=[3]))) == 6


def test_dark_paper(model):
    with dark_paper():
        ax = model.plot.gallery(picture_shape=SHAPE, most=3)
        assert inks(ax).signed == DARK.signed
        np.testing.assert_array_equal(tiles(ax)[1], signed_pixels(model.components_[0], SHAPE, DARK))
        assert "black is zero" in ax.get_xlabel()


def test_full_lines_where_that_can_be():
    for count in range(1, 60):
        lines, wide = gallery_grid(count, (2, 2))
        assert lines * wide >= count > (lines - 1) * wide
    assert gallery_grid(24, (2, 2)) == (4, 6)
    assert gallery_grid(10, (2, 2), columns=3) == (4, 3)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (None, r"row of 64 numbers does not tell its shape: pass picture_shape=\(8, 8\)"),
        ((7, 8), "have 56 numbers, but the rows have 64"),
        ((8, 8, 2), r"\(height, width\) or \(height, width, 3\)"),
        ("8x8", r"\(height, width\)"),
        ((0, 8), r"\(height, width\)"),
    ],
)
def test_shapes_that_are_none(model, shape, said):
    for figure in (model.plot.gallery, model.plot.traversal):
        with pytest.raises(BadParameter, match=said):
            figure(picture_shape=shape)


@pytest.mark.parametrize(
    ("figure", "settings", "said"),
    [
        ("gallery", {"most": 0}, "most"),
        ("gallery", {"columns": 0}, "columns"),
        ("reconstruction", {"counts": [13]}, "from 1 to 12"),
        ("reconstruction", {"counts": []}, "from 1 to 12"),
        ("reconstruction", {"counts": [1.5]}, "from 1 to 12"),
        ("reconstruction", {"most": 0}, "most"),
        ("traversal", {"steps": 1}, "steps"),
        ("traversal", {"reach": -1}, "reach"),
        ("traversal", {"axes": (1, 2, 3)}, "1 to 2 different numbers"),
    ],
)
def test_errors_teach(digits, model, figure, settings, said):
    needed = (digits,) if figure == "reconstruction" else ()
    with pytest.raises(BadParameter, match=said):
        getattr(model.plot, figure)(*needed, picture_shape=SHAPE, **settings)
