"""`lowdim inpaint` writes the picture without its holes, and says how well it did."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.sources.formats.pictures import read_picture
from lowdim.views.files.pictures import write_picture

ROWS, COLUMNS = np.mgrid[0:30, 0:32]
PICTURE = np.rint(128 + 70 * np.sin((ROWS + COLUMNS) / 3)).astype(np.uint8)
HOLES = np.random.default_rng(0).random(PICTURE.shape) < 0.3
FAST = ("--method", "ppca", "--patch", "4")


@pytest.fixture(autouse=True)
def pictures(tmp_path, monkeypatch):
    """The picture, one with holes, and the mask."""
    monkeypatch.chdir(tmp_path)
    write_picture("true.png", PICTURE)
    write_picture("hole.png", np.where(HOLES, 0, PICTURE).astype(np.uint8))
    write_picture("mask.png", np.where(HOLES, 255, 0).astype(np.uint8))


def test_the_filled_picture_is_written(run):
    ended = run("inpaint", "hole.png", "--mask", "mask.png", "-o", "filled.png", "--clean", "true.png", *FAST)
    assert ended.code == 0
    assert f"filled.png: {HOLES.sum()} of {HOLES.size} values of hole.png filled" in ended.err
    assert "dB" in ended.err
    filled = read_picture("filled.png")
    np.testing.assert_array_equal(filled[~HOLES], PICTURE[~HOLES])
    assert np.abs(filled.astype(int) - PICTURE)[HOLES].mean() < 15  # waves of 70 grey levels


def test_programs_get_an_object_and_the_deviations(run):
    ended = run("inpaint", "hole.png", "--mask", "mask.png", "--sd", "sd.npy", "--json", *FAST)
    assert ended.err == ""
    assert ended.json["missing"] == HOLES.sum()
    assert ended.json["psnr"] is None
    deviations = np.load("sd.npy")
    np.testing.assert_array_equal(deviations > 0, HOLES)
    assert ended.json["mean_sd"] == pytest.approx(deviations[HOLES].mean())


def test_a_colour_may_mark_what_is_missing(run):
    marked = np.repeat(PICTURE[:, :, None], 3, axis=2)
    marked[HOLES] = (255, 0, 255)
    write_picture("marked.png", marked)
    assert run("inpaint", "marked.png", "--missing", "#ff00ff", "-o", "filled.png", *FAST).code == 0
    np.testing.assert_array_equal(read_picture("filled.png")[~HOLES], marked[~HOLES])


def test_a_picture_without_holes_is_written_as_it_is(run):
    write_picture("none.png", np.zeros_like(PICTURE))
    ended = run("inpaint", "true.png", "--mask", "none.png", "-o", "same.png")
    assert "no pixel of true.png was missing" in ended.err
    np.testing.assert_array_equal(read_picture("same.png"), PICTURE)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("hole.png", "-o", "f.png"), 2, "--mask"),
        (("hole.png", "--mask", "mask.png"), 2, "-o filled.png"),
        (("hole.png", "--mask", "mask.png", "-o", "f.csv"), 2, "f.csv"),
        (("hole.png", "--mask", "mask.png", "-o", "hole.png"), 2, "written over"),
        (("hole.png", "--mask", "none.png", "-o", "f.png"), 3, "none.png"),
        (("hole.png", "--missing", "alpha", "-o", "f.png"), 3, "no alpha"),
        (("hole.png", "--missing", "pink", "-o", "f.png"), 2, "#rrggbb"),
        (("hole.png", "--mask", "mask.png", "-o", "f.png", "--method", "x"), 2, "grouped, mixture, ppca"),
        (("hole.png", "--mask", "mask.png", "-o", "f.png", "--sigma", "x"), 2, "or auto"),
        (("hole.png", "--mask", "mask.png", "-o", "f.png", "--sd", "sd.png"), 2, ".npy"),
    ],
)
def test_what_cannot_be_is_said(run, words, code, said):
    ended = run("inpaint", *words)
    assert ended.code == code
    assert said in ended.err
