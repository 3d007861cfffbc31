"""Digits that squaring lost, restored.

A method that works with YᵀY loses the digits of singular values below √eps of the largest. Where that would show, the
wanted directions are multiplied with the data once more, and the small factors of that product are decomposed instead.
How large the first eigenvalue left out is stays what the method said of it, with its error: no few directions can tell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.results.certificate import Accuracy
from lowdim.solvers.decomposition import svd_error
from lowdim.solvers.solver import Factors, complete, growth_of_last, untrusted

Floats = NDArray[np.float64]

GUARDS = 4
"""Random directions beside the wanted ones: what rounding mixed into those is told apart by them."""


def repaired_if_lost(matrix: RowBlocks, found: Factors, asked: Accuracy, rng: np.random.Generator) -> Factors:
    """The same factors, or better ones where rounding exceeds the tolerance and the rows can be read again.

    Where no accuracy was named, what rounding usually does decides: reading the rows again for what it could have done
    at the worst would take most fits twice as long. Where one was named, the bound decides.
    """
    error = np.minimum(found.rounding, matrix.rounding.value) if asked.of_total else found.rounding
    lost = untrusted(found.values, error, asked.relative * found.values, matrix.n_columns)
    if not lost.any():
        return found
    return repaired(matrix, found, rng) if matrix.source.repeatable else replace(found, lost=lost)


def repaired(matrix: RowBlocks, found: Factors, rng: np.random.Generator) -> Factors:
    """The same directions with the digits that squaring lost."""
    k, p = found.vectors.shape
    before = matrix.passes
    if isinstance(matrix, InMemory) and k < p:
        better = _on_both_sides(matrix, found, rng)
    else:
        better = _on_the_span(matrix, found, rng)
    passes = matrix.passes - before
    note = f"digits lost by squaring were restored ({passes} more pass{'es' * (passes > 1)})"
    return replace(better, growth=growth_of_last(np.sqrt(better.values), p), notes=(*found.notes, note))


def _on_the_span(matrix: RowBlocks, found: Factors, rng: np.random.Generator) -> Factors:
    """Singular values of Y Vᵀ, by its triangle: the span stays as it is, and what turned it away is still there."""
    k, p = found.vectors.shape
    _, sizes, turn = scipy.linalg.svd(matrix.triangle(found.vectors), full_matrices=False, check_finite=False)
    sizes = np.concatenate([sizes, np.zeros(k)])[:k]
    exact = svd_error(matrix, sizes, p)
    values, vectors = sizes**2, complete(turn @ found.vectors, k, rng)
    if k == p:
        return replace(found, values=values, vectors=vectors, rounding=exact, tilt=exact, residuals=exact)
    turned = np.zeros((k, k))
    turned[: len(turn)] = np.abs(turn)
    outside = turned @ (found.residuals + found.tilt) * float(np.max(found.growth))
    return replace(found, values=values, vectors=vectors, rounding=exact, tilt=exact, residuals=outside)


def _on_both_sides(matrix: InMemory, found: Factors, rng: np.random.Generator) -> Factors:
    """Singular values and vectors of Y by a step of subspace iteration that squares nothing.

    Y Vᵀ = U R, Z = Uᵀ Y = P S V, and then ρ = ‖Y v − σ u‖ is measured: beside Yᵀ u = σ v it is the residual of the pair
    (u, v), of which σ errs by at most ρ. In terms of σ² that is 2 σ ρ; twice that leaves room for neighbours above.
    """
    k, p = found.vectors.shape
    most = min(p, max(k, matrix.moments.n_rows - 1))
    U = _orthonormal_columns(matrix.times(complete(found.vectors, min(k + GUARDS, most), rng)))
    left, sizes, V = scipy.linalg.svd(
        matrix.transpose_times(np.ascontiguousarray(U.T)), full_matrices=False, check_finite=False
    )
    sizes, V, U = sizes[:k], np.ascontiguousarray(V[:k]), U @ left[:, :k]
    apart = np.linalg.norm(matrix.times(V) - U * sizes, axis=0)
    exact = svd_error(matrix, sizes, p)
    return replace(
        found,
        values=sizes**2,
        vectors=complete(V, k, rng),
        rounding=exact,
        tilt=exact,
        residuals=4 * sizes * apart + exact,
    )


def _orthonormal_columns(rows: Floats) -> Floats:
    Q: Floats = scipy.linalg.qr(rows, mode="economic", overwrite_a=True, check_finite=False)[0]
    return Q
