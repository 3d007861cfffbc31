"""Compiled loops over the k × k systems of probabilistic PCA. Imported only where there are rows enough to pay for it.

Batched LAPACK spends most of its time on calls when k is small. Here four rows of a matrix are used at a time, so that
what is loaded is used four times, on four entries at a time, which is what vector units take: innermost loops are of
fixed length. At k = 32 that is faster than LAPACK's factorisation and inverse, at k = 10 much faster.
"""

from __future__ import annotations

import numba
import numpy as np

from lowdim.solvers.compiled_cholesky import ANY_ORDER, factor
from lowdim.types import Floats, Indices


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def look(X: Floats, mean: Floats, numbers: Floats, apart: Floats, seen: Floats, mark: Floats, squares: Floats) -> None:
    """Of rows X (n, p): what was observed (1, else 0) and its distance from the mean (else 0), the sum of the `numbers`
    (p,) of observed columns, and that of the squared distances."""
    for i in range(len(X)):
        total = square = 0.0
        for j in range(X.shape[1]):
            distance = X[i, j] - mean[j]
            here = 1.0 if distance == distance else 0.0
            distance = distance if distance == distance else 0.0
            apart[i, j] = distance
            seen[i, j] = here
            total += here * numbers[j]
            square += distance * distance
        mark[i], squares[i] = total, square


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def gather(seen: Floats, table: Floats, out: Floats) -> None:
    """out ← seen @ table for a matrix of zeros and ones (u, p), of which most are zeros."""
    places = np.empty(seen.shape[1] + 3, dtype=np.int64)
    width = table.shape[1]
    for u in range(len(seen)):
        count = 0
        for j in range(seen.shape[1]):
            if seen[u, j] != 0.0:
                places[count] = j
                count += 1
        out[u] = 0.0
        for m in range(0, count - 3, 4):
            a, b, c, d = places[m], places[m + 1], places[m + 2], places[m + 3]
            for t in range(width):
                out[u, t] += table[a, t] + table[b, t] + table[c, t] + table[d, t]
        for m in range(count // 4 * 4, count):
            for t in range(width):
                out[u, t] += table[places[m], t]


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def solve_patterns(
    M: Floats, noise: float, projected: Floats, order: Indices, starts: Indices, z: Floats, logdet: Floats
) -> None:
    """For A = M + noise I of every pattern: M ← noise A⁻¹, logdet ← log |A|, and z ← A⁻¹ projected for its rows.

    M is (u, k (k + 1) / 2), projected and z are (n, k), logdet (u,); `order` and `starts` tell the rows of a pattern.
    """
    k = projected.shape[1]
    size = (k + 3) // 4 * 4
    U, T, inverse = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    for u in range(len(M)):
        _unpack(M[u], k, noise, U)
        logdet[u] = factor(U)
        _invert(U, T)
        for place in range(starts[u], starts[u + 1]):
            row = order[place]
            _apply(T, projected[row], z[row])
        _square(T, inverse)
        _pack(inverse, k, noise, M[u])


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def add_moments(cov: Floats, z: Floats, weight: Floats, order: Indices, starts: Indices, out: Floats) -> None:
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
def _invert(U: Floats, T: Floats) -> None:
    """T = U⁻ᵀ, lower triangle; above it, T is zero within blocks of four and not used beyond."""
    for b in range(0, len(U), 4):
        for i in range(b, b + 4):
            for j in range(b + 4):
                T[i, j] = 0.0
        for m in range(0, b, 4):
            for i in range(b, b + 4):
                f0, f1, f2, f3 = U[m, i], U[m + 1, i], U[m + 2, i], U[m + 3, i]
                for j in range(0, m + 4, 4):
                    for lane in range(4):
                        c = j + lane
                        T[i, c] -= f0 * T[m, c] + f1 * T[m + 1, c] + f2 * T[m + 2, c] + f3 * T[m + 3, c]
        for i in range(b, b + 4):
            for m in range(b, i):
                f = U[m, i]
                for j in range(0, b + 4, 4):
                    for lane in range(4):
                        T[i, j + lane] -= f * T[m, j + lane]
            f = 1.0 / U[i, i]
            for j in range(0, b + 4, 4):
                for lane in range(4):
                    T[i, j + lane] *= f
            T[i, i] = f


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _apply(T: Floats, b: Floats, z: Floats) -> None:
    """z = TᵀT b."""
    k = len(b)
    z[:] = 0.0
    for j in range(k):
        total = 0.0
        for i in range(j + 1):
            total += T[j, i] * b[i]
        for i in range(j + 1):
            z[i] += T[j, i] * total


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _square(T: Floats, out: Floats) -> None:
    """out ← TᵀT, upper triangle."""
    size = len(T)
    for i in range(size):
        for j in range(i // 4 * 4, size):
            out[i, j] = 0.0
    for m in range(0, size, 4):
        for i in range(m + 4):
            f0, f1, f2, f3 = T[m, i], T[m + 1, i], T[m + 2, i], T[m + 3, i]
            for j in range(i // 4 * 4, m + 4, 4):
                for lane in range(4):
                    c = j + lane
                    out[i, c] += f0 * T[m, c] + f1 * T[m + 1, c] + f2 * T[m + 2, c] + f3 * T[m + 3, c]


@numba.njit(nogil=True, cache=True)
def _pack(whole: Floats, k: int, noise: float, triangle: Floats) -> None:
    """triangle ← noise times the upper triangle."""
    at = 0
    for i in range(k):
        for j in range(i, k):
            triangle[at + j - i] = noise * whole[i, j]
        at += k - i
