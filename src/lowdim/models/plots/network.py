"""Figures of an autoencoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.plots.pictures import CHANGE, Basis, GalleryPlots, ReconstructionPlots, TraversalPlots
from lowdim.models.plots.scores import ScorePlots
from lowdim.views.figures.scores import axis_titles
from lowdim.views.plots.learning import draw_learning_curve

Floats = NDArray[np.float64]


class NetworkPlots(ScorePlots, GalleryPlots, ReconstructionPlots, TraversalPlots):
    """What can be drawn of a network. Its gallery shows what changes where one code grows, the others at their mean."""

    _noun = "code"

    def learning(self, ax: Any = None) -> Any:
        """Loss after each epoch, of rows that were learnt from and of those set aside; a dot where weights are kept."""
        return draw_learning_curve(self._model.fit_, self._axes(ax))

    def _basis(self) -> Basis:
        center, effects = self._effects()
        titles = axis_titles(self._prefix, range(1, len(effects) + 1), None)
        return Basis(center, effects, titles, noun="code", caption=CHANGE)

    def _cloud(self) -> tuple[Floats, Floats]:
        fit = self._model.fit_
        return fit.code_mean, np.sqrt(np.diag(fit.code_covariance))
