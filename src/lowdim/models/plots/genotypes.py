"""Figures of a genotype PCA."""

from __future__ import annotations

from typing import Any

from lowdim.models.plots.base import checked_most
from lowdim.models.plots.linear import LinearPlots
from lowdim.views.figures.genotypes import axis_tests
from lowdim.views.plots.genotypes import draw_axis_tests


class GenotypePlots(LinearPlots):
    """What can be drawn of axes of individuals."""

    def tracy_widom(self, ax: Any = None, *, most: int = 20) -> Any:
        """−log₁₀ p of Tracy & Widom's test, axis by axis: filled are those that noise would not give.

        References
        ----------
        Patterson, Price & Reich 2006, "Population structure and eigenanalysis".
        """
        return draw_axis_tests(axis_tests(self._model.fit_, checked_most(most)), self._axes(ax))
