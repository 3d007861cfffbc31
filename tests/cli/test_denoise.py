"""`lowdim denoise` writes a picture like the one it read, and says how well it went."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

ROWS, COLUMNS = np.mgrid[:40, :44]
CLEAN = (90 + COLUMNS + 80 * (ROWS > COLUMNS)).astype(np.uint8)
NOISY = np.clip(CLEAN + 20 * np.random.default_rng(0).standard_normal(CLEAN.shape), 0, 255).astype(np.uint8)


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(CLEAN).save("true.png")
    Image.fromarray(NOISY).save("noisy.png")
    Image.fromarray(NOISY.astype(np.uint16) * 256).save("deep.png")
    Image.fromarray(np.dstack([NOISY, NOISY.T[:40, :40].repeat(2, axis=1)[:, :44], NOISY, CLEAN])).save("alpha.png")
    return tmp_path


def test_the_picture_is_written_and_the_noise_said(run, pictures):
    ended = run("denoise", "noisy.png", "-o", "out.png", "--clean", "true.png", "--sd", "sd.npy")
    assert ended.code == 0
    assert "out.png: noise of standard deviation" in ended.err
    assert "(found) taken off noisy.png" in ended.err
    assert "dB against the clean picture" in ended.err
    found = np.asarray(Image.open("out.png")).astype(float)
    assert found.shape == CLEAN.shape
    assert np.std(found - CLEAN) < 0.5 * np.std(NOISY.astype(float) - CLEAN)
    assert np.load("sd.npy").shape == CLEAN.shape


def test_facts_for_programs(run, pictures):
    ended = run("denoise", "noisy.png", "-o", "out.jpg", "--sigma", "20", "--method", "ppca", "--json")
    facts = ended.json
    assert (facts["noise_sd"], facts["method"], facts["psnr"], facts["shape"]) == (20, "ppca", None, [40, 44])
    with Image.open("out.jpg") as written:
        assert written.format == "JPEG"


def test_depth_and_alpha_are_kept(run, pictures):
    assert run("denoise", "deep.png", "-o", "out.tif", "--sigma", 5120, "-q", "--method", "threshold").err == ""
    assert np.asarray(Image.open("out.tif")).dtype == np.uint16
    assert run("denoise", "alpha.png", "-o", "out.png", "--sigma", 20, "--method", "threshold").code == 0
    np.testing.assert_array_equal(np.asarray(Image.open("out.png"))[:, :, 3], CLEAN)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("noisy.png",), 2, "as in lowdim denoise noisy.png -o clean.png"),
        (("noisy.png", "-o", "noisy.png"), 2, "would be written over what is read"),
        (("noisy.png", "-o", "out.gif"), 2, "ending in .gif are not written"),
        (("noisy.png", "-o", "out.png", "--sd", "sd.csv"), 2, "must end in .npy"),
        (
            ("noisy.png", "-o", "out.png", "--sigma", "lots"),
            2,
            "--sigma lots: the noise must be a number from 0, or auto",
        ),
        (("noisy.png", "-o", "out.png", "--sigma", "-3"), 2, "--sigma -3.0: it must be a number from 0"),
        (("noisy.png", "-o", "out.png", "--method", "blur"), 2, "--method blur: it must be"),
        (("noisy.png", "-o", "out.png", "--patch", "99"), 3, "fewer than a patch of 99 × 99"),
        (("nosy.png", "-o", "out.png"), 3, "did you mean noisy.png"),
        (("deep.png", "-o", "out.jpg"), 3, "JPEG files do not take uint16"),
        (("alpha.png", "-o", "out.jpg"), 3, "no alpha"),
        (("noisy.png", "-o", "out.png", "--clean", "alpha.png"), 3, "one shape"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(run, pictures, given, code, said):
    ended = run("denoise", *given)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert not list(pictures.glob("out.*"))
