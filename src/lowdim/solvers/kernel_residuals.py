"""How wrong axes from features probably are: |K v − λ v| with the kernel itself, from a sample of its rows.

Some eigenvalue of K lies within |K v − λ v| of λ, for a unit vector v. One entry of K v takes the kernels of one row
with all others, so the entries of a few hundred rows, drawn at random, cost no more than as many landmarks; n times the
mean of their squares estimates the whole. An estimate and no bound: the bound of landmarks is their slack, which holds
for certain and is often a hundred times as large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.kernel_columns import COMPILED_FROM, KernelColumns
from lowdim.matrices.kernel_functions import Kernel
from lowdim.results.kernel_axes import KernelAxes
from lowdim.solvers.kernel_features import Scores, scores_of
from lowdim.sources.picked import rows_at
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]

WITNESSES = 256
"""Rows from which residuals are estimated: to about one part in √(2 · 256) ≈ 23, if rows are alike."""


def estimated_residuals(
    kernel: Kernel,
    axes: KernelAxes,
    source: Source,
    rng: np.random.Generator,
    centered: bool,
    n_witnesses: int = WITNESSES,
) -> Floats:
    """(k,) estimates of |K v − λ v| for the unit vectors v of scores on the axes, in one pass over the rows."""
    n, w = axes.n_rows, min(axes.n_rows, n_witnesses)
    witnesses = rows_at(source, np.sort(rng.choice(n, w, replace=False)))
    scores = scores_of(kernel, axes, n * len(axes.axes) >= COMPILED_FROM)
    columns = KernelColumns(kernel, witnesses, n * w >= COMPILED_FROM)
    roots = np.sqrt(axes.values)
    products: Floats = source.reduce(_Products(scores, columns), np.add) / roots
    apart = products - scores.of(witnesses) * roots  # v = scores / √λ, so λ v = scores · √λ
    if centered:  # K v less its mean over all rows; here over those that are known
        apart -= apart.mean(axis=0)
    return np.asarray(np.sqrt(n * np.einsum("ij,ij->j", apart, apart) / max(w - centered, 1)))


@dataclass(frozen=True)
class _Products:
    """Σ k(witness, x) · scores of x, over the rows of a block: (w, k)."""

    scores: Scores
    columns: KernelColumns

    def __call__(self, block: Block) -> Floats:
        total = np.zeros((len(self.columns.basis), len(self.scores.offset)))
        for rows, scores in self.scores.pieces(block):
            total += self.columns.of(rows).T @ scores
        return total
