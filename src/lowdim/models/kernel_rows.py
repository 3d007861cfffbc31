"""What a fitted kernel PCA says about rows, block by block.

Functions here turn a block of rows into an array; they are handed to `Source.map_rows`, so they work on arrays, files
and clusters alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.holes import refuse_block_holes
from lowdim.matrices.kernel_functions import Kernel
from lowdim.matrices.kernel_matrix import refuse_overflow
from lowdim.matrices.preparation import dense
from lowdim.results.kernel import KernelFit
from lowdim.solvers.kernel_features import Features, features_of, scores_of
from lowdim.sources.source import Block

Floats = NDArray[np.float64]

PIECE_BYTES = 16 * 2**20
"""Numbers that describe new rows, f(x), are made so many bytes at a time."""


@dataclass(frozen=True)
class RowKernel:
    """A fitted model that is asked about rows."""

    fit: KernelFit
    kernel: Kernel | None
    features: Features | None
    """How rows become f(x); None: they come as rows of a kernel matrix."""
    weights: Floats
    """(m, k) scores are f(x) times these, less the offset."""

    @classmethod
    def for_scores(cls, fit: KernelFit, kernel: Kernel | None, compiled: bool) -> RowKernel:
        """The cheapest features that scores can be made of: the kernel with the basis itself."""
        if kernel is None:
            return cls(fit, None, None, fit.found.axes)
        scores = scores_of(kernel, fit.found, compiled)
        return cls(fit, kernel, scores.features, scores.weights)

    @classmethod
    def for_distances(cls, fit: KernelFit, kernel: Kernel | None, compiled: bool) -> RowKernel:
        """Features that lengths can be made of too."""
        features = None if kernel is None else features_of(kernel, fit.found, compiled)
        return cls(fit, kernel, features, fit.found.axes)

    def pieces(self, block: Block) -> Iterator[tuple[Floats, Floats]]:
        """Rows of a block as the kernel takes them, and f of each, (m, basis); a piece at a time."""
        step = max(1, PIECE_BYTES // (8 * max(1, len(self.fit.found.axes))))
        refuse_block_holes(block, self.fit.columns)
        for start in range(0, block.rows.shape[0], step):
            rows = dense(block.rows[start : start + step]).astype(np.float64)
            rows = self.fit.prepared(rows)
            with np.errstate(over="ignore", invalid="ignore"):
                f = rows if self.features is None else self.features.of(rows)
            refuse_overflow(f)
            yield rows, f

    def own(self, rows: Floats) -> Floats:
        """(m,) k(x, x) of each row."""
        if self.kernel is None:
            raise BadInput(
                "How far a row lies from the plane depends on k(x, x), which rows of a precomputed kernel matrix do "
                "not tell: pass the kernel as a function instead of its matrix."
            )
        return self.kernel.diagonal(rows)


def scores(block: Block, model: RowKernel) -> Floats:
    """(n, k) coordinates along the axes."""
    return np.concatenate([f @ model.weights - model.fit.found.offset for _, f in model.pieces(block)])


def distances(block: Block, model: RowKernel) -> Floats:
    """(n, 1) squared distance of each row's image from the plane of the axes (Hoffmann 2007, eq. 6)."""
    found = model.fit.found
    parts = []
    for rows, f in model.pieces(block):
        along = f @ model.weights - found.offset
        whole = found.from_mean(model.own(rows), f)
        parts.append(np.maximum(whole - np.einsum("ij,ij->i", along, along), 0.0))
    return np.concatenate(parts)[:, None]
