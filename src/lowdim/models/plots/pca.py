"""Figures of PCA, and of its sisters for rows with holes."""

from __future__ import annotations

from lowdim.models.plots.holes import HolePlots, PosteriorPlots
from lowdim.models.plots.linear import LinearPlots
from lowdim.models.plots.linear_pictures import PicturePlots
from lowdim.models.plots.paths import PathPlots


class PCAPlots(LinearPlots, PicturePlots):
    """What can be drawn of a PCA, whose rows may be pictures."""


class HoledPlots(PCAPlots, HolePlots):
    """What can be drawn of a PCA of rows with holes."""


class LatentPlots(HoledPlots, PosteriorPlots, PathPlots):
    """What can be drawn of a probabilistic PCA."""
