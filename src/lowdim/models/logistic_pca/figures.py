"""Figures of a logistic PCA."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lowdim.models.base.picture_plots import Basis, GalleryPlots, NestedReconstructionPlots, TraversalPlots
from lowdim.models.base.plots import PathPlots, ScorePlots
from lowdim.models.logistic_pca.rows import coder, pieces
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block
from lowdim.types import Floats
from lowdim.views.plots.scores import axis_titles


class LogisticPlots(ScorePlots, PathPlots, GalleryPlots, NestedReconstructionPlots, TraversalPlots):
    """What can be drawn of axes in the space of natural parameters. Rows that are drawn are means: chances, counts."""

    def _basis(self) -> Basis:
        """Axes as they are; the mean is that of a row whose codes are 0."""
        fit = self._model.fit_
        center = self._decoded(np.zeros((1, fit.k)))[0]
        return Basis(center, fit.components, axis_titles(self._prefix, range(1, fit.k + 1), fit.shares))

    def _made_of(self, rows: ArraySource, counts: Sequence[int]) -> Floats:
        """By the best codes of the first axes alone, which differ from the first codes of all."""
        block = Block(0, rows.array)
        fit = self._model.fit_
        made = []
        for k in counts:
            way = coder(fit, block, k)
            made.append(
                np.concatenate([way.decoder.family.mean(way.theta(x)) for x in pieces(block, fit, rows.columns)])
            )
        return np.stack(made)

    def _cloud(self) -> tuple[Floats, Floats]:
        return np.zeros(self._model.fit_.k), self._model.fit_.spreads
