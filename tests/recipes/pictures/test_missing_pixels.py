"""Which pixels are missing, however it is said; and which are hidden to learn from."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.errors import BadInput, BadParameter, NotNumeric, WrongShape
from lowdim.recipes.pictures.missing_pixels import HIDDEN, MOST_HIDDEN, held_out, missing_in
from lowdim.recipes.pictures.picture import Picture
from lowdim.views.files.pictures import write_picture

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(1, 255, (12, 10, 3)).astype(np.uint8)
MARKS = RNG.random((12, 10)) < 0.3


class TestMissing:
    def test_nan(self):
        values = np.where(MARKS, np.nan, 1.0)
        np.testing.assert_array_equal(missing_in(Picture.of(values), None, None), MARKS)

    @pytest.mark.parametrize("kind", [bool, np.uint8, float])
    def test_a_mask_of_pixels_takes_all_channels(self, kind):
        found = missing_in(Picture.of(COLOUR), MARKS.astype(kind), None)
        np.testing.assert_array_equal(found, np.repeat(MARKS[:, :, None], 3, axis=2))

    def test_a_mask_of_channels(self):
        marks = RNG.random(COLOUR.shape) < 0.5
        np.testing.assert_array_equal(missing_in(Picture.of(COLOUR), marks, None), marks)

    def test_of_grey_in_three_channels_one_that_is_seen_is_enough(self):
        grey = np.repeat(COLOUR[:, :, :1], 3, axis=2)
        marks = RNG.random(COLOUR.shape) < 0.5
        np.testing.assert_array_equal(missing_in(Picture.of(grey), marks, None), marks.all(axis=2))

    @pytest.mark.parametrize(
        "marks", [np.where(MARKS, 0.4, 0.0), np.where(MARKS, 255.0, 0.0), np.where(MARKS, np.nan, 0)]
    )
    def test_real_numbers_that_are_neither_0_nor_1_are_refused(self, marks):
        with pytest.raises(BadInput, match=rf"{MARKS.sum()} of the 120 real numbers of the mask are neither 0"):
            missing_in(Picture.of(COLOUR), marks, None)

    def test_texts_are_refused(self):
        with pytest.raises(NotNumeric, match="dtype"):
            missing_in(Picture.of(COLOUR), np.where(MARKS, "a", "b"), None)

    @pytest.mark.parametrize("channels", [1, 2])
    def test_a_grey_picture_takes_one_mark_a_pixel(self, channels):
        grey = Picture.of(COLOUR[:, :, :channels])
        with pytest.raises(WrongShape, match=r"3 marks a pixel, but the picture is grey.*shape \(12, 10\)"):
            missing_in(grey, np.repeat(MARKS[:, :, None], 3, axis=2), None)
        with pytest.raises(WrongShape, match=r"one mark a pixel is needed\.$"):
            missing_in(grey, MARKS[1:], None)
        np.testing.assert_array_equal(missing_in(grey, MARKS[:, :, None], None), MARKS)

    def test_a_file_is_white_where_pixels_are_missing(self, tmp_path):
        write_picture(tmp_path / "mask.png", np.where(MARKS, 250, 3).astype(np.uint8))
        found = missing_in(Picture.of(COLOUR), tmp_path / "mask.png", None)
        np.testing.assert_array_equal(found[:, :, 1], MARKS)

    def test_alpha(self):
        clear = np.dstack([COLOUR, np.where(MARKS, 0, 200).astype(np.uint8)])
        np.testing.assert_array_equal(missing_in(Picture.of(clear), None, "alpha")[:, :, 0], MARKS)

    @pytest.mark.parametrize("colour", ["#ff00FF", (255, 0, 255)])
    def test_a_colour(self, colour):
        marked = COLOUR.copy()
        marked[MARKS] = (255, 0, 255)
        np.testing.assert_array_equal(missing_in(Picture.of(marked), None, colour)[:, :, 2], MARKS)

    def test_what_cannot_be_is_refused(self):
        picture = Picture.of(COLOUR)
        with pytest.raises(WrongShape, match=r"12 × 10 pixels"):
            missing_in(picture, MARKS.T, None)
        with pytest.raises(BadInput, match="no alpha"):
            missing_in(picture, None, "alpha")
        with pytest.raises(BadParameter, match="#rrggbb"):
            missing_in(picture, None, "pink")
        with pytest.raises(BadInput, match="All 360 values"):
            missing_in(picture, np.ones((12, 10)), None)


class TestHeldOut:
    def test_dense_holes_hide_one_in_twenty_at_random(self):
        holes = RNG.random((200, 200, 3)) < 0.8
        hidden = held_out(holes, np.random.default_rng(0))
        assert not (hidden & holes).any()
        # 24,000 observed: a standard error of 0.14 %
        assert hidden.sum() / (~holes).sum() == pytest.approx(HIDDEN, abs=0.006)
        assert (hidden.any(axis=2) != hidden.all(axis=2)).any()  # channels on their own, as the holes are

    def test_whole_pixels_are_hidden_where_whole_pixels_are_missing(self):
        holes = np.repeat(RNG.random((100, 100, 1)) < 0.6, 3, axis=2)
        hidden = held_out(holes, np.random.default_rng(0))
        np.testing.assert_array_equal(hidden.any(axis=2), hidden.all(axis=2))

    def test_scratches_are_hidden_as_scratches(self):
        holes = np.zeros((60, 80), dtype=bool)
        holes[20:23, 10:70] = True
        hidden = held_out(holes, np.random.default_rng(0))
        assert 0 < hidden.sum() <= MOST_HIDDEN * (~holes).sum()
        inside = hidden[1:-1] & hidden[:-2] & hidden[2:]
        assert inside.any()  # three pixels thick somewhere, as random dots hardly are

    def test_something_is_left_to_learn_from(self):
        holes = np.ones((9, 9), dtype=bool)
        holes[4, 4] = False
        assert not held_out(holes, np.random.default_rng(0)).any()
