"""Filling holes: observed pixels stay, filled ones are near, their deviations keep their word, odd pictures do."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.errors import BadFile, BadInput, BadParameter, WrongShape
from lowdim.recipes.pictures import inpaint as module
from lowdim.recipes.pictures.inpaint import METHODS, inpaint
from lowdim.recipes.pictures.missing_pixels import local_fill
from lowdim.runtime.progress import watching

ROWS, COLUMNS = np.mgrid[0:40, 0:44]
GREY = np.rint(128 + 70 * np.sin((ROWS + COLUMNS) / 3) + 30 * np.cos(COLUMNS / 5)).astype(np.uint8)
COLOUR = np.dstack([GREY, GREY[::-1], 255 - GREY]).astype(np.uint8)


@pytest.fixture(autouse=True)
def few_passes(monkeypatch):
    """Three passes instead of six, and few patches: these are tests of laws, not of quality."""
    monkeypatch.setattr(module, "PASSES", 1)
    monkeypatch.setattr("lowdim.recipes.pictures.patch_models.LEARNT", 400)


def holes(picture: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(picture.shape) < share


def rms(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a.astype(float) - b) ** 2)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("picture", [GREY, COLOUR], ids=["grey", "colour"])
def test_observed_pixels_stay_and_missing_ones_come_near(picture, method):
    mask = holes(picture, 0.5)
    found = inpaint(np.where(mask, 0, picture).astype(np.uint8), mask, method=method, patch=4, clean=picture)
    np.testing.assert_array_equal(found.picture[~mask], picture[~mask])
    np.testing.assert_array_equal(found.pixels[~mask], picture[~mask])
    assert found.pixels.dtype == np.uint8
    assert (found.deviations > 0).sum() == mask.sum()
    local = local_fill(np.where(mask, np.nan, picture.astype(float)))
    assert rms(found.picture[mask], picture[mask]) < 0.7 * rms(local[mask], picture[mask])
    assert found.psnr > found.psnr_before + 10


def test_what_lies_under_the_mask_does_not_matter():
    mask = holes(COLOUR, 0.4)
    one, other = (inpaint(np.where(mask, under, COLOUR).astype(np.uint8), mask, patch=4) for under in (0, 77))
    np.testing.assert_array_equal(one.picture, other.picture)


def test_nan_say_the_same_as_a_mask():
    mask = holes(GREY, 0.4)
    by_mask = inpaint(GREY.astype(float), mask, patch=4, peak=255)
    by_nan = inpaint(np.where(mask, np.nan, GREY), patch=4, peak=255)
    np.testing.assert_array_equal(by_mask.picture, by_nan.picture)


def test_a_picture_in_other_units_is_filled_alike():
    mask = holes(GREY, 0.4)
    bytes_, share = inpaint(GREY, mask, patch=4), inpaint(GREY / 255, mask, patch=4)
    # the same numbers but for rounding, which EM and the choice of similar patches may enlarge
    assert rms(255 * share.picture, bytes_.picture) < 0.05
    assert rms(255 * share.deviations, bytes_.deviations) < 0.2


@pytest.mark.slow
def test_intervals_hold_what_they_promise():
    """On a picture with noise, so that there is something that cannot be known."""
    rng = np.random.default_rng(1)
    rows, columns = np.mgrid[0:96, 0:96]
    true = 128 + 60 * np.sin((rows + columns) / 4) * np.cos(columns / 9) + 6 * rng.standard_normal((96, 96))
    for share in (0.2, 0.7):
        mask = holes(true, share)
        found = inpaint(true, mask, peak=255)
        inside = (np.abs(found.picture - true) <= 1.96 * found.deviations)[mask]
        # calibrated on 5 % of the observed values, some hundreds: about one point; dots of noise are correlated in none
        assert 0.92 < inside.mean() < 0.98


class TestOddPictures:
    def test_nothing_missing_is_left_as_it_is(self):
        found = inpaint(COLOUR, np.zeros(COLOUR.shape[:2]))
        np.testing.assert_array_equal(found.pixels, COLOUR)
        assert not found.deviations.any()

    def test_nothing_observed_is_refused(self):
        with pytest.raises(BadInput, match="nothing to fill it from"):
            inpaint(np.full((20, 20), np.nan))

    def test_a_hole_larger_than_patches_gets_smooth_values(self):
        slope = 2.0 * ROWS + 3.0 * COLUMNS
        mask = np.zeros(slope.shape, dtype=bool)
        mask[10:30, 10:30] = True
        found = inpaint(slope, mask, patch=4, peak=255)
        assert np.isfinite(found.picture).all()
        known = slope[~mask]
        assert known.min() <= found.picture[mask].min() <= found.picture[mask].max() <= known.max()
        steps = [np.abs(np.diff(found.picture, axis=axis)).max() for axis in (0, 1)]
        assert max(steps) < 40  # a hole at one level, as the mean of all pixels, would have an edge of over 60
        assert found.deviations[20, 20] > 0

    @pytest.mark.parametrize("level", [0, 80, 255])
    def test_a_flat_picture_stays_flat(self, level):
        flat = np.full((24, 20), level, dtype=np.uint8)
        found = inpaint(flat, holes(flat, 0.5), patch=4)
        np.testing.assert_array_equal(found.pixels, flat)

    def test_one_observed_pixel_is_spread(self):
        picture = np.full((16, 16), np.nan)
        picture[3, 4] = 90.0
        np.testing.assert_allclose(inpaint(picture, patch=4, peak=255).picture, 90.0, atol=1e-6)

    def test_a_channel_that_was_never_seen_is_filled(self):
        mask = np.zeros(COLOUR.shape, dtype=bool)
        mask[:, :, 1] = True
        assert np.isfinite(inpaint(COLOUR, mask, patch=4).picture).all()

    def test_transparent_pixels_are_filled_and_become_opaque(self):
        clear = holes(GREY, 0.2)
        given = np.dstack([COLOUR, np.where(clear, 0, 255).astype(np.uint8)])
        found = inpaint(given, missing="alpha", patch=4)
        assert found.pixels.shape == given.shape
        assert (found.pixels[:, :, 3] == 255).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(BadParameter, match="grouped, mixture, ppca"):
        inpaint(GREY, holes(GREY, 0.1), method="best")
    with pytest.raises(BadParameter, match="standard deviation from 0"):
        inpaint(GREY, holes(GREY, 0.1), sigma=-1.0)
    with pytest.raises(WrongShape, match="clean picture"):
        inpaint(GREY, holes(GREY, 0.1), clean=GREY[1:])
    with pytest.raises(BadInput, match="fewer than a patch"):
        inpaint(GREY[:6], holes(GREY[:6], 0.1))
    with pytest.raises(BadFile, match=r"^no\.png: no such file"):
        inpaint("no.png")
    with pytest.raises(BadFile, match=r"^mask\.png: no such file"):
        inpaint(GREY, "mask.png")


def test_a_watcher_is_told_and_can_stop_it():
    seen = []
    with pytest.raises(KeyboardInterrupt), watching(lambda progress: seen.append(progress) or len(seen) > 3):
        inpaint(GREY, holes(GREY, 0.3), patch=4)
    assert len(seen) == 4


@pytest.mark.slow
def test_the_castle_of_the_lecture(shared_data, monkeypatch):
    """80 % of the values of each channel thrown away: one PPCA reached 28.9 dB, BPFA 29.1 (Zhou et al. 2009)."""
    monkeypatch.undo()
    from lowdim.sources.formats.pictures import read_picture

    castle = read_picture(shared_data("images/bsds_castle.png"))
    mask = holes(castle, 0.8)
    found = inpaint(np.where(mask, 0, castle).astype(np.uint8), mask, clean=castle)
    assert found.psnr > 29.5
    inside = (np.abs(found.picture - castle) <= 1.96 * found.deviations)[mask]
    assert 0.93 < inside.mean() < 0.97
