"""Large holes: no worse than diffusion, and as unsure as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import inpaint
from lowdim.recipes.pictures.missing_pixels import diffuse
from lowdim.recipes.pictures.uncertainty import EXCESS, LAGS, deep_holes, semivariogram


def walks(side: int, seed: int) -> np.ndarray:
    """A rough landscape: noise whose Fourier amplitudes fall as 1/f^1.8, from 0 to 255."""
    rng = np.random.default_rng(seed)
    f = np.hypot(*np.meshgrid(np.fft.fftfreq(side), np.fft.fftfreq(side)))
    f[0, 0] = 1.0
    made = np.fft.ifft2(np.fft.fft2(rng.standard_normal((side, side))) / f**1.8).real
    return 255 * (made - made.min()) / np.ptp(made)


def hole(side: int, top: int, left: int, height: int = 48, width: int = 60) -> np.ndarray:
    mask = np.zeros((side, side), dtype=bool)
    mask[top : top + height, left : left + width] = True
    return mask


def errors(picture: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """In the hole: those of inpaint, of diffusion, and the deviations that inpaint says."""
    found = inpaint(picture, mask, peak=255)
    flat = diffuse(np.where(mask, np.nan, picture))
    return (found.picture - picture)[mask], (flat - picture)[mask], found.deviations[mask]


@pytest.mark.slow
def test_landscapes_are_filled_as_well_as_by_diffusion_and_no_surer_than_right():
    """Six landscapes, each with a hole of 48 × 60 pixels. Errors of a hole go together, so that the six count for some
    twenty values: of a coverage of 95 % they tell it to 5."""
    every = [errors(walks(128, seed), hole(128, 20 + 8 * seed, 30)) for seed in range(6)]
    ours, flat, deviations = (np.concatenate(part) for part in zip(*every, strict=True))
    assert np.mean(ours**2) <= 1.05 * np.mean(flat**2)
    assert 0.85 <= np.mean(np.abs(ours) < 1.96 * deviations) <= 1.0
    assert 0.4 < np.sqrt(np.mean((ours / deviations) ** 2)) < 1.4


@pytest.mark.parametrize("name", ["coins", "camera", "brick", "chelsea"])
@pytest.mark.slow
def test_photographs_are_filled_as_well_as_by_diffusion(shared_data, name):
    from PIL import Image

    whole = np.asarray(Image.open(shared_data(f"images/{name}.png")).convert("L")).astype(float)
    picture = whole[:256, :256]
    ours, flat, deviations = errors(picture, hole(256, 60, 50, 60, 80))
    assert np.mean(ours**2) <= 1.05 * np.mean(flat**2)  # 0.2 dB
    assert np.mean(np.abs(ours) < 1.96 * deviations) > 0.7  # one hole, of which all may be lighter than its border


def test_a_hole_in_the_lower_half_is_filled():
    """Where patches of the upper half are all whole, nothing of them is in doubt."""
    picture = walks(96, 3)
    found = inpaint(picture, hole(96, 60, 40, 20, 20), peak=255)
    assert np.isfinite(found.picture).all()
    assert np.isfinite(found.deviations).all()


def test_one_known_pixel_leaves_everything_open():
    picture = walks(64, 0)
    mask = np.ones(picture.shape, dtype=bool)
    mask[20, 30] = False
    found = inpaint(picture, mask, peak=255)
    np.testing.assert_allclose(found.picture, picture[20, 30])
    far = np.hypot(*np.meshgrid(np.arange(64) - 30, np.arange(64) - 20)) >= 8
    # any number between black and white, and 1.4 times that in square
    np.testing.assert_allclose(found.deviations[far], 255 * np.sqrt(EXCESS / 12), rtol=0.01)


def test_deviations_grow_with_the_distance():
    picture = walks(96, 1)
    mask = hole(96, 24, 24, 48, 48)
    found = inpaint(picture, mask, peak=255).deviations
    ways = [found[24 + i, 48] for i in range(0, 24, 4)]
    assert (np.diff(ways[1:]) > 0).all()


def test_the_semivariogram_of_noise_and_of_a_walk():
    """White noise: its variance at all distances. A walk: half of the distance. Known to 5 % of 9,000 pairs or more."""
    rng = np.random.default_rng(0)
    nothing = np.zeros((100, 100), dtype=bool)
    nothing[50, 50] = True
    white = semivariogram(3 * rng.standard_normal((100, 100)), nothing, 200.0, 1.0)
    np.testing.assert_allclose(white[:5], 9, rtol=0.1)
    walk = np.cumsum(rng.standard_normal((2000, 1)) * np.ones((1, 3)), axis=0)
    here = np.zeros(walk.shape, dtype=bool)
    here[1000] = True
    told = semivariogram(walk, here, 5000.0, 1.0)[:3]
    # across, all three columns are one, and at distances of 1 and 2 half of the pairs are such
    assert (np.diff(told) > 0).all()
    assert told[2] == pytest.approx(LAGS[2] / 2, rel=0.2)


def test_small_holes_are_left_to_the_patches():
    values = np.random.default_rng(0).random((30, 30, 1))
    values[5:12, 5:12] = np.nan
    assert np.isinf(deep_holes(values, 1.0).variances).all()
