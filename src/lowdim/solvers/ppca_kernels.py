"""Compiled loops over the k × k systems of probabilistic PCA. Imported only where there are rows enough to pay for it.

Batched LAPACK spends most of its time on calls when k is small. Here four rows of a matrix are taken at a time, so that
what is loaded is used four times; at k = 32 that is as fast as LAPACK's factorisation, at k = 10 much faster.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

ANY_ORDER = {"reassoc", "contract", "nsz"}
"""Sums may be taken in another order, as vector units need it."""


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def solve_patterns(
    M: Floats, noise: float, projected: Floats, order: Places, starts: Places, z: Floats, logdet: Floats
) -> None:
    """For A = M + noise I of every pattern: M ← noise A⁻¹, logdet ← log |A|, and z ← A⁻¹ projected for its rows.

    M is (u, k (k + 1) / 2), projected and z are (n, k), logdet (u,); `order` and `starts` tell the rows of a pattern.
    """
    k = projected.shape[1]
    size = (k + 3) // 4 * 4
    U, V, line = np.zeros((size, size)), np.zeros((size, size)), np.empty(size)
    for u in range(len(M)):
        _unpack(M[u], k, noise, U)
        logdet[u] = _factor(U)
        _invert(U, V)
        for place in range(starts[u], starts[u + 1]):
            row = order[place]
            _apply(V, projected[row], z[row])
        _pack_square(V, k, noise, line, M[u])


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def add_moments(cov: Floats, z: Floats, weight: Floats, order: Places, starts: Places, out: Floats) -> None:
    """out[u] ← Σ weight E[(z, 1) (z, 1)ᵀ] over the rows of pattern u, as upper triangles (u, (k + 1) (k + 2) / 2)."""
    k = z.shape[1]
    for u in range(len(cov)):
        rows = 0.0
        out[u] = 0.0
        for place in range(starts[u], starts[u + 1]):
            row = order[place]
            rows += weight[row]
            at = 0
            for i in range(k):
                factor = weight[row] * z[row, i]
                for j in range(i, k):
                    out[u, at + j - i] += factor * z[row, j]
                at += k - i
                out[u, at] += factor
                at += 1
        at, from_cov = 0, 0
        for i in range(k):
            for j in range(i, k):
                out[u, at + j - i] += rows * cov[u, from_cov + j - i]
            at += k - i + 1
            from_cov += k - i
        out[u, at] = rows


@numba.njit(nogil=True, cache=True)
def _unpack(triangle: Floats, k: int, noise: float, U: Floats) -> None:
    """Upper triangle of A; filled up to a multiple of four with the identity."""
    at = 0
    for i in range(k):
        for j in range(i, k):
            U[i, j] = triangle[at + j - i]
        at += k - i
        for j in range(k, len(U)):
            U[i, j] = 0.0
        U[i, i] += noise
    for i in range(k, len(U)):
        for j in range(i, len(U)):
            U[i, j] = 0.0
        U[i, i] = 1.0


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _factor(U: Floats) -> float:
    """A = UᵀU in place (Cholesky), upper triangle only; gives log |A|."""
    size, half = len(U), 0.0
    for b in range(0, size, 4):
        for i in range(b, b + 4):
            for m in range(b, i):
                f = U[m, i]
                for j in range(i, size):
                    U[i, j] -= f * U[m, j]
            root = np.sqrt(U[i, i])
            half += np.log(root)
            f = 1.0 / root
            for j in range(i, size):
                U[i, j] *= f
        for i in range(b + 4, size):
            f0, f1, f2, f3 = U[b, i], U[b + 1, i], U[b + 2, i], U[b + 3, i]
            for j in range(i, size):
                U[i, j] -= f0 * U[b, j] + f1 * U[b + 1, j] + f2 * U[b + 2, j] + f3 * U[b + 3, j]
    return 2.0 * half


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _invert(U: Floats, V: Floats) -> None:
    """V = U⁻¹, upper triangle; below it V stays zero."""
    size = len(U)
    for b in range(size - 4, -1, -4):
        for i in range(b + 3, b - 1, -1):
            f = 1.0 / U[i, i]
            for j in range(i + 1, size):
                V[i, j] = 0.0
            for m in range(i + 1, b + 4):
                f0 = U[i, m]
                for j in range(m, size):
                    V[i, j] -= f0 * V[m, j]
            for m in range(b + 4, size, 4):
                f0, f1, f2, f3 = U[i, m], U[i, m + 1], U[i, m + 2], U[i, m + 3]
                for j in range(m, size):
                    V[i, j] -= f0 * V[m, j] + f1 * V[m + 1, j] + f2 * V[m + 2, j] + f3 * V[m + 3, j]
            for j in range(i + 1, size):
                V[i, j] *= f
            V[i, i] = f


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _apply(V: Floats, b: Floats, z: Floats) -> None:
    """z = V Vᵀ b."""
    k = len(b)
    z[:] = 0.0
    for j in range(k):
        total = 0.0
        for i in range(j + 1):
            total += V[i, j] * b[i]
        for i in range(j + 1):
            z[i] += V[i, j] * total


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _pack_square(V: Floats, k: int, noise: float, line: Floats, triangle: Floats) -> None:
    """triangle ← upper triangle of noise · V Vᵀ; `line` is room for a row."""
    size, at = len(V), 0
    for i in range(k):
        for b in range(i // 4 * 4, size, 4):
            s0 = s1 = s2 = s3 = 0.0
            for j in range(b, size):
                s0 += V[i, j] * V[b, j]
                s1 += V[i, j] * V[b + 1, j]
                s2 += V[i, j] * V[b + 2, j]
                s3 += V[i, j] * V[b + 3, j]
            line[b], line[b + 1], line[b + 2], line[b + 3] = s0, s1, s2, s3
        for j in range(i, k):
            triangle[at + j - i] = noise * line[j]
        at += k - i
