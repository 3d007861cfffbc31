"""Digits that squaring lost, restored.

A method that works with YᵀY loses the digits of singular values below √eps of the largest. Where that would show, the
wanted directions are multiplied with the data once more and the small triangle of that product is decomposed instead:
B = Y Vᵀ = QR, R = P S W, V ← W V, which has the accuracy of a singular value decomposition of Y on the span of V.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.solvers.solver import Factors, backward_error, complete, untrusted

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

GUARDS = 4
"""Random directions beside the wanted ones, which show how large the first eigenvalue left out is."""


def repaired_if_lost(matrix: RowBlocks, found: Factors, tol: float, rng: np.random.Generator) -> Factors:
    """The same factors, or better ones where rounding exceeds the tolerance and the rows can be read again."""
    lost = untrusted(found.values, found.rounding, tol, matrix.scaling.spacing, matrix.n_columns)
    return repaired(matrix, found, rng) if lost.any() and matrix.source.repeatable else found


def repaired(matrix: RowBlocks, found: Factors, rng: np.random.Generator) -> Factors:
    """The same directions with the digits that squaring lost, from the triangle of Y Vᵀ."""
    k, p = found.vectors.shape
    V, before = found.vectors, matrix.passes
    matrix.sharpen()
    better = k < p and isinstance(matrix, InMemory)
    if isinstance(matrix, InMemory) and better:
        most = min(p, max(k, matrix.moments.n_rows - 1))
        V = _better_span(matrix, complete(V, min(k + GUARDS, most), rng))
    _, sizes, turn = scipy.linalg.svd(matrix.triangle(V), full_matrices=False, check_finite=False)
    passes = matrix.passes - before
    V = complete((turn @ V)[:k], k, rng)
    sizes = np.concatenate([sizes, np.zeros(k + 1)])
    values, exact = sizes[:k] ** 2, backward_error(sizes[:k], p)
    following = float(sizes[k] ** 2) if better else found.following or 0.0
    tilt, seen = _outside(found, values, exact, following, better)
    gap = values - following
    turned = np.divide(tilt**2, gap, out=tilt.copy(), where=gap > tilt)  # Kato–Temple again
    noise = 10 * (found.tilt + EPS * np.sqrt(p) * values[0])
    return replace(
        found,
        values=values,
        vectors=V,
        rounding=np.where(seen, exact + turned, found.rounding),
        tilt=tilt,
        residuals=np.where(seen & (found.residuals <= noise), exact, found.residuals),
        following=following if k < p else None,
        notes=(*found.notes, f"digits lost by squaring were restored ({passes} more pass{'es' * (passes > 1)})"),
    )


def _outside(
    found: Factors, values: Floats, exact: Floats, following: float, better: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    """What is left of the error that turned the span away from the true one, and which components are in it at all."""
    k, p = found.vectors.shape
    if k == p:
        return exact, np.full(k, True)
    if not better:  # directions that YᵀY could not tell from those left out are not in the span
        seen = values - following > 10 * found.tilt
        return np.where(seen, np.maximum(exact, found.tilt), found.tilt), seen
    gap = np.maximum(values - following, 0.0)
    shrink = np.divide(following, values, out=np.ones(k), where=values > following)
    return np.maximum(exact, np.minimum(found.tilt, gap) * shrink), np.full(k, True)


def _better_span(matrix: InMemory, V: Floats) -> Floats:
    """Orthonormal rows of V Yᵀ Y, going through orthonormal columns of Y Vᵀ so that nothing is squared.

    Below √eps σ₁ the eigenvectors of YᵀY are mixed with those of other small eigenvalues; Y takes what has none away.
    """
    left = scipy.linalg.qr(matrix.times(V), mode="economic", overwrite_a=True, check_finite=False)[0]
    rows = matrix.transpose_times(np.ascontiguousarray(left.T))
    span = scipy.linalg.qr(rows.T, mode="economic", overwrite_a=True, check_finite=False)[0]
    return np.ascontiguousarray(span.T)
