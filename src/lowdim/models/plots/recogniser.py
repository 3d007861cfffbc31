"""Figures of a gallery of people."""

from __future__ import annotations

from typing import Any

from lowdim.models.plots.pictures import Basis, GalleryPlots
from lowdim.views.figures.recogniser import gallery_distances
from lowdim.views.figures.scores import axis_titles
from lowdim.views.plots.recogniser import draw_gallery_distances


class RecogniserPlots(GalleryPlots):
    """What can be drawn of a recogniser: the mean and the axes of its space, and how far people are apart."""

    def distances(self, ax: Any = None) -> Any:
        """Rows of the gallery by their distance to the nearest other: of the same person, and of strangers."""
        return draw_gallery_distances(gallery_distances(self._model.fit_), self._axes(ax))

    def _basis(self) -> Basis:
        space = self._model.fit_.space
        return Basis(space.mean, space.axes(whiten=False), axis_titles("PC", range(1, space.k + 1), space.shares))
