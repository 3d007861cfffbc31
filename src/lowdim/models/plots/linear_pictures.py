"""Figures of linear models whose rows are pictures: eigenfaces, and what they make of faces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.plots.pictures import Basis, GalleryPlots, NestedReconstructionPlots, TraversalPlots
from lowdim.sources.memory import ArraySource
from lowdim.views.figures.rates import model_rates
from lowdim.views.figures.scores import axis_titles, checked_axes
from lowdim.views.plots.rates import draw_rates

Floats = NDArray[np.float64]


class PicturePlots(GalleryPlots, NestedReconstructionPlots, TraversalPlots):
    """The mean and the axes as pictures, in the data's units."""

    def compression(self, ax: Any = None) -> Any:
        """What is lost against what is kept: error against the bytes of 1, 2, …, k components, of the original's.

        The error is |X − X̂| / |X − mean| over the rows of the fit.
        """
        checked_axes(None, self._model.fit_.k)
        table = {name: np.asarray(values) for name, values in dict(self._model.compression()).items()}
        return draw_rates(model_rates(type(self._model).__name__, table), self._axes(ax))

    def _basis(self) -> Basis:
        fit = self._model.fit_
        titles = axis_titles(self._prefix, range(1, fit.k + 1), fit.shares)
        return Basis(fit.mean if self._model.center else None, fit.axes(whiten=False), titles)

    def _made_of(self, rows: ArraySource, counts: Sequence[int]) -> Floats:
        wanted = set(counts)
        made = enumerate(self._model.reconstructions(rows), start=1)
        return np.stack([row for k, row in made if k in wanted]).astype(np.float64)

    def _cloud(self) -> tuple[Floats, Floats]:
        fit = self._model.fit_
        return np.zeros(fit.k), np.ones(fit.k) if self._model.whiten else np.sqrt(fit.variances)
