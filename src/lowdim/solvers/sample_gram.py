"""The n × n matrix Y Yᵀ for data with fewer rows than columns, then V = Yᵀ U / σ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.columns import SPAN_BYTES
from lowdim.matrices.matrix import InMemory
from lowdim.matrices.rounding import Rounding
from lowdim.solvers.covariance import leading_pairs
from lowdim.solvers.keep import Keep
from lowdim.solvers.solver import Factors, Solver, complete

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

GRADED = 16.0
"""Ratio of singular values from which V = Yᵀ U / σ would no longer be orthonormal to rounding."""


@final
@dataclass(frozen=True)
class SampleGram(Solver):
    """Gram matrix of the rows, by blocks of columns."""

    directly: bool = False
    """Go to LAPACK at once: an iteration has been tried, and needed too many vectors."""
    name = "sample Gram"
    needs = InMemory

    def solve(self, matrix: InMemory, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""
        G = matrix.sample_gram()
        keep = keep.for_rows(matrix.moments.n_rows, matrix.moments.weight)
        p = matrix.n_columns
        rounding = Rounding.of_entries(2 * EPS, G.diagonal())
        found = leading_pairs(G, rounding, keep, tol, rng, min(len(G), p), self.directly)
        spectrum = None if found.spectrum is None else found.spectrum[: min(len(G), p)]
        sizes = np.sqrt(found.values)
        found = replace(found, spectrum=spectrum)
        if sizes[0] == 0:
            return replace(found, vectors=complete(np.zeros((0, p)), len(sizes), rng))
        if sizes[0] > GRADED * sizes[-1]:  # orthogonalised from the largest on, small rows lose what large ones left
            rows = matrix.transpose_times(found.vectors)
            return replace(found, vectors=np.ascontiguousarray(scipy.linalg.qr(rows.T, mode="economic")[0].T))
        # U's error ρ / gap becomes σ₁ / σ_k times larger in V = Yᵀ U / σ_k
        growth = sizes[0] / sizes
        return replace(
            found,
            vectors=matrix.transpose_times(found.vectors / sizes[:, None]),
            residuals=found.residuals * growth,
            tilt=found.tilt * growth,
        )

    def seconds(self, n: int, p: int, k: int) -> float:
        """n² p flops at the speed of SYRK, the eigenvectors, and k products with the data."""
        return n * n * p / 60e9 + 1.1e-10 * n**3 + 2.0 * n * p * k / 60e9

    def memory(self, n: int, p: int, k: int) -> int:
        """The Gram matrix a few times over, and spans of columns."""
        return int(8 * n * n * 5 + 3 * min(8 * n * p, SPAN_BYTES))

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return "2 passes (means and Gram matrix, components)"
