"""The strength of the noise is found within a few per cent, and scales with the picture."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.recipes.pictures.noise import noise_sd
from lowdim.sources.formats.pictures import read_picture

RNG = np.random.default_rng(0)
ROWS, COLUMNS = np.mgrid[:128, :128]
GREY = 100 + 50 * np.sin(ROWS / 20) + 0.3 * COLUMNS
COLOUR = np.stack([GREY, GREY / 2 + 40, 200 - GREY], axis=2)


@pytest.mark.parametrize("sigma", [10, 50])
@pytest.mark.parametrize(("clean", "within"), [(GREY, 0.06), (COLOUR, 0.02)], ids=["grey", "colour"])
def test_it_is_found_in_a_smooth_picture(clean, within, sigma):
    # grey: half of what the smallest of 49 eigenvalues is too low by at this size is left; colour: a mean of many
    assert noise_sd(clean + sigma * RNG.standard_normal(clean.shape)) == pytest.approx(sigma, rel=within)


@pytest.mark.parametrize("clean", [GREY, COLOUR], ids=["grey", "colour"])
def test_it_scales_with_the_picture_and_not_with_its_level(clean):
    picture = clean + 10 * RNG.standard_normal(clean.shape)
    found = noise_sd(picture)
    assert noise_sd(picture / 255) == pytest.approx(found / 255, rel=1e-8)
    assert noise_sd(picture + 1e4) == pytest.approx(found, rel=1e-8)


@pytest.mark.parametrize("shape", [(20, 20), (20, 20, 3), (2, 2), (1, 5)])
def test_a_constant_picture_has_none(shape):
    assert noise_sd(np.full(shape, 0.1)) == 0


@pytest.mark.slow
def test_on_real_pictures_it_is_within_five_per_cent_on_average(shared_data):
    errors = []
    for path in sorted(shared_data("images").glob("*.png")):
        clean = read_picture(path).astype(float)
        for sigma in (10, 25, 50):
            found = noise_sd(clean + sigma * RNG.standard_normal(clean.shape))
            errors.append(abs(found / sigma - 1))
    assert np.mean(errors) < 0.05
