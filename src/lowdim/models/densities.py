"""Log-densities of rows, block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.holes import refuse_block_holes
from lowdim.matrices.preparation import Preparation
from lowdim.results import gaussian
from lowdim.results.linear import LinearFit
from lowdim.sources.source import Block


def log_density_of_block(
    block: Block, fit: LinearFit, preparation: Preparation, columns: tuple[str, ...] | None
) -> NDArray[np.float64]:
    """(n, 1) log-likelihood of each row under the Gaussian model."""
    parts = []
    for rows in preparation.pieces(block, np.float64, 1024):
        lengths = np.einsum("ij,ij->i", rows, rows)
        if not np.isfinite(lengths).all():
            refuse_block_holes(block, columns)
        parts.append(gaussian.log_density(fit, rows @ fit.components.T, lengths))
    return np.concatenate(parts)[:, None]
