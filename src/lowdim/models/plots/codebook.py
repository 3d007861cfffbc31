"""Figures of a codebook, and of a mixture: both are made of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.plots.holes import HolePlots
from lowdim.models.plots.paths import PathPlots
from lowdim.models.plots.pictures import Basis, GalleryPlots, ReconstructionPlots
from lowdim.results.codebook import CodebookFit
from lowdim.results.mixture import MixtureFit
from lowdim.sources.source import Source
from lowdim.views.figures.clusters import clusters
from lowdim.views.figures.pictures import PICTURE
from lowdim.views.lines import percent
from lowdim.views.plots.codebook import draw_usage

Floats = NDArray[np.float64]


class CodebookPlots(GalleryPlots, ReconstructionPlots):
    """What can be drawn of codewords."""

    _noun = "codeword"

    def usage(self, ax: Any = None) -> Any:
        """Bars: the share of the rows that each codeword stands for, largest first; the line is an equal share."""
        fit = self._model.fit_
        return draw_usage(clusters(fit), fit.perplexity, self._axes(ax))

    def _basis(self) -> Basis:
        """Codewords, those of most rows first."""
        return _typical(self._model.fit_, "codeword", "share of the rows")


class MixturePlots(GalleryPlots, HolePlots, PathPlots):
    """What can be drawn of a mixture: its gallery are the means of clusters, the commonest first."""

    def _basis(self) -> Basis:
        return _typical(self._model.fit_, "cluster", "how common it is")

    def _deviations(self, source: Source) -> Floats:
        return np.asarray(self._model.impute(source, return_std=True)[1])


def _typical(fit: CodebookFit | MixtureFit, noun: str, caption: str) -> Basis:
    """The centres of groups, the largest first."""
    found = clusters(fit)
    return Basis(None, found.centres, [percent(float(share)) for share in found.shares], PICTURE, noun, caption)
