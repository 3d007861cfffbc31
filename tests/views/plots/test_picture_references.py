"""Pictures, holes and paths, pixel by pixel, as in test_references.py.

`python -m tests.views.plots.test_picture_references` draws the references anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
import pytest

import lowdim
from lowdim.views.plots.canvas import dark_paper

from .test_references import FOLDER, TOLERANCE, difference, picture, pixels

SHAPE = (8, 8)


def digits() -> Any:
    return lowdim.datasets.digits().values[:500]


def holed() -> Any:
    X = lowdim.datasets.wine().to_pandas().iloc[:60]
    return X.mask(np.random.default_rng(0).random(X.shape) < 0.15)


def gallery() -> Any:
    return lowdim.PCA(11).fit(digits()).plot.gallery(picture_shape=SHAPE)


def gallery_dark() -> Any:
    # a few updates that are written in a textbook: which of many ends a search comes to is decided by rounding
    with dark_paper(), pytest.warns(lowdim.errors.NotConverged):
        return lowdim.NMF(8, solver="mu", max_iter=30).fit(digits()).plot.gallery(picture_shape=SHAPE)


def reconstruction() -> Any:
    return lowdim.PCA(20).fit(digits()).plot.reconstruction(digits(), picture_shape=SHAPE, most=3)


def traversal() -> Any:
    return lowdim.PCA(5).fit(digits()).plot.traversal(picture_shape=SHAPE)


def holes() -> Any:
    X = holed()
    return lowdim.ProbabilisticPCA(3, scale=True).fit(X).plot.holes(X, order="pattern")


def posterior() -> Any:
    X = holed()
    return lowdim.ProbabilisticPCA(3, scale=True).fit(X).plot.posterior(X)


FIGURES: dict[str, Callable[[], Any]] = {
    "gallery": gallery,
    "gallery-dark": gallery_dark,
    "reconstruction": reconstruction,
    "traversal": traversal,
    "holes": holes,
    "posterior": posterior,
}


@pytest.mark.parametrize("name", FIGURES)
def test_looks_as_it_did(name):
    known = pixels((FOLDER / f"{name}.png").read_bytes())
    assert difference(pixels(picture(FIGURES[name])), known) <= TOLERANCE


if __name__ == "__main__":
    matplotlib.use("agg")
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.png").write_bytes(picture(draw))
