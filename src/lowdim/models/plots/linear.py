"""Figures of PCA and of the other models with a mean and orthonormal axes."""

from __future__ import annotations

from lowdim.models.plots.columns import ColumnPlots
from lowdim.models.plots.rows import RowPlots
from lowdim.models.plots.scores import ScorePlots
from lowdim.models.plots.spectrum import SpectrumPlots


class LinearPlots(SpectrumPlots, ScorePlots, RowPlots, ColumnPlots):
    """What can be drawn of a linear model."""
