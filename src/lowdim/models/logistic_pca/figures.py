"""Figures of a logistic PCA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.models.base.picture_plots import Basis, Pictures, gallery, reconstruction, traversal
from lowdim.models.base.plots import Plots, path, scores
from lowdim.models.logistic_pca.rows import Coder, cut_rows
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block
from lowdim.types import Floats
from lowdim.views.plots.scores import axis_titles


def _basis(model: Any) -> Basis:
    """Axes as they are; the mean is that of a row whose codes are 0."""
    fit = model.fit_
    center = np.asarray(model.inverse_transform(np.zeros((1, fit.k))), dtype=np.float64)[0]
    return Basis(center, fit.components, axis_titles(model.score_name, range(1, fit.k + 1), fit.shares))


def _made_of(model: Any, rows: ArraySource, counts: Sequence[int]) -> Floats:
    """By the best codes of the first axes alone, which differ from the first codes of all."""
    block, fit = Block(0, rows.array), model.fit_
    made = []
    for k in counts:
        way = Coder(fit, k)
        made.append(np.concatenate([way.decoder.family.mean(way.theta(x)) for x in cut_rows(block, fit, rows.columns)]))
    return np.stack(made)


def _cloud(model: Any) -> tuple[Floats, Floats]:
    return np.zeros(model.fit_.k), model.fit_.spreads


class LogisticPlots(Plots):
    """What can be drawn of axes in the space of natural parameters. Rows that are drawn are means: chances, counts."""

    scores = scores
    path = path
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    _pictures = Pictures(_basis, nested=True, made_of=_made_of, cloud=_cloud)
