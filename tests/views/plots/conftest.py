"""Figures without a screen, each closed after its test."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest
from matplotlib import pyplot

import lowdim


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    before = matplotlib.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(before)


@pytest.fixture(scope="session")
def wine():
    """(frame, kinds, model with all components of scaled columns)"""
    data = lowdim.datasets.wine()
    frame = data.to_pandas()
    return frame, data.labels, lowdim.PCA(scale=True).fit(frame)


@pytest.fixture
def axes():
    return pyplot.figure(figsize=(5, 4)).subplots()
