"""A few figures as pictures, pixel by pixel. `python tests/views/plots/test_references.py` draws the references anew.

Fonts (DejaVu Sans) and the library that draws letters (FreeType) come with matplotlib's wheels, so that text is the
same on every machine with the same matplotlib. Look at every picture that has changed before it is committed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.image import imread

import lowdim
from lowdim.views.plots.canvas import dark_paper

FOLDER = Path(__file__).parent / "references"
DPI = 50

TOLERANCE = 0.03
"""Root mean square of the differences of all pixels, from 0 to 1. Two drawings of the same figure by one version of
matplotlib differ by 0; a figure shifted by one pixel, or with another colour, by more than twice this (tested)."""


def wine():
    data = lowdim.datasets.wine()
    return data.to_pandas(), data.labels, lowdim.PCA(scale=True).fit(data.to_pandas())


def arrests():
    X = lowdim.datasets.us_arrests().to_pandas()
    return X, lowdim.PCA(scale=True).fit(X)


def scores() -> Any:
    X, kinds, model = wine()
    return model.plot.scores(X, color=kinds, ellipses=0.95)


def scores_dark() -> Any:
    with dark_paper():
        return scores()


def scores_line() -> Any:
    X = lowdim.datasets.uk_foods().to_pandas()
    return lowdim.PCA(1).fit(X).plot.scores(X, names=True)


def scree() -> Any:
    return wine()[2].plot.scree()


def biplot() -> Any:
    X, model = arrests()
    return model.plot.biplot(X, names=True)


def correlation_circle() -> Any:
    return arrests()[1].plot.correlation_circle()


def loadings() -> Any:
    return arrests()[1].plot.loadings()


def outliers() -> Any:
    X, _, _ = wine()
    return lowdim.PCA(3, scale=True).fit(X).plot.outliers(X)


FIGURES: dict[str, Callable[[], Any]] = {
    "scores": scores,
    "scores-dark": scores_dark,
    "scores-line": scores_line,
    "scree": scree,
    "biplot": biplot,
    "correlation-circle": correlation_circle,
    "loadings": loadings,
    "outliers": outliers,
}


def picture(draw: Callable[[], Any]) -> bytes:
    """A PNG file of a figure in matplotlib's own style, whatever the user's is."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        figure = draw().figure
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=DPI)
        pyplot.close(figure)
    return file.getvalue()


def pixels(png: bytes) -> np.ndarray:
    """(height, width, 3) from 0 to 1."""
    return imread(io.BytesIO(png), format="png")[..., :3]


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Root mean square over all pixels; 1 if the sizes are different."""
    return float(np.sqrt(np.mean((one - other) ** 2))) if one.shape == other.shape else 1.0


@pytest.mark.parametrize("name", FIGURES)
def test_looks_as_it_did(name):
    known = pixels((FOLDER / f"{name}.png").read_bytes())
    assert difference(pixels(picture(FIGURES[name])), known) <= TOLERANCE


def test_the_tolerance_sees_a_shift_and_a_colour():
    known = pixels((FOLDER / "scores.png").read_bytes())
    assert difference(np.roll(known, 1, axis=0), known) > 2 * TOLERANCE
    X, kinds, model = wine()
    mirrored = pixels(picture(lambda: model.plot.scores(X, color=kinds[::-1], ellipses=0.95)))
    assert difference(mirrored, known) > 2 * TOLERANCE


if __name__ == "__main__":
    matplotlib.use("agg")
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.png").write_bytes(picture(draw))
