"""Rows to scores and predictions of a regression, block by block, so that files and clusters are read as arrays are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.holes import refuse_block_holes
from lowdim.matrices.preparation import dense
from lowdim.models.latent_rows import RowModel, filled_rows
from lowdim.results.regression import RegressionFit
from lowdim.sources.source import Block

Floats = NDArray[np.float64]


def scores_of_block(block: Block, fit: RegressionFit) -> Floats:
    """(n, k); holes are filled where the model was fitted on rows with holes."""
    rows = np.asarray(dense(block.rows), dtype=np.float64)
    if not np.isfinite(rows).all():
        if fit.filler is None:
            refuse_block_holes(block, fit.columns)
        else:
            rows = np.nan_to_num(filled_rows(Block(block.start, rows), RowModel.of(fit.filler)))
    return np.asarray((rows - fit.axes.mean) @ fit.axes_used.T)


def predictions_of_block(block: Block, fit: RegressionFit, deviations: bool) -> Floats:
    """(n, m) predictions, and after them the standard deviations, if asked for."""
    scores = scores_of_block(block, fit)
    found = fit.predictions(scores)
    return np.concatenate([found, fit.deviations(scores)], axis=1) if deviations else found
