"""Noise is taken off, on any scale, in any shape; what is no noise stays as it was."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import threadpoolctl
from PIL import Image

from lowdim.errors import BadFile, BadInput, BadParameter, MissingValues, NotNumeric, WrongShape
from lowdim.recipes.pictures.denoise import METHODS, denoise
from lowdim.recipes.pictures.picture import Restored
from lowdim.runtime.progress import Progress, watching

SIGMA = 20.0


def drawn(height: int = 61, width: int = 50) -> np.ndarray:
    """A grey picture with edges, a slope and stripes."""
    rows, columns = np.mgrid[:height, :width]
    disc = 80.0 * ((rows - 20) ** 2 + (columns - 25) ** 2 < 200)
    return 60 + columns / 2 + disc + 30 * np.sin(rows / 2.5) * (columns > width // 2)


def coloured() -> np.ndarray:
    grey = drawn()
    return np.stack([grey, 230 - grey, grey[::-1]], axis=2)


def noisy(clean: np.ndarray, sigma: float = SIGMA, seed: int = 0) -> np.ndarray:
    return clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)


CLEAN = {"grey": drawn(), "colour": coloured(), "large": drawn(90, 80)}


@cache
def denoised(name: str, method: str) -> Restored:
    """A picture without its noise, for all tests that look at it."""
    return denoise(noisy(CLEAN[name]), SIGMA, method=method, clean=CLEAN[name], peak=255)


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    @pytest.mark.parametrize("name", ["grey", "colour"])
    def test_the_picture_comes_nearer_to_the_true_one(self, method, name):
        clean, found = CLEAN[name], denoised(name, method)
        assert found.picture.shape == found.deviations.shape == clean.shape
        # 22.1 dB is this noise; the patches of so small a picture give at least half of it away
        assert found.psnr_before == pytest.approx(20 * np.log10(255 / SIGMA), abs=0.3)
        assert found.psnr > found.psnr_before + 3
        assert found.method == method

    def test_the_scale_does_not_matter(self, method):
        found, large = denoised("grey", method), denoise(256 * noisy(drawn()), 256 * SIGMA, method=method)
        # a power of two changes no digit, so neither do comparisons of patches
        np.testing.assert_allclose(large.picture, 256 * found.picture, rtol=1e-12)
        np.testing.assert_allclose(large.deviations, 256 * found.deviations, rtol=1e-9)

    def test_threads_do_not_matter(self, method):
        with threadpoolctl.threadpool_limits(1):
            alone = denoise(noisy(coloured()), SIGMA, method=method)
        np.testing.assert_allclose(denoised("colour", method).picture, alone.picture, rtol=1e-10)

    def test_noise_alone_becomes_flat(self, method):
        found = denoise(noisy(np.full((60, 60), 100.0)), SIGMA, method=method)
        assert found.picture.std() < 0.25 * SIGMA

    def test_most_errors_are_within_what_is_said_of_them(self, method):
        found = denoised("large", method)
        share = np.mean(np.abs(found.picture - CLEAN["large"]) < 1.96 * found.deviations)
        # 95 % if the model of patches were right; it is not quite, and errs to both sides
        assert 0.85 < share <= 1

    @pytest.mark.parametrize("shape", [(8, 8), (8, 31), (23, 9), (9, 8, 3)])
    def test_small_and_odd_pictures(self, method, shape):
        found = denoise(noisy(np.zeros(shape), 1.0), 1.0, method=method)
        assert found.picture.shape == shape
        assert np.isfinite(found.picture).all()
        assert (found.deviations >= 0).all()
        assert found.picture.std() < 1

    def test_smaller_patches(self, method):
        found = denoise(noisy(drawn()), SIGMA, method=method, patch=4, clean=drawn(), peak=255)
        assert found.psnr > found.psnr_before + 2
        assert np.isfinite(denoise(np.eye(2), 0.1, method=method, patch=2).picture).all()


def test_groups_do_better_than_one_basis():
    found = {method: denoised("large", method).psnr for method in METHODS}
    assert found["grouped"] > max(found["mixture"], found["threshold"], found["ppca"])


@pytest.mark.parametrize("sigma", [0.0, None])
def test_without_noise_nothing_changes(sigma):
    picture = np.full((20, 30), 0.1, dtype=np.float32)
    found = denoise(picture, sigma)
    assert found.noise_sd == 0
    np.testing.assert_array_equal(found.pixels, picture)
    np.testing.assert_array_equal(found.deviations, 0)
    np.testing.assert_array_equal(denoise(drawn(), 0).picture, drawn())


def test_pixels_are_of_the_type_that_came():
    whole = np.clip(noisy(drawn()), 0, 255).round()
    eight = denoise(whole.astype(np.uint8), SIGMA, method="threshold")
    assert eight.pixels.dtype == np.uint8
    np.testing.assert_array_equal(eight.pixels, np.rint(eight.picture))
    deep = denoise((whole * 256).astype(np.uint16), SIGMA * 256, method="threshold")
    assert deep.pixels.dtype == np.uint16
    np.testing.assert_allclose(deep.picture, 256 * eight.picture, rtol=1e-10)


def test_results_stay_within_the_range_of_pixels():
    black = np.clip(noisy(np.zeros((40, 40))), 0, 255).astype(np.uint8)
    found = denoise(black, SIGMA)
    assert found.picture.min() >= 0
    assert denoise(black - 100.0, SIGMA).picture.min() < -50  # other numbers have no range that is known


def test_alpha_is_untouched():
    alpha = np.random.default_rng(0).integers(0, 256, (61, 50), dtype=np.uint8)
    colours = np.clip(noisy(coloured()), 0, 255).astype(np.uint8)
    found = denoise(np.dstack([colours, alpha]), SIGMA, method="threshold")
    assert found.pixels.shape == (61, 50, 4)
    np.testing.assert_array_equal(found.pixels[:, :, 3], alpha)
    np.testing.assert_array_equal(found.pixels[:, :, :3], denoise(colours, SIGMA, method="threshold").pixels)


def test_grey_in_three_channels_is_grey():
    grey = np.clip(noisy(drawn()), 0, 255).astype(np.uint8)
    found = denoise(np.dstack([grey] * 3), method="threshold")
    alone = denoise(grey, method="threshold")
    assert found.noise_sd == alone.noise_sd
    for c in range(3):
        np.testing.assert_array_equal(found.pixels[:, :, c], alone.pixels)


def test_files_are_read_and_written(tmp_path):
    grey = np.clip(noisy(drawn()), 0, 255).astype(np.uint8)
    Image.fromarray(grey).save(tmp_path / "noisy.png")
    found = denoise(tmp_path / "noisy.png", SIGMA, method="ppca", clean=drawn())
    assert found.psnr > found.psnr_before
    found.save(tmp_path / "clean.png")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "clean.png")), found.pixels)


def test_a_watcher_is_told_and_can_stop():
    told: list[Progress] = []
    with watching(lambda progress: told.append(progress)):
        denoise(noisy(drawn()), SIGMA)
    assert {one.stages[-1].of for one in told if one.stages[-1].name == "row"} == {61}
    assert [one.share for one in told] == sorted(one.share for one in told)
    assert (told[-1].rows, told[-1].share) == (61, 1.0)
    with watching(lambda progress: True), pytest.raises(KeyboardInterrupt):
        denoise(noisy(drawn()), SIGMA)


@pytest.mark.parametrize(
    ("given", "settings", "error", "said"),
    [
        (drawn()[:7], {}, BadInput, "7 × 50 pixels, fewer than a patch"),
        (np.where(drawn() > 150, np.nan, drawn()), {}, MissingValues, "inpaint"),
        (np.where(drawn() > 150, np.inf, drawn()), {}, BadInput, "infinite"),
        (drawn(), {"sigma": -1}, BadParameter, "from 0"),
        (drawn(), {"sigma": float("nan")}, BadParameter, "from 0"),
        (drawn(), {"method": "median"}, BadParameter, '"grouped" or "mixture" or "threshold" or "ppca"'),
        (drawn(), {"patch": 1}, BadParameter, "from 2"),
        (drawn(), {"peak": 0}, BadParameter, "above 0"),
        (drawn(), {"clean": drawn()}, BadParameter, "peak=255"),
        (drawn(), {"clean": drawn()[1:], "peak": 255}, WrongShape, "one shape"),
        (np.zeros(5), {}, WrongShape, "no picture"),
        (np.zeros((9, 9, 5)), {}, WrongShape, "no picture"),
        (np.array([["a"]]), {}, NotNumeric, "dtype"),
        ("no.png", {}, BadFile, r"^no\.png: no such file; check the path\.$"),
    ],
)
def test_what_cannot_be_done_is_said(given, settings, error, said):
    with pytest.raises(error, match=said):
        denoise(given, **settings)
