"""Figures of a non-negative factorisation."""

from __future__ import annotations

from typing import Any

from lowdim.models.plots.base import checked_most
from lowdim.models.plots.holes import HolePlots
from lowdim.models.plots.paths import PathPlots
from lowdim.models.plots.pictures import Basis, GalleryPlots, ReconstructionPlots
from lowdim.models.plots.scores import ScorePlots
from lowdim.sources.source import Source
from lowdim.views.figures.parts import parts
from lowdim.views.figures.pictures import PART
from lowdim.views.figures.scores import axis_titles
from lowdim.views.plots.parts import draw_parts, parts_size


class NonNegativePlots(ScorePlots, GalleryPlots, ReconstructionPlots, HolePlots, PathPlots):
    """What can be drawn of parts."""

    _noun = "part"

    def parts(self, ax: Any = None, *, most: int = 10, columns: int | None = None) -> Any:
        """Bars: of each part the `most` columns of largest weight. `columns` charts stand beside one another."""
        found = parts(self._model.fit_, checked_most(most))
        return draw_parts(found, self._axes(ax, *parts_size(found, columns)), columns)

    def _basis(self) -> Basis:
        fit = self._model.fit_
        titles = axis_titles(self._prefix, range(1, fit.k + 1), fit.masses)
        return Basis(None, fit.components, titles, PART, "part", "share of all that is fitted")

    def _deviations(self, source: Source) -> None:
        """Parts have no error bars."""
