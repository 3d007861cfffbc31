"""Deviations of denoised pixels: as large as the errors, whatever the model says of itself."""

import numpy as np
import pytest

from lowdim import denoise
from lowdim.recipes.pictures.uncertainty import SIDE, _squares, calibrate_variances


@pytest.mark.parametrize("says", [0.5, 1.0, 2.0])
def test_a_model_that_is_too_sure_or_not_sure_enough_is_corrected(says):
    """Half of a noisy pixel is a shrinkage whose error is known: ¼ of the noise's variance and ¼ of the signal's.

    It is judged at twice the variance of the noise, where the signal counts half as much. 40,000 values of variance
    about one tell the mean error to 1 %; the factor is drawn to one by as little.
    """
    rng = np.random.default_rng(0)
    x = 0.3 * rng.standard_normal((200, 200))
    y = x + rng.standard_normal(x.shape)
    right = (1 + 0.3**2 / 2) / 4  # in units of the noise that it is judged with

    def half(picture, width):
        return picture / 2, np.full(picture.shape, says * right)

    found = calibrate_variances(y, half(y, 8)[1], 8, half)
    np.testing.assert_allclose(found, right, rtol=0.08)


def test_small_pictures_are_left_nearly_as_they_are():
    """200 values tell an error of 0.01 to ± 0.1: nothing."""
    y = np.random.default_rng(0).standard_normal((20, 10))
    found = calibrate_variances(y, np.full(y.shape, 0.01), 8, lambda seen, width: (0 * seen, np.full(seen.shape, 0.01)))
    np.testing.assert_allclose(found, 0.01, rtol=0.2)


def test_large_pictures_are_judged_by_four_squares():
    for shape, count in (((400, 500), 1), ((600, 500), 2), ((600, 1000), 4)):
        parts = list(_squares(shape))
        assert len(parts) == count
        for rows, columns in parts:
            assert rows == slice(None) or rows.stop - rows.start == SIDE
            assert columns == slice(None) or columns.stop - columns.start == SIDE


@pytest.mark.parametrize("method", ["grouped", "threshold"])
def test_deviations_of_a_flat_picture_come_nearer_to_its_errors(method, monkeypatch):
    """Grey with a step, of which both methods are far less sure than they should be.

    How far errors of 0.1 of the noise or less can be told from 16,000 values is limited: what may be chance is left.
    """
    clean = np.full((128, 128), 90.0)
    clean[:, 64:] = 160.0
    noisy = clean + 35 * np.random.default_rng(1).standard_normal(clean.shape)

    def size() -> float:
        found = denoise(noisy, 35.0, method=method, clean=clean, peak=255)
        return float(np.sqrt(np.mean(((found.picture - clean) / found.deviations) ** 2)))

    after = size()
    monkeypatch.setattr(
        "lowdim.recipes.pictures.denoise.calibrate_variances", lambda seen, variances, width, method: variances
    )
    before = size()
    assert before < 0.5
    assert 1.15 * before < after < 1.3
