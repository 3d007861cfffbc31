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
from lowdim.solvers.solver import Factors, Solver, backward_error, complete, untrusted

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)


@final
@dataclass(frozen=True)
class SampleGram(Solver):
    """Gram matrix of the rows, by blocks of columns."""

    name = "sample Gram"
    needs = InMemory

    def solve(self, matrix: InMemory, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""
        G = matrix.sample_gram()
        p = matrix.n_columns
        rounding = Rounding.of_entries(2 * EPS, G.diagonal())
        found = leading_pairs(G, rounding, keep, tol, rng, most=min(len(G), p))
        spectrum = None if found.spectrum is None else found.spectrum[: min(len(G), p)]
        sizes = np.sqrt(found.values)
        real = sizes > 8 * EPS * max(G.shape) ** 0.5 * sizes[0] if len(sizes) else sizes > 0
        rows = matrix.transpose_times(np.ascontiguousarray(found.vectors[real]))
        # U's error ρ / gap becomes σ₁ / σ_k times larger in V = Yᵀ U / σ_k
        growth = np.where(real, sizes[0] / np.where(real, sizes, 1.0), 1.0)
        found = replace(found, spectrum=spectrum, residuals=found.residuals * growth, tilt=found.tilt * growth)
        if untrusted(found.values, found.rounding, tol, matrix.scaling.spacing, p).any():
            return _repaired(found, rows, rng)
        vectors = rows / sizes[real][:, None]
        return replace(found, vectors=complete(vectors, len(sizes), rng))

    def seconds(self, n: int, p: int, k: int) -> float:
        """n² p flops at the speed of SYRK, the eigenvectors, and k products with the data."""
        return n * n * p / 60e9 + 1.1e-10 * n**3 + 2.0 * n * p * k / 60e9

    def memory(self, n: int, p: int, k: int) -> int:
        """The Gram matrix a few times over, and spans of columns."""
        return int(8 * n * n * 5 + 3 * min(8 * n * p, SPAN_BYTES))

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return "3 passes (means, Gram matrix, components)"


def _repaired(found: Factors, rows: Floats, rng: np.random.Generator) -> Factors:
    """Directions and sizes from a decomposition of Uᵀ Y itself, where squaring lost digits."""
    k = len(found.values)
    Q, R = scipy.linalg.qr(rows.T, mode="economic", check_finite=False)
    turn, sizes, _ = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
    vectors = complete((Q @ turn).T, k, rng)
    sizes = np.concatenate([sizes, np.zeros(k - len(sizes))])
    exact = backward_error(sizes, rows.shape[1])
    return replace(
        found,
        values=sizes**2,
        vectors=vectors,
        residuals=np.minimum(found.residuals, exact),
        rounding=np.minimum(found.rounding, exact),
        tilt=np.minimum(found.tilt, exact),
        notes=(*found.notes, "digits lost by squaring were restored from a decomposition of Uᵀ Y"),
    )
