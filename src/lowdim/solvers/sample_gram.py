"""The n × n matrix Y Yᵀ for data with fewer rows than columns, then V = Yᵀ U / σ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import scipy

from lowdim.matrices.matrix import InMemory
from lowdim.matrices.moments import EXTRA_ROUNDINGS
from lowdim.matrices.products import SPAN_BYTES, span_width
from lowdim.matrices.rounding import UNIT_ROUNDOFF, Rounding
from lowdim.solvers.covariance import find_leading_pairs
from lowdim.solvers.keep import Keep
from lowdim.solvers.solver import Factors, Solver, complete_basis
from lowdim.types import Floats


def bound_gram_error(matrix: InMemory, G: Floats) -> Floats:
    """(n,) e with errors of Y Yᵀ of at most √(e_i e_j): of its sums, and of the mean that every row has less.

    A mean that is off by δ changes y_i · y_j by δ · y_i + δ · y_j + δ², where |δ · y_i| ≤ ‖δ‖ ‖y_i‖.
    """
    n, p = len(G), matrix.n_columns
    lengths = np.maximum(G.diagonal(), 0.0)
    width = span_width(n, p)
    sums = (width + -(-p // width) + EXTRA_ROUNDINGS) * UNIT_ROUNDOFF * lengths
    shift = float(np.sqrt(matrix.left_of_mean.sum() / matrix.moments.weight * matrix.heaviest))
    longest = float(np.sqrt(lengths.max(initial=0.0)))
    if shift == 0 or longest == 0:
        return sums
    share = np.sqrt(shift / longest)
    means: Floats = (np.sqrt(lengths) * share + shift / share) ** 2
    return sums + means


MAX_ORTHONORMAL_RATIO = 16.0
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
        rounding = Rounding.within(
            bound_gram_error(matrix, G), G.diagonal(), matrix.scaling.scale_error(matrix.moments)
        )
        found = find_leading_pairs(G, rounding, keep, tol, rng, min(len(G), p), self.directly)
        spectrum = None if found.spectrum is None else found.spectrum[: min(len(G), p)]
        sizes = np.sqrt(found.values)
        found = replace(found, spectrum=spectrum)
        if sizes[0] == 0:
            return replace(found, vectors=complete_basis(np.zeros((0, p)), len(sizes), rng))
        # U's error ρ / gap becomes σ₁ / σ_k times larger in V = Yᵀ U / σ_k
        found = replace(found, growth=np.divide(sizes[0], sizes, out=np.ones(len(sizes)), where=sizes > 0))
        if (
            sizes[0] > MAX_ORTHONORMAL_RATIO * sizes[-1]
        ):  # orthogonalised from the largest on, small rows lose what large ones left
            rows = matrix.transpose_times(found.vectors)
            return replace(found, vectors=np.ascontiguousarray(scipy.linalg.qr(rows.T, mode="economic")[0].T))
        return replace(found, vectors=matrix.transpose_times(found.vectors / sizes[:, None]))

    def seconds(self, n: int, p: int, k: int) -> float:
        """n² p flops at the speed of SYRK, the eigenvectors, and k products with the data."""
        return n * n * p / 60e9 + (0.6e-10 if 8 * k < n else 1.1e-10) * n**3 + 2.0 * n * p * k / 60e9

    def memory(self, n: int, p: int, k: int) -> int:
        """The Gram matrix a few times over, and spans of columns."""
        return int(8 * n * n * 5 + 3 * min(8 * n * p, SPAN_BYTES))

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return "2 passes (means and Gram matrix, components)"
