"""The lecture's figure of pictures and what models make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowdim.errors import WrongShape
from lowdim.recipes.compare.overview import Reconstructions, draw_reconstructions, line_picture
from lowdim.views.plots.canvas import write_figure

REAL = np.random.default_rng(0).integers(0, 2, (5, 28 * 20)).astype(float)


def test_pictures_stand_side_by_side() -> None:
    line = line_picture(0.5 * REAL, REAL, (28, 20))
    gap = 2  # 8 % of 20, rounded
    assert line.shape == (28, 5 * 20 + 4 * gap, 3)
    for i, row in enumerate(REAL):
        there = line[:, i * (20 + gap) : i * (20 + gap) + 20]
        np.testing.assert_allclose(there, 0.5 * np.repeat(row.reshape(28, 20, 1), 3, axis=2))
    np.testing.assert_array_equal(line[:, 20:22], 1.0)


def test_a_line_for_each_model_with_its_error(tmp_path: Path) -> None:
    models = [Reconstructions("deep", 0.9 * REAL, 2.5), Reconstructions("PCA", 0.2 * REAL, 13.866)]
    figure = draw_reconstructions(REAL, models, (28, 20), heading="five pictures")
    panels = figure.axes
    assert [panel.get_ylabel() for panel in panels] == ["real", "deep\nsquared error 2.50", "PCA\nsquared error 13.87"]
    assert figure.get_suptitle() == "five pictures"
    for panel, rows in zip(panels, [REAL, *(one.rows for one in models)], strict=True):
        np.testing.assert_array_equal(panel.images[0].get_array(), line_picture(rows, REAL, (28, 20)))
    write_figure(tmp_path / "f.png", figure)
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_in_colour_and_one_alone() -> None:
    row = REAL[:1, : 6 * 5 * 3]
    figure = draw_reconstructions(row, [Reconstructions("same", row, 0.0)], (6, 5, 3))
    assert figure.axes[1].images[0].get_array().shape == (6, 5, 3)


def test_rows_of_another_shape_are_refused() -> None:
    with pytest.raises(WrongShape, match=r"PCA: rows of shape \(4, 560\), but \(5, 560\)"):
        draw_reconstructions(REAL, [Reconstructions("PCA", REAL[:4], 1.0)], (28, 20))
